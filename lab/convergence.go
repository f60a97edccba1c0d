package lab

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// AtRest is the largest movement and the largest slope of a training that has converged; see
// [Convergence].
const AtRest = 1e-3

// ConvergenceTest returns the test of [Convergence] in words, in lines for a terminal: for the
// centres of clusterings, or for other models.
func ConvergenceTest(centres bool) string {
	size := "the norm of the parameters"
	if centres {
		size = "√k times the scale of the data"
	}
	return "A run has converged if in the last tenth of its steps what is trained stays within 0.1 % of\n" +
		"its size of where it was before them, while no schedule changes the loss, and if at the end\n" +
		"the gradient of the loss, times that size, is at most 0.1 % of the largest loss of the run.\n" +
		"The size is " + size + "."
}

// Convergence says how nearly a training had come to rest when it ended, and so whether its numbers
// are those of the objective or only those of the step at which it was stopped. Movement and slope
// are relative to a size: the norm of the parameters or, for k centres of a clustering, √k times
// the [Scale] of the data, which does not depend on where the origin lies.
type Convergence struct {
	// Moved is the largest distance, in the last tenth of the steps, of the parameters from where they
	// were before it, divided by the size. It is small anywhere if the rate falls. It is NaN if the
	// last tenth was not observed as a whole, and infinite for a training that diverged.
	Moved float64
	// Slope is the norm of the gradient at the end times the size, divided by the largest loss of the
	// training: roughly the relative change of the loss if the parameters moved by their size. The
	// gradient is taken on the rows or the one batch of the training or, where examples are fresh in
	// every step, on batches that it has not seen. Slope is 0 for a model that moves by a step of its
	// own, as in Lloyd's algorithm.
	Slope float64
	// Changing reports whether a schedule of an input, such as γ, still changed the loss in the last
	// tenth of the steps.
	Changing bool
}

// Converged reports whether the training came to rest: Moved and Slope are at most [AtRest],
// neither is NaN, and no schedule changed the loss.
func (c Convergence) Converged() bool {
	return !c.Changing && c.Moved <= AtRest && c.Slope <= AtRest
}

// String returns "converged", or why the training has not converged.
func (c Convergence) String() string {
	share := func(v float64) string { return table.Number(100*v, 2) + " %" }
	switch {
	case c.Converged():
		return "converged"
	case math.IsInf(c.Moved, 1):
		return "has not converged: it diverged"
	case math.IsNaN(c.Moved):
		return "has not converged as far as is known: the last tenth of the steps was not seen as a whole"
	case c.Changing:
		return "has not converged: its schedule still changed the loss"
	case !(c.Moved <= AtRest):
		return "has not converged: it went " + share(c.Moved) + " of its size away in the last tenth of the steps"
	}
	return "has not converged: its gradient times its size is " + share(c.Slope) + " of the largest loss"
}

// unsettled is the convergence of a training that diverged.
var unsettled = Convergence{Moved: math.Inf(1), Slope: math.Inf(1)}

// lastTenth returns the number of steps of the last tenth, at least one.
func lastTenth(steps int) int { return max(1, steps/10) }

// changes reports whether a schedule changes its value in the last tenth of the steps.
func changes(s train.Schedule, steps int) bool {
	end := s.At(steps-1, steps)
	for t := steps - lastTenth(steps); t < steps; t++ {
		if math.Abs(s.At(t, steps)-end) > AtRest*math.Abs(end) {
			return true
		}
	}
	return false
}

// Settling tests trainings of one model for convergence. Several goroutines may use it at a time.
type Settling struct {
	inputs    map[*graph.Node]*graph.Node // from those of the model to those of the copy
	prog      *tape.Program               // of the gradients, in a copy of the graph
	learnt    []string                    // paths of the parameters and states that the loss depends on
	params    []*graph.Node
	gradients []*graph.Node
}

// NewSettling prepares the test for a model, whose graph stays as it is. The parameters that must
// come to rest are those that training changes by the derivative of the loss ([Trained]) or, if
// there are none, those that the model's own step changes, which have no gradient. NewSettling
// compiles a program for the gradient, until ctx is done.
func NewSettling(ctx context.Context, m *builders.Model) (*Settling, error) {
	if m == nil {
		return nil, errNilModel
	}
	s := &Settling{inputs: map[*graph.Node]*graph.Node{}, params: Trained(m)}
	if len(s.params) == 0 {
		for _, u := range m.Step {
			if dt := u.Target.DType(); dt.IsFloat() && !dt.IsHalf() && m.Loss != nil && m.Loss.DependsOn(u.Target) {
				s.params = append(s.params, u.Target)
			}
		}
		return s, nil
	}
	g, copies := cone.Copy("gradient at the end", nil, m.Loss)
	var wrt []*graph.Node
	for _, p := range s.params {
		wrt = append(wrt, copies[p])
	}
	for n, c := range copies {
		switch n.Role() {
		case graph.RoleInput:
			s.inputs[n] = c
		case graph.RoleParam, graph.RoleState:
			s.learnt = append(s.learnt, n.Path())
		}
	}
	s.gradients = grad.OrZero(copies[m.Loss], wrt...)
	var err error
	s.prog, err = tape.CompileContext(ctx, g, tape.Fetch(s.gradients...))
	return s, err
}

// Record returns an observer of a training of so many steps. The training must keep its values in
// the store, which has the start values when Record is called. size is the size that [Convergence]
// is relative to; 0 stands for the norm of the parameters at the end.
func (s *Settling) Record(store *tape.Store, steps int, size float64) (*Recorder, error) {
	if s == nil || store == nil {
		return nil, errNoStore
	}
	r := &Recorder{settling: s, store: store, size: size, from: steps - lastTenth(steps)}
	if int(store.Step()) < r.from {
		return r, nil
	}
	return r, r.keep(int(store.Step()) == r.from)
}

// Recorder observes one training: it notes the losses and how far the parameters move. It is an
// observer of a train.Run or a train.Plan.
type Recorder struct {
	Loss []float64 // of every step that was observed, before its update

	settling          *Settling
	store             *tape.Store
	size, moved, most float64
	from              int             // number of steps before the last tenth
	whole             bool            // the last tenth was observed from its beginning
	before            []*tensor.Dense // the parameters at that time
}

var errNoStore = errors.New("there is no training to observe: a Settling and a store are wanted")

// Observe notes the loss of a step, and how far the parameters have moved.
func (r *Recorder) Observe(e train.Event) error {
	switch {
	case r == nil || r.store == nil:
		return errNoStore
	case e.Kind != train.Stepped:
		return nil
	}
	r.Loss = append(r.Loss, e.Loss)
	r.most = max(r.most, math.Abs(e.Loss))
	switch {
	case e.Step < r.from:
		return nil
	case r.before == nil:
		return r.keep(e.Step == r.from)
	}
	moved, err := r.settling.distance(r.store, r.before)
	r.moved = max(r.moved, moved)
	return err
}

// keep copies the parameters, at the beginning of the last tenth or, if whole is false, within it.
func (r *Recorder) keep(whole bool) error {
	promise, err := r.settling.room("where the parameters were before the last tenth of the steps", func(p *graph.Node) int { return p.DType().Size() })
	if err != nil {
		return err
	}
	defer promise.End()
	r.whole, r.before = whole, make([]*tensor.Dense, 0, len(r.settling.params))
	for _, p := range r.settling.params {
		now, err := r.store.Get(p.Path())
		if err != nil {
			return err
		}
		r.before = append(r.before, now)
	}
	return nil
}

// room reserves so many bytes for each element of the parameters, or returns an error if there is
// not so much memory.
func (s *Settling) room(what string, bytes func(p *graph.Node) int) (*memory.Promise, error) {
	need := int64(0)
	for _, p := range s.params {
		need += int64(bytes(p)) * int64(p.Shape().Len())
	}
	promise, there, short := memory.Take(need)
	if short {
		const gib = 1 << 30
		return nil, fmt.Errorf("the test of convergence: %s takes %.1f GiB, and there are %.1f GiB: set smaller sizes", what, float64(need)/gib, float64(there)/gib)
	}
	return promise, nil
}

// distance returns how far the parameters are from other values of them, or from 0 if those are
// nil.
func (s *Settling) distance(store *tape.Store, from []*tensor.Dense) (float64, error) {
	sum := 0.0
	for i, p := range s.params {
		now, err := store.View(p.Path())
		if err != nil {
			return 0, err
		}
		switch {
		case p.DType() == graph.F32 && from == nil:
			sum = addSquares(sum, now.Float32s(), nil)
		case p.DType() == graph.F32:
			sum = addSquares(sum, now.Float32s(), from[i].Float32s())
		case from == nil:
			sum = addSquares(sum, now.Float64s(), nil)
		default:
			sum = addSquares(sum, now.Float64s(), from[i].Float64s())
		}
	}
	return math.Sqrt(sum), nil
}

// addSquares adds Σ (a − b)² to a sum, in order; a nil b stands for 0.
func addSquares[T float32 | float64](sum float64, a, b []T) float64 {
	for i, v := range a {
		d := float64(v)
		if b != nil {
			d -= float64(b[i])
		}
		sum += d * d
	}
	return sum
}

// Rest returns how nearly the training came to rest. Call it when training has ended. The gradient
// is the mean over the feeds, by nodes of the model, with random draws from the seed. Changing is
// left to the caller.
func (r *Recorder) Rest(ctx context.Context, seed uint64, feeds Feeds) (Convergence, error) {
	if r == nil || r.store == nil {
		return Convergence{}, errNoStore
	}
	s := r.settling
	if len(s.params) == 0 {
		return Convergence{}, nil
	}
	norm, err := s.distance(r.store, nil)
	if err != nil {
		return Convergence{}, err
	}
	size := r.size
	if size == 0 {
		size = norm
	}
	r.before = nil // which leaves its memory to the gradient
	c := Convergence{Moved: math.NaN()}
	if r.whole {
		c.Moved = share(r.moved, size)
	}
	slope, err := s.gradient(ctx, r.store, seed, feeds)
	c.Slope = share(slope*size, r.most)
	return c, err
}

// share returns v divided by the whole, or 0 if v is 0.
func share(v, whole float64) float64 {
	if v == 0 {
		return 0
	}
	return v / whole
}

// gradient returns the norm of the mean gradient over the feeds.
func (s *Settling) gradient(ctx context.Context, final *tape.Store, seed uint64, feeds Feeds) (float64, error) {
	if s.prog == nil {
		return 0, nil
	}
	failed := func(err error) (float64, error) { return math.NaN(), fmt.Errorf("gradient at the end: %w", err) }
	promise, err := s.room("the gradient", func(*graph.Node) int { return 8 })
	if err != nil {
		return failed(err)
	}
	defer promise.End()
	store := tape.NewStore(nil, tape.Seed(seed))
	vm, err := s.prog.NewVM(store, tape.Workers(1))
	if err != nil {
		return failed(err)
	}
	defer vm.Close()
	if err := copyRead(store, final, s.learnt); err != nil {
		return failed(err)
	}
	mean := make([][]float64, len(s.gradients))
	for i, g := range s.gradients {
		mean[i] = make([]float64, g.Shape().Len())
	}
	for _, next := range feeds {
		feed, err := next()
		if err != nil {
			return failed(err)
		}
		own := tape.Feed{}
		for n, v := range feed {
			if c := s.inputs[n]; c != nil {
				own[c] = v
			}
		}
		if err := vm.Run(ctx, own); err != nil {
			return failed(err)
		}
		for i, g := range s.gradients {
			t, err := vm.Value(g)
			if err != nil {
				return failed(err)
			}
			if g.DType() == graph.F32 {
				addShare(mean[i], t.Float32s(), len(feeds))
			} else {
				addShare(mean[i], t.Float64s(), len(feeds))
			}
		}
	}
	sum := 0.0
	for _, m := range mean {
		sum = addSquares(sum, m, nil)
	}
	return math.Sqrt(sum), nil
}

// copyRead copies values between stores under those of the paths that the program of the first
// store reads. The gradient of a linear loss, for example, reads no weights.
func copyRead(to, from *tape.Store, paths []string) error {
	for _, path := range paths {
		if _, read := to.Type(path); !read {
			continue
		}
		if _, err := to.CopyFrom(from, path, path); err != nil {
			return err
		}
	}
	return nil
}

// addShare adds an n-th of each value.
func addShare[T float32 | float64](to []float64, values []T, n int) {
	for i, v := range values {
		to[i] += float64(v) / float64(n)
	}
}
