package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Run is one training of one objective from one seed. Curves have one entry per
// step, measured at the centres and the temperature with which the step began,
// and a last entry for the final centres. A baseline's have fewer: Gamma, Measures
// and Path of its best run have an entry every so many steps, of its others only
// the last. At tells the steps of these.
type Run struct {
	Seed     uint64
	Steps    int
	At       []int // the steps of Gamma, Measures and Path, the last of which is Steps
	Gamma    []float64
	Measures []Measure
	Loss     []float64   // the objective's own, where it is not one of the two measured
	Movement []float64   // √Σ_j ‖r_j(t+1) − r_j(t)‖², one entry per step
	Path     [][]float64 // centres, row-major [k d]
	Assigned []int       // nearest final centre of every point
	Groups   int         // of points, by Assigned, centres nearer than a hundredth of the data's [Scale] being one
	ARI      float64     // of Assigned with the labels; NaN without labels
	Rest     Convergence // how nearly it came to rest
	// Diverged is the step, from 1, at which training ended because its loss was not finite;
	// 0 if there was none. The inertia is infinite then, and what else depends on the end is NaN.
	Diverged int

	slack float64 // what inertias differ by where centres moved by no more than AtRest
}

// Final is the last measure.
func (r Run) Final() Measure {
	if len(r.Measures) == 0 {
		return Measure{}
	}
	return r.Measures[len(r.Measures)-1]
}

// Inertia is the hard assignment's at the end.
func (r Run) Inertia() float64 { return r.Final().Inertia }

// Centres are the final ones, row-major [k d].
func (r Run) Centres() []float64 {
	if len(r.Path) == 0 {
		return nil
	}
	return r.Path[len(r.Path)-1]
}

// trainer trains one objective from different starts on one program.
type trainer struct {
	c     Config
	k     int
	model *builders.Model
	prog  *tape.Program
	step  graph.Step
	x     *tensor.Dense // of the configured type, all rows
	probe *probe
	rest  *Settling
}

func newTrainer(ctx context.Context, c Config, name string, k int) (*trainer, error) {
	n, d := c.Table.Rows(), len(c.Table.Columns)
	t := &trainer{c: c, k: k}
	m, err := c.build(name, k, c.DType)
	if err != nil {
		return nil, err
	}
	t.model, t.step = m, m.Step
	if len(t.step) == 0 {
		t.step = c.Optimiser.Minimize(m.Loss, m.KMeans.Centres)
	}
	if t.prog, err = tape.CompileContext(ctx, m.Graph, tape.Do(t.step), tape.CheckFinite(m.Loss)); err != nil {
		return nil, err
	}
	if t.x, err = c.Table.Dense(dtype(c.DType)); err != nil {
		return nil, err
	}
	x64, err := c.Table.Dense(tensor.Float64)
	if err != nil {
		return nil, err
	}
	if t.probe, err = newProbe(ctx, x64, n, d, k); err != nil {
		return nil, err
	}
	var moved []*graph.Node // by the gradient of the loss; a step of the model's own rests where it rests
	if len(m.Step) == 0 {
		moved = []*graph.Node{m.KMeans.Centres}
	}
	if t.rest, err = newSettling(ctx, m.Loss, moved); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *trainer) close() { t.probe.vm.Close() }

func dtype(dt graph.DType) tensor.Dtype {
	if dt == graph.F32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// run trains from the start centres of a seed and measures every so many steps
// and the end, with every = 0 only the end.
func (t *trainer) run(ctx context.Context, seed uint64, gamma train.Schedule, steps, every int) (Run, error) {
	return t.from(ctx, t.c.start(t.k, seed), seed, gamma, steps, every)
}

func (t *trainer) from(ctx context.Context, start []float64, seed uint64, gamma train.Schedule, steps, every int) (Run, error) {
	d := len(t.c.Table.Columns)
	store, err := t.store(start, seed)
	if err != nil {
		return Run{}, err
	}
	vm, err := t.engine(ctx, store)
	if err != nil {
		return Run{}, err
	}
	defer vm.Close()
	scale := Scale(t.c.Table)
	r := Run{Seed: seed, ARI: math.NaN(), slack: AtRest * AtRest * scale * scale * float64(t.c.Table.Rows())}
	now, begin, far := slices.Clone(start), slices.Clone(start), 0.0 // of the last tenth of the steps
	measure := func(step int, γ float64) error {
		m, err := t.probe.at(ctx, now, γ)
		r.At = append(r.At, step)
		r.Gamma = append(r.Gamma, γ)
		r.Measures = append(r.Measures, m)
		r.Path = append(r.Path, slices.Clone(now))
		return err
	}
	hard := t.model.KMeans.Gamma == nil
	γ := func(step int) float64 { return gamma.At(step, steps) }
	if hard {
		last := gamma.At(steps-1, steps)
		γ = func(int) float64 { return last }
	}
	feed := tape.Feed{t.model.KMeans.Points: t.x}
	batches := newBatches(t.c.Table.Rows(), d, t.model.KMeans.Points.Dim(0), seed)
	loop := train.Loop{VM: vm, Steps: steps,
		Feed: func(step int) (tape.Feed, error) {
			if every > 0 && step%every == 0 {
				if err := measure(step, γ(step)); err != nil {
					return nil, err
				}
			}
			if b := t.model.KMeans.Points.Dim(0); b < t.c.Table.Rows() {
				feed[t.model.KMeans.Points] = batches.at(step, t.x)
			}
			return feed, nil
		},
		After: func(step int) (bool, error) {
			if t.c.Stepped != nil {
				t.c.Stepped(step+1, steps, t.model.Builder.Name)
			}
			loss, err := vm.Float(t.model.Loss)
			if err != nil {
				return true, err
			}
			r.Loss = append(r.Loss, loss)
			e, err := store.Get(t.model.KMeans.Centres.Path())
			if err != nil {
				return true, err
			}
			moved := 0.0
			for i, v := range float64s(e) {
				moved += (v - now[i]) * (v - now[i])
				now[i] = v
			}
			r.Movement = append(r.Movement, math.Sqrt(moved))
			switch last := steps - lastTenth(steps); {
			case step == last-1:
				copy(begin, now)
			case step >= last:
				far = max(far, math.Sqrt(sqDist(begin, now)))
			}
			return len(t.model.Step) > 0 && moved == 0, nil // Lloyd's algorithm has converged
		},
	}
	loop.Scheduled = falls(t.model.Graph, t.c.Optimiser, t.c.Rate, steps)
	if !hard {
		if loop.Scheduled == nil {
			loop.Scheduled = map[*graph.Node]train.Schedule{}
		}
		loop.Scheduled[t.model.KMeans.Gamma] = gamma
	}
	var bad *tape.NotFinite
	if r.Steps, err = loop.Run(ctx); t.c.goesOn && errors.As(err, &bad) {
		r.Diverged = len(r.Loss) + 1
	} else if err != nil {
		return r, fmt.Errorf("%s, seed %d, step %d: %w", t.model.Builder.Name, seed, r.Steps, err)
	}
	if err := measure(r.Steps, γ(steps-1)); err != nil {
		return r, err
	}
	if r.Assigned, err = t.probe.assigned(); err != nil {
		return r, err
	}
	r.Groups = groups(r.Assigned, Coinciding(r.Centres(), t.k, scale))
	if r.Diverged > 0 {
		r.Rest, r.Measures[len(r.Measures)-1] = unsettled, Measure{Inertia: math.Inf(1), Soft: math.NaN(), Goofy: math.NaN(), Spread: math.NaN(), Angle: math.NaN()}
		return r, nil
	}
	if r.Rest, err = t.settled(ctx, r, far, store, gamma, steps); err != nil {
		return r, err
	}
	if len(t.c.Table.Labels) > 0 {
		codes, _ := data.Codes(t.c.Table.Labels)
		if r.ARI, err = data.ARI(codes, r.Assigned); err != nil {
			return r, err
		}
	}
	return r, nil
}

// settled is how nearly a run came to rest that left its centres in the store, and went far
// in the last tenth of its steps.
func (t *trainer) settled(ctx context.Context, r Run, far float64, final *tape.Store, gamma train.Schedule, steps int) (Convergence, error) {
	size := math.Sqrt(float64(t.k)) * Scale(t.c.Table)
	c := Convergence{Moved: share(far, size)}
	feeds := t.rows()
	if γ := t.model.KMeans.Gamma; γ != nil {
		c.Changing = changes(gamma, steps)
		feeds = feeds.with(tape.Feed{γ: tape.Scalar(γ.DType(), gamma.At(steps-1, steps))})
	}
	norm, err := t.rest.gradient(ctx, final, r.Seed, feeds)
	c.Slope = share(norm*size, largest(r.Loss))
	return c, err
}

// rows feeds every row of the table equally often: at once, or in batches.
func (t *trainer) rows() Feeds {
	x := t.model.KMeans.Points
	n, size := t.c.Table.Rows(), x.Dim(0)
	if size == n {
		return Feeds{func() (tape.Feed, error) { return tape.Feed{x: t.x}, nil }}
	}
	var feeds Feeds
	batches := newBatches(n, len(t.c.Table.Columns), size, 0)
	for step := range n / gcd(n, size) {
		feeds = append(feeds, func() (tape.Feed, error) { return tape.Feed{x: batches.at(step, t.x)}, nil })
	}
	return feeds
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// store is what training from the start centres begins with.
func (t *trainer) store(start []float64, seed uint64) (*tape.Store, error) {
	store := tape.NewStore(t.model.Graph, tape.Seed(seed))
	v := graph.Value{Type: t.model.KMeans.Centres.Type(), Data: start}
	return store, store.Set(t.model.KMeans.Centres.Path(), tape.Tensor(v))
}

func (t *trainer) engine(ctx context.Context, store *tape.Store) (Engine, error) {
	if t.c.Engine != nil {
		return t.c.Engine(ctx, t.model.Graph, t.model.Loss, t.step, store)
	}
	return t.prog.NewVM(store)
}

func float64s(t *tensor.Dense) []float64 {
	if t.Dtype() == tensor.Float64 {
		return t.Float64s()
	}
	out := make([]float64, 0, t.Len())
	for _, v := range t.Float32s() {
		out = append(out, float64(v))
	}
	return out
}

// batches gives mini-batches in an order that depends on the seed alone, so that
// objectives with the same seed see the same points.
type batches struct {
	n, d, size int
	seed       uint64
	epoch      int // of the order
	order      []int
	out        *tensor.Dense
}

func newBatches(n, d, size int, seed uint64) *batches {
	return &batches{n: n, d: d, size: size, seed: seed}
}

// at gives the batch of a step, which the next call overwrites. The rows of one epoch
// follow those of the one before without a gap.
func (b *batches) at(step int, x *tensor.Dense) *tensor.Dense {
	if b.out == nil {
		b.out = tensor.New(tensor.WithShape(b.size, b.d), tensor.Of(x.Dtype()))
	}
	for i := range b.size {
		row := step*b.size + i
		if epoch := row / b.n; b.order == nil || epoch != b.epoch {
			b.epoch, b.order = epoch, data.Order(b.seed, epoch, b.n)
		}
		k := b.order[row%b.n]
		if x.Dtype() == tensor.Float64 {
			copy(b.out.Float64s()[i*b.d:(i+1)*b.d], x.Float64s()[k*b.d:])
		} else {
			copy(b.out.Float32s()[i*b.d:(i+1)*b.d], x.Float32s()[k*b.d:])
		}
	}
	return b.out
}
