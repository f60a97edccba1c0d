package lab

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
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
	share := func(v float64) string { return digits(100*v, 2) + " %" }
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
	graph     *graph.Graph                // a copy of what the loss depends on, with its gradient
	prog      *tape.Program
	learnt    []string // paths of the parameters and states that the loss depends on
	params    []*graph.Node
	gradients []*graph.Node
}

// NewSettling prepares the test. The numbers that must come to rest are those that
// training changes by the derivative of the loss; the model's graph stays as it is.
func NewSettling(m *builders.Model) (*Settling, error) {
	if m == nil {
		return nil, errNilModel
	}
	return newSettling(m.Loss, Trained(m))
}

func newSettling(loss *graph.Node, params []*graph.Node) (*Settling, error) {
	s := &Settling{inputs: map[*graph.Node]*graph.Node{}, params: params}
	if len(params) == 0 {
		return s, nil
	}
	scratch, copies := lossCopy(loss)
	s.graph = scratch
	var wrt []*graph.Node
	for _, p := range params {
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
	s.gradients = grad.OrZero(copies[loss], wrt...)
	var err error
	s.prog, err = tape.Compile(scratch, tape.Fetch(s.gradients...))
	return s, err
}

// Follow begins to look at a training of so many steps. Size is that of what is trained,
// or 0 for the norm that the parameters have in the end.
func (s *Settling) Follow(steps int, size float64) *Settler {
	return &Settler{Settling: s, size: size, from: steps - lastTenth(steps)}
}

// Settler looks at one training for [Settling].
type Settler struct {
	*Settling
	size, moved, most float64
	from              int       // the first step of those that count
	whole             bool      // whether the last tenth was seen from its begin
	before            []float64 // where the numbers were then
}

var errNoStore = errors.New("there is no training to settle: a Settler and a store are wanted")

// Step notes what step t, from 0, left in the store, and the loss that it began with.
// Step −1 is the start, with any loss that is not more than the others.
func (s *Settler) Step(t int, store *tape.Store, loss float64) error {
	if s == nil || store == nil {
		return errNoStore
	}
	s.most = max(s.most, math.Abs(loss))
	if t < s.from-1 {
		return nil
	}
	now, err := s.values(store)
	if err != nil {
		return err
	}
	if s.before == nil {
		s.whole = t == s.from-1
	} else {
		s.moved = max(s.moved, math.Sqrt(sqDist(s.before, now)))
		return nil
	}
	s.before = now
	return nil
}

func (s *Settler) values(store *tape.Store) ([]float64, error) {
	var out []float64
	for _, p := range s.params {
		t, err := store.Get(p.Path())
		if err != nil {
			return nil, err
		}
		out = append(out, float64s(t)...)
	}
	return out, nil
}

// End is how nearly the training came to rest, which left its numbers in the store:
// the gradient is the mean over the feeds, by nodes of the model.
func (s *Settler) End(ctx context.Context, final *tape.Store, seed uint64, feeds []tape.Feed) (Convergence, error) {
	if s == nil || final == nil {
		return Convergence{}, errNoStore
	}
	now, err := s.values(final)
	if err != nil || len(now) == 0 {
		return Convergence{}, err
	}
	size := s.size
	if size == 0 {
		size = math.Sqrt(sqDist(now, make([]float64, len(now))))
	}
	c := Convergence{Moved: math.NaN()} // where the last tenth was not seen from its begin
	if s.whole {
		c.Moved = share(s.moved, size)
	}
	norm, err := s.gradient(ctx, final, seed, feeds)
	c.Slope = share(norm*size, s.most)
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
func (s *Settling) gradient(ctx context.Context, final *tape.Store, seed uint64, feeds []tape.Feed) (float64, error) {
	if s.prog == nil {
		return 0, nil
	}
	store := tape.NewStore(s.graph, tape.Seed(seed))
	for _, path := range s.learnt {
		if _, err := store.CopyFrom(final, path, path); err != nil {
			return math.NaN(), fmt.Errorf("gradient at the end: %w", err)
		}
	}
	vm, err := s.prog.NewVM(store, tape.Workers(1))
	if err != nil {
		return math.NaN(), fmt.Errorf("gradient at the end: %w", err)
	}
	defer vm.Close()
	var mean []float64
	for _, feed := range feeds {
		own := tape.Feed{}
		for n, v := range feed {
			if c := s.inputs[n]; c != nil {
				own[c] = v
			}
		}
		if err := vm.Run(ctx, own); err != nil {
			return math.NaN(), fmt.Errorf("gradient at the end: %w", err)
		}
		var all []float64
		for _, g := range s.gradients {
			t, err := vm.Value(g)
			if err != nil {
				return math.NaN(), err
			}
			all = append(all, float64s(t)...)
		}
		if mean == nil {
			mean = make([]float64, len(all))
		}
		for i, v := range all {
			mean[i] += v / float64(len(feeds))
		}
	}
	return math.Sqrt(sqDist(mean, make([]float64, len(mean)))), nil
}
