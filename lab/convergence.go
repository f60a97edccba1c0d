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

// AtRest is the share up to which [Convergence] takes a movement or a slope for none.
const AtRest = 1e-3

// ConvergenceTest is the test in words, in lines for a terminal, as reports and tables
// state it: of centres, or of other models.
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

// Convergence says how nearly a training had come to rest when it ended: whether its
// numbers say something of the objective, or of the step at which it was stopped. The
// size of what is trained is the norm of the parameters, and of k centres √k times the
// scale of the data, which does not depend on where the origin lies.
type Convergence struct {
	// Moved is how far the trained numbers went at most, in the last tenth of the steps,
	// from where they were before it, as a share of their size. A rate that falls makes it
	// small anywhere.
	Moved float64
	// Slope is the norm of the gradient at the end times the size, as a share of the
	// largest loss of the run: about how much the loss would change if the numbers moved
	// by their size. It is the gradient over all rows, or over some batches that
	// training has not seen; 0 for what moves by a step of its own, as Lloyd's algorithm.
	Slope float64
	// Changing reports whether a schedule, as of γ, still changed the loss in the last
	// tenth of the steps.
	Changing bool
}

// Converged reports whether a training had come to rest: nothing but [AtRest] is left of
// movement and slope, and no schedule changes the loss. What is NaN has not converged.
func (c Convergence) Converged() bool {
	return !c.Changing && c.Moved <= AtRest && c.Slope <= AtRest
}

// String says why a training has not converged, or that it has.
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

// unsettled is the convergence of a training that went astray.
var unsettled = Convergence{Moved: math.Inf(1), Slope: math.Inf(1)}

// lastTenth is the number of steps that are looked at: a tenth, at least one.
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

// Settling tests trainings of one model for convergence. It is safe for use by several
// goroutines.
type Settling struct {
	inputs    map[*graph.Node]*graph.Node // of the model: those of the copy
	prog      *tape.Program
	learnt    []string // paths of the parameters and states that the loss depends on
	params    []*graph.Node
	gradients []*graph.Node
}

// NewSettling prepares the test. The numbers that must come to rest are those that training changes
// by the derivative of the loss or, where there are none, those that the model's own step changes,
// which have no gradient; the model's graph stays as it is. Once ctx is done it compiles no
// further.
func NewSettling(ctx context.Context, m *builders.Model) (*Settling, error) {
	if m == nil {
		return nil, errNilModel
	}
	s := &Settling{inputs: map[*graph.Node]*graph.Node{}, params: Trained(m)}
	if len(s.params) == 0 {
		for _, u := range m.Step {
			if u.Target.DType().IsFloat() && m.Loss != nil && m.Loss.DependsOn(u.Target) {
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

// Record begins to observe a training of so many steps, whose store has its values. Size is that of
// what is trained, or 0 for the norm that the parameters have in the end.
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

// Recorder observes one training: it notes the losses, and looks whether the training comes to
// rest.
type Recorder struct {
	Loss []float64 // of every step that was observed, before its update

	settling          *Settling
	store             *tape.Store
	size, moved, most float64
	from              int             // the number of steps before the last tenth
	whole             bool            // whether the last tenth was seen from its begin
	before            []*tensor.Dense // where the numbers were then, by parameter
}

var errNoStore = errors.New("there is no training to observe: a Settling and a store are wanted")

// Observe notes what a step left in the store, and the loss that it began with.
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

// keep keeps where the numbers are, before the whole of the last tenth or within it.
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

// room promises so many bytes for each number of the parameters, or says that they are not there.
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

// distance is how far the parameters are from other values of them; nil stands for 0.
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

// Rest returns how nearly the training came to rest: the gradient is the mean over the feeds, by
// nodes of the model.
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
	r.before = nil                      // there is the memory for the gradient then
	c := Convergence{Moved: math.NaN()} // where the last tenth was not seen from its begin
	if r.whole {
		c.Moved = share(r.moved, size)
	}
	slope, err := s.gradient(ctx, r.store, seed, feeds)
	c.Slope = share(slope*size, r.most)
	return c, err
}

// share is v as a share of the whole; nothing is no share of anything.
func share(v, whole float64) float64 {
	if v == 0 {
		return 0
	}
	return v / whole
}

// gradient is the norm of the mean gradient over the feeds.
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

// copyRead gives a store, which a program has been joined to, the values of another one under the
// paths that the program reads: the gradient of a linear loss, say, reads no weights.
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

// addShare adds the n-th part of each value.
func addShare[T float32 | float64](to []float64, values []T, n int) {
	for i, v := range values {
		to[i] += float64(v) / float64(n)
	}
}
