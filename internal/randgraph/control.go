package randgraph

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// control is a function, a branch, a loop that stops, the solution of an equation, or a value with
// a derivative of its own, which is the true one. All values stay within ±2.
func control(m *maker) *graph.Node {
	x, w := m.pick(m.floats), m.pick(m.floats)
	step := func(x []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Tanh(ops.Add(ops.Scale(x[0], 0.5), ops.Mean(x[1])))}
	}
	other := func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sin(x[0])} }
	// Equal numbers that rounding sets apart must not decide.
	less := func(a, b *graph.Node) *graph.Node { return ops.Less(ops.Shift(a, 0.0717), b) }
	switch m.rnd.IntN(6) {
	case 0:
		return ops.Call("call", step, x, w)[0]
	case 1:
		return ops.Closed("closed", step, x, w)[0]
	case 2:
		return ops.Cond(less(ops.Mean(x), ops.Mean(w)), step, other, x, w)[0]
	case 3:
		in := []*graph.Node{x}
		return ops.WithVJP(other(in), in, func(x, _, dy []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Mul(dy[0], ops.Cos(x[0]))}
		})[0]
	case 4:
		e := ops.Equation{Start: []*graph.Node{ops.Scale(x, 0)}, With: []*graph.Node{x, ops.Mean(w)}, Steps: 40}
		return ops.FixedPoint(e, func(x, w []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Scale(ops.Sin(ops.Add(ops.Sub(x[0], w[0]), w[1])), 0.1)}
		}).X[0]
	}
	r := ops.While(ops.Loop{Carry: []*graph.Node{x}, With: []*graph.Node{w}, Steps: 4, Checkpoint: m.rnd.IntN(3)},
		func(c, w []*graph.Node) *graph.Node { return less(ops.Mean(w[0]), ops.Mean(c[0])) },
		func(c, _, w []*graph.Node) (next, out []*graph.Node) {
			return step([]*graph.Node{c[0], w[0]}), nil
		})
	return r.Final[0]
}
