package rewrite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// Check says whether both sides of a firing compute the same.
type Check struct {
	// Difference is the largest |old − new| over max(1, |old|), by the definitions in
	// float64. Elements that are NaN, or the same infinity, on both sides agree.
	Difference float64
	// Bad32 counts the elements that are no finite numbers when every operation rounds
	// to float32, before and after, of Elements.
	Bad32    [2]int
	Elements int
	// Large is Bad32 with shared inputs from −200 to 200, the case that stabilising rules are for.
	// It is filled for these rules alone.
	Large *[2]int
}

// largeValues is the scale of the values with which stabilising rules are tried.
const largeValues = 200

// Check evaluates both sides of each firing with the given values of the leaves of the graph that
// was rewritten (parameters, inputs without a default, states). The inputs of a loop's step are
// drawn at random from −1 to 1. It is stopped with the error of ctx once ctx is done.
func (h *History) Check(ctx context.Context, values graph.Values) (_ []Check, err error) {
	defer catch(&err)
	if h == nil || h.Result == nil {
		return nil, errNoHistory
	}
	byPath := map[string]graph.Value{}
	for n, v := range values {
		byPath[n.Path()] = v
	}
	exact, rounded := newEvaluator(byPath, false), newEvaluator(byPath, true)
	out := make([]Check, len(h.Firings))
	for i, f := range h.Firings {
		look(ctx)
		old, err := exact.of(f.Old)
		if err != nil {
			return nil, fmt.Errorf("firing %d, %s: %w", i+1, f.Rule, err)
		}
		now, err := exact.of(f.New)
		if err != nil {
			return nil, fmt.Errorf("firing %d, %s: %w", i+1, f.Rule, err)
		}
		out[i].Difference, out[i].Elements = difference(old.Data, now.Data), len(now.Data)
		if out[i].Bad32, err = rounded.bad(f.Old, f.New); err != nil {
			return nil, err
		}
		if f.Pass != "stabilise" {
			continue
		}
		before, after := f.Small()
		large := newEvaluator(nil, true)
		large.scale = largeValues
		bad, err := large.bad(before, after)
		if err != nil {
			return nil, err
		}
		out[i].Large = &bad
	}
	return out, nil
}

func difference(a, b []float64) float64 {
	worst := 0.0
	for i, x := range a {
		y := b[i]
		if x == y || x != x && y != y {
			continue
		}
		if d := math.Abs(x-y) / max(1, math.Abs(x)); d > worst || d != d {
			worst = d
		}
		if worst != worst {
			return math.Inf(1)
		}
	}
	return worst
}

// evaluator computes nodes by their definitions and remembers them. Leaves without a
// value are drawn at random, the same for leaves of one path.
type evaluator struct {
	leaves map[string]graph.Value
	round  bool // to float32, after every operation
	scale  float64
	known  graph.Values
}

func newEvaluator(leaves map[string]graph.Value, round bool) *evaluator {
	return &evaluator{leaves, round, 1, graph.Values{}}
}

func (e *evaluator) of(root *graph.Node) (graph.Value, error) {
	unknown := func(n *graph.Node) bool { _, ok := e.known[n]; return ok }
	for _, n := range graph.ReachableUntil(unknown, root) {
		if unknown(n) {
			continue
		}
		feed := graph.Values{}
		_, number := n.Default()
		switch v, ok := e.leaves[n.Path()]; {
		case n.Role() == graph.RoleInput && number, n.Role() == graph.RoleOp || n.Role() == graph.RoleConstant:
			for _, x := range n.Inputs() {
				feed[x] = e.known[x]
			}
		case ok && v.Type.Shape.Len() == n.Shape().Len():
			feed[n] = v
		default:
			feed[n] = e.draw(n)
		}
		out, err := ref.Eval(trait.Env{}, feed, n)
		if err != nil {
			return graph.Value{}, err
		}
		v := out[0]
		if e.round && n.DType().IsFloat() {
			v = graph.NewValue(n.Type())
			for i, x := range out[0].Data {
				v.Data[i] = graph.F32.Round(x)
			}
		}
		e.known[n] = v
	}
	return e.known[root], nil
}

// draw returns a random value for a leaf, which depends on its path alone.
func (e *evaluator) draw(n *graph.Node) graph.Value {
	var seed [32]byte
	copy(seed[:], n.Path())
	r := rand.New(rand.NewChaCha8(seed))
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		if n.DType().IsFloat() {
			v.Data[i] = e.scale * (2*r.Float64() - 1)
		}
	}
	return v
}

func (e *evaluator) bad(before, after *graph.Node) (count [2]int, err error) {
	for i, n := range []*graph.Node{before, after} {
		v, err := e.of(n)
		if err != nil {
			return count, err
		}
		for _, x := range v.Data {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				count[i]++
			}
		}
	}
	return count, nil
}
