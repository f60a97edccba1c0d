package lab

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// ClusterRun is one training of one objective from one seed. Gamma, Measures and Path have an entry
// for each step, at the centres and the γ that the step begins with, and a last one for
// the final centres. Those of baselines and of [Config.Lloyd] are shorter: the best run has entries
// every so many steps, and the others only the last.
type ClusterRun struct {
	Seed     uint64
	Steps    int
	At       []int       // the steps that Gamma, Measures and Path are of; the last is Steps
	Gamma    []float64   // the inverse temperature γ
	Measures []Measure   // of the centres
	Path     [][]float64 // the centres, row-major [k d]
	Loss     []float64   // the objective's own, of each step before its update
	Movement []float64   // √Σ_j ‖r_j(t+1) − r_j(t)‖² of each step
	Assigned []int       // the nearest final centre of each row
	Groups   int         // number of groups in Assigned, where centres that are [Coinciding] are one
	ARI      float64     // adjusted Rand index of Assigned with the labels; NaN without labels
	Rest     Convergence // how nearly the training came to rest
	// Diverged is the step, from 1, at which training ended because the loss was not finite; 0 if it
	// did not. The final inertia is then infinite, and the other final measures and ARI are NaN.
	Diverged int

	slack float64 // by how much inertias differ if centres move by no more than AtRest
}

// lastLoss returns the loss of the last step, which is infinite for a run that diverged.
func (r ClusterRun) lastLoss() float64 {
	if r.Diverged > 0 {
		return math.Inf(1)
	}
	return r.Loss[len(r.Loss)-1]
}

// Final returns the measures of the final centres.
func (r ClusterRun) Final() Measure {
	if len(r.Measures) == 0 {
		return Measure{}
	}
	return r.Measures[len(r.Measures)-1]
}

// Inertia returns the inertia of the final centres.
func (r ClusterRun) Inertia() float64 { return r.Final().Inertia }

// Centres returns the final centres, row-major [k d].
func (r ClusterRun) Centres() []float64 {
	if len(r.Path) == 0 {
		return nil
	}
	return r.Path[len(r.Path)-1]
}

// clusterer trains one clustering from different starts with one program, and measures its centres.
type clusterer struct {
	*trainer
	c     Config
	k     int
	r, γ  *graph.Node // centres, and temperature or nil
	x     rowFeeder
	probe *probe
}

// newClusterer builds the named clustering with k centres and compiles its programs.
func newClusterer(ctx context.Context, c Config, name string, k int) (*clusterer, error) {
	m, err := c.build(name, k, c.DType)
	if err != nil {
		return nil, err
	}
	if c, err = c.For(m); err != nil {
		return nil, err
	}
	t := &clusterer{c: c, k: k, r: m.Centres(), γ: m.Gamma()}
	if t.trainer, err = newTrainer(ctx, name, m, c.Optimisers[0], ways{c.nets(name, k), c.Engine, c.Ranks, c.CheckUpdates, c.Mixed}); err != nil {
		return nil, err
	}
	rows, err := c.Table.Dense(dtype(c.DType))
	if err != nil {
		return nil, err
	}
	t.x = rowFeeder{m: m, table: c.Table, reads: reading{rows: []*graph.Node{m.Points()}, n: m.Points().Dim(0)}, rows: rows}
	x64, err := c.Table.Dense(tensor.Float64)
	if err != nil {
		return nil, err
	}
	t.probe, err = newProbe(ctx, x64, c.Table.Rows(), len(c.Table.Columns), k)
	return t, err
}

func (t *clusterer) close() { t.probe.vm.Close() }

// dtype returns the element type of tensors for a type of nodes.
func dtype(dt graph.DType) tensor.Dtype {
	if dt == graph.F32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// run trains from the start centres of a seed. It measures the centres every so many steps and at
// the end, or with every = 0 only at the end.
func (t *clusterer) run(ctx context.Context, seed uint64, gamma train.Schedule, steps, every int) (ClusterRun, error) {
	start := t.c.start(t.k, seed)
	store, err := t.store(start, seed)
	if err != nil {
		return ClusterRun{}, err
	}
	scale := Scale(t.c.Table)
	r := ClusterRun{Seed: seed, ARI: math.NaN(), slack: AtRest * AtRest * scale * scale * float64(t.c.Table.Rows())}
	o := &centreObserver{ctx: ctx, t: t, run: &r, store: store, now: slices.Clone(start), every: every, gamma: func(step int) float64 { return gamma.At(step, steps) }}
	c := course{
		seed: seed, store: store, steps: steps, source: t.x.source(seed), settled: t.x.settled(seed),
		rate: t.c.rate(t.model.Graph, t.c.Optimisers[0], steps), size: sizeOf(t.k, t.c.Table),
		observers: append(stepped(t.c.Stepped, t.model.Builder.Name), o), plan: t.c.Plan, goesOn: t.c.goesOn,
	}
	if γ := t.γ; γ != nil {
		c.scheduled = map[string]train.Schedule{γ.Path(): gamma}
		c.settled = c.settled.with(tape.Feed{γ: tape.Scalar(γ.DType(), gamma.At(steps-1, steps))})
	} else {
		last := gamma.At(steps-1, steps)
		o.gamma = func(int) float64 { return last }
	}
	if every > 0 && steps > 0 {
		if err := o.measure(0); err != nil {
			return r, err
		}
	}
	h, err := t.trainer.run(ctx, c)
	r.Loss, r.Rest, r.Steps = h.Loss, h.Rest, int(store.Step())
	if t.c.goesOn && errors.As(err, new(*tape.NotFinite)) {
		r.Diverged = len(r.Loss) + 1
	} else if err != nil {
		return r, located(t.name, h, err)
	}
	if err := o.read(); err != nil { // patience may have gone back
		return r, err
	}
	last := o.gamma(steps - 1)
	o.gamma = func(int) float64 { return last }
	if err := o.measure(r.Steps); err != nil {
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
	if o.still {
		r.Rest.Moved = 0 // it ended because nothing moves
	}
	r.Rest.Changing = t.γ != nil && changes(gamma, steps)
	if len(t.c.Table.Labels) > 0 {
		codes, _ := data.Codes(t.c.Table.Labels)
		if r.ARI, err = metric.AdjustedRand(codes, r.Assigned); err != nil {
			return r, err
		}
	}
	return r, nil
}

// centreObserver measures the centres during a training, and ends it when the model's own step
// moves none.
type centreObserver struct {
	ctx   context.Context
	t     *clusterer
	run   *ClusterRun
	store *tape.Store
	now   []float64              // the centres
	every int                    // steps from one measurement to the next; 0 for none
	gamma func(step int) float64 // the temperature that a step begins with
	still bool                   // the last step moved nothing
}

// Observe notes how far a step moved the centres.
func (o *centreObserver) Observe(e train.Event) error {
	begun := e.Kind == train.Begun && e.Path != "" // at a checkpoint
	if e.Kind != train.Stepped && !begun {
		return nil
	}
	if begun {
		return o.read()
	}
	now, err := o.store.Get(o.t.r.Path())
	if err != nil {
		return err
	}
	moved := 0.0
	for i, v := range float64s(now) {
		moved += (v - o.now[i]) * (v - o.now[i])
		o.now[i] = v
	}
	o.run.Movement = append(o.run.Movement, math.Sqrt(moved))
	if o.still = len(o.t.model.Step) > 0 && moved == 0; o.still {
		return train.ErrStop
	}
	if o.every > 0 && e.Step%o.every == 0 && e.Step < e.Steps {
		return o.measure(e.Step)
	}
	return nil
}

// read takes the centres from the store.
func (o *centreObserver) read() error {
	now, err := o.store.Get(o.t.r.Path())
	if err == nil {
		copy(o.now, float64s(now))
	}
	return err
}

// measure measures the centres that a step begins with.
func (o *centreObserver) measure(step int) error {
	γ := o.gamma(step)
	m, err := o.t.probe.at(o.ctx, o.now, γ)
	r := o.run
	r.At = append(r.At, step)
	r.Gamma = append(r.Gamma, γ)
	r.Measures = append(r.Measures, m)
	r.Path = append(r.Path, slices.Clone(o.now))
	return err
}

// store returns a store with the start centres.
func (t *clusterer) store(start []float64, seed uint64) (*tape.Store, error) {
	store := tape.NewStore(t.model.Graph, tape.Seed(seed))
	v := graph.Value{Type: t.r.Type(), Data: start}
	return store, store.Set(t.r.Path(), tape.Tensor(v))
}

// float64s returns the elements of a tensor as float64; those of a float64 tensor are not copied.
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
