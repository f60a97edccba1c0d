package randgraph

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// loop is a recurrence along an axis, whose values stay within ±1.
func loop(m *maker) *graph.Node {
	x, w := m.pick(m.floats), m.pick(m.floats)
	if x.Rank() == 0 {
		return nil
	}
	a, body := m.rnd.IntN(x.Rank()), m.rnd.IntN(3)
	l := ops.Loop{Carry: []*graph.Node{ops.Mean(x, a)}, Over: []*graph.Node{x}, Axis: a, With: []*graph.Node{w},
		Reverse: m.rnd.IntN(2) == 0, Checkpoint: max(0, m.rnd.IntN(6)-2)}
	counts := m.rnd.IntN(4) == 0
	if counts {
		n := ops.Cast(ops.Lit(x, 0), []graph.DType{graph.I32, graph.I64}[m.rnd.IntN(2)])
		l.Carry = append(l.Carry, n, ops.Equal(n, n))
	}
	r := ops.Scan(l, func(c, x, w []*graph.Node) (next, out []*graph.Node) {
		h := ops.Tanh(ops.Add(ops.Scale(c[0], 0.5), ops.Mul(x[0], ops.Mean(w[0]))))
		switch {
		case body == 1:
			h = ops.Scale(ops.Add(h, x[0]), 0.5)
		case body == 2 && h.Rank() > 0:
			e := ops.Exp(ops.Add(h, c[0]))
			h = ops.Div(e, ops.Sum(e, 0, ops.Keep))
		}
		next, out = []*graph.Node{h}, []*graph.Node{ops.Mul(h, c[0])}
		if counts { // how often a mask was true, which turns about with it
			next[0] = ops.Select(c[2], h, ops.Mul(h, ops.Cos(ops.Cast(c[1], h.DType()))))
			next = append(next, ops.Select(c[2], ops.Add(c[1], ops.Lit(c[1], 1)), c[1]), ops.Not(c[2]))
			out[0] = ops.Mul(out[0], ops.Cast(c[2], h.DType()))
		}
		return next, out
	})
	switch k := m.rnd.IntN(3); {
	case k == 0 && l.Checkpoint == 0:
		return r.Trace[0]
	case k == 1:
		return r.Final[0]
	}
	return r.Out[0]
}
