package rewrite

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// factorCases are those of scalar factors.
var factorCases = []ruleCase{
	{"gather factors", true, func(v leaves) *graph.Node { return ops.Scale(ops.Scale(v.x, 3), 2) }},
	{"gather factors", true, func(v leaves) *graph.Node { return ops.Neg(ops.Mul(v.x, ops.Mul(v.s, v.w))) }},
	{"gather factors", true, func(v leaves) *graph.Node { return ops.Div(ops.Mul(ops.Neg(v.x), v.s), v.t) }},
	{"gather factors", true, func(v leaves) *graph.Node { return ops.Scale(ops.Neg(v.s), 2) }},
	{"gather factors", true, func(v leaves) *graph.Node {
		return ops.Neg(ops.Select(ops.Less(v.w, v.x), ops.Mul(v.s, v.x), ops.Lit(v.x, 0)))
	}},
	{"gather factors", true, func(v leaves) *graph.Node { return ops.Mul(v.s, ops.Square(ops.Scale(v.x, 3))) }},
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Mul(ops.Scale(v.x, 3), v.w) }},
	{"gather factors", false, func(v leaves) *graph.Node {
		return ops.Neg(ops.Select(ops.Less(v.w, v.x), ops.Mul(v.s, v.x), ops.Lit(v.x, 1)))
	}},
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Mul(v.s, ops.Mul(v.t, v.s)) }}, // scalars alone
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Scale(ops.Shift(v.x, 1), 2) }},
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Scale(ops.Scale(v.x, 0), 2) }},
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Scale(ops.Scale(v.x, 1e-30), 1e-30) }}, // 1e-60 is 0 in float32
	{"gather factors", false, func(v leaves) *graph.Node { return ops.Scale(ops.Cast(ops.Scale(v.x, 3), graph.F64), 2) }},
	{"factor of the smaller", true, func(v leaves) *graph.Node { return ops.Scale(ops.Mul(v.x, ops.Sum(v.x, "d", ops.Keep)), 2) }},
	{"factor of the smaller", true, func(v leaves) *graph.Node { return ops.Mul(ops.Mul(v.x, v.s), ops.Sum(v.x, "d", ops.Keep)) }},
	// Without the scalar the product has no names.
	{"factor of the smaller", true, func(v leaves) *graph.Node {
		return ops.Mul(ops.BroadcastTo(v.s, mustShape(graph.Ax("k", 3), graph.Ax("l", 3))), ops.Mul(v.a, ops.Sum(v.a, 1, ops.Keep)))
	}},
	{"factor of the smaller", false, func(v leaves) *graph.Node { return ops.Mul(v.x, ops.Sum(v.x, "d", ops.Keep)) }},
	{"factor of the smaller", false, func(v leaves) *graph.Node { return ops.Scale(ops.Add(v.x, ops.Sum(v.x, "d", ops.Keep)), 2) }},
	{"factor out of a sum", true, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.s, v.x), "d") }},
	{"factor out of a sum", true, func(v leaves) *graph.Node { return ops.Mean(ops.Mul(v.w, ops.Neg(v.x))) }},
	{"factor out of a sum", true, func(v leaves) *graph.Node { return ops.Sum(ops.Transpose(ops.Div(v.x, ops.Lit(v.x, 3))), 0, ops.Keep) }},
	{"factor out of a sum", false, func(v leaves) *graph.Node { return ops.Max(ops.Mul(v.s, v.x), "d") }},
	{"factor out of a sum", false, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.w, v.x), "d") }},
	// 0·Σx is NaN where Σx overflows.
	{"factor out of a sum", false, func(v leaves) *graph.Node { return ops.Sum(ops.Scale(v.x, 0), "d") }},
	{"factor out of a sum", false, func(v leaves) *graph.Node { return ops.Sum(ops.Scale(v.x, math.Inf(1)), "d") }},
	{"factor out of a sum", false, func(v leaves) *graph.Node { return ops.Sum(ops.Scale(ops.Cast(v.x, graph.I32), 2)) }},
	{"factor out of a product", true, func(v leaves) *graph.Node {
		return ops.MatMul(ops.Scale(v.x, 2), ops.Rename(ops.Transpose(v.w), "i", "k"))
	}},
	{"factor out of a product", true, func(v leaves) *graph.Node { return ops.MatMul(ops.Neg(v.a), ops.Mul(v.s, v.a)) }},
	{"factor out of a product", true, func(v leaves) *graph.Node {
		return ops.WeightedDiff(ops.Mul(v.s, ops.MatMul(v.q, ops.Transpose(v.p))), v.q, v.p)
	}},
	{"factor out of a product", true, func(v leaves) *graph.Node { return ops.DiffDot(ops.Mul(v.s, v.p), v.p, v.q) }},
	{"factor out of a product", true, func(v leaves) *graph.Node {
		return ops.Conv1D(ops.Scale(v.x, 2), ops.Reshape(v.cube, 2, 4, 1))
	}},
	{"factor out of a product", true, func(v leaves) *graph.Node { return ops.AvgPool1D(ops.Mul(v.s, v.x), ops.Size(3)) }},
	// The product is larger than the operand.
	{"factor out of a product", false, func(v leaves) *graph.Node {
		return ops.MatMul(ops.Rename(ops.Transpose(ops.Scale(v.q, 2)), "c", "e"), v.q)
	}},
	{"factor out of a product", false, func(v leaves) *graph.Node { return ops.SqDist(ops.Scale(v.p, 2), v.q) }},
	{"factor out of a product", false, func(v leaves) *graph.Node { return ops.DiffDot(v.p, ops.Mul(v.s, v.p), v.q) }},
	{"common factor", true, func(v leaves) *graph.Node { return ops.Add(ops.Mul(v.s, v.x), ops.Mul(v.w, v.s)) }},
	{"common factor", true, func(v leaves) *graph.Node { return ops.Sub(ops.Scale(v.x, 3), ops.Scale(v.w, -3)) }},
	{"common factor", true, func(v leaves) *graph.Node { return ops.Sub(ops.Neg(v.x), v.w) }},
	{"common factor", true, func(v leaves) *graph.Node {
		return ops.Add(ops.Mul(v.s, v.x), ops.Mul(ops.Mul(v.t, ops.Neg(v.s)), v.w))
	}},
	{"common factor", true, func(v leaves) *graph.Node {
		return ops.Sub(ops.Mul(v.s, v.x), ops.Mul(v.s, ops.Sum(v.x, "d", ops.Keep)))
	}},
	{"common factor", true, func(v leaves) *graph.Node {
		return ops.Add(ops.Mul(ops.Mul(v.w, ops.Mul(v.s, ops.Sum(v.x, "d", ops.Keep))), v.x), ops.Mul(v.s, v.x))
	}},
	{"common factor", true, func(v leaves) *graph.Node { return ops.Add(ops.Div(v.x, v.s), ops.Div(v.w, v.s)) }},
	// As many products as before, and 0.9·m + 0.1·g is how it is written.
	{"common factor", false, func(v leaves) *graph.Node { return ops.Add(ops.Scale(v.x, 0.9), ops.Scale(v.w, 0.1)) }},
	{"common factor", false, func(v leaves) *graph.Node { return ops.Add(ops.Mul(v.s, v.x), ops.Mul(v.t, v.w)) }},
	{"common factor", false, func(v leaves) *graph.Node {
		return ops.Add(ops.Mul(ops.Scale(v.s, 3), v.x), ops.Mul(ops.Scale(v.s, 2), v.w))
	}},
	{"common factor", false, func(v leaves) *graph.Node {
		r, q := ops.Sum(v.x, "d", ops.Keep), ops.Sum(v.w, "d", ops.Keep)
		return ops.Add(ops.Mul(v.x, ops.Mul(v.s, r)), ops.Mul(v.w, ops.Mul(v.s, q)))
	}},
	{"common factor", false, func(v leaves) *graph.Node { return ops.Maximum(ops.Mul(v.s, v.x), ops.Mul(v.w, v.s)) }},
}
