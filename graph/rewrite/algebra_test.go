package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// algebraCases are those of constants and identities.
var algebraCases = []ruleCase{
	{"no elements", true, func(v leaves) *graph.Node { return ops.Sin(ops.Slice(v.x, "d", 4, 4)) }},
	{"no elements", false, func(v leaves) *graph.Node { return ops.Sin(ops.Slice(v.x, "d", 3, 4)) }},
	{"no elements", false, func(v leaves) *graph.Node { return v.g.Input("e", graph.F32, graph.Dims(0, 3)...) }},
	{"join nothing", true, func(v leaves) *graph.Node {
		return ops.Concat("i", v.x, v.g.Input("e", graph.F32, graph.Dims(0, 4)...), v.w)
	}},
	{"join nothing", false, func(v leaves) *graph.Node { return ops.Concat("i", v.x, v.w) }},
	{"join nothing", false, func(v leaves) *graph.Node {
		e := v.g.Input("e", graph.F32, graph.Dims(0, 3)...)
		return ops.Concat(0, e, e)
	}},

	{"constants", true, func(v leaves) *graph.Node {
		return ops.Mul(v.g.Constant(graph.F32, []float64{1, 2, 3}, graph.Dims(3)...), v.g.Constant(graph.F32, []float64{2, 0.5, -1}, graph.Dims(3)...))
	}},
	{"constants", true, func(v leaves) *graph.Node { return ops.Cast(ops.Lit(v.s, -2.7), graph.I32) }},
	{"constants", true, func(v leaves) *graph.Node {
		return ops.Sum(v.g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Dims(2, 2)...), 0)
	}},
	{"constants", true, func(v leaves) *graph.Node { return ops.Exp(ops.Lit(v.s, 1e30)) }},
	{"constants", false, func(v leaves) *graph.Node { return repeated(ops.Lit(v.s, 2)) }},
	{"constants", false, func(v leaves) *graph.Node { return ops.Scale(v.s, 2) }},
	// One number would become 100.
	{"constants", false, func(v leaves) *graph.Node {
		return ops.OneHot(v.g.Constant(graph.I64, []float64{3}), 0, graph.Ax("k", 100), graph.F32)
	}},

	{"add zero", true, func(v leaves) *graph.Node { return ops.Shift(v.x, 0) }},
	{"add zero", true, func(v leaves) *graph.Node { return ops.Add(ops.Lit(v.s, 0), v.s) }},
	{"add zero", false, func(v leaves) *graph.Node { return ops.Shift(v.x, 1e-30) }},
	{"add zero", false, func(v leaves) *graph.Node { return ops.Mul(v.x, repeated(ops.Lit(v.s, 0))) }},
	{"subtract zero", true, func(v leaves) *graph.Node { return ops.Sub(v.x, ops.Lit(v.x, 0)) }},
	{"subtract zero", false, func(v leaves) *graph.Node { return ops.Sub(ops.Lit(v.x, 0), v.x) }},
	{"multiply by one", true, func(v leaves) *graph.Node { return ops.Scale(v.x, 1) }},
	{"multiply by one", false, func(v leaves) *graph.Node { return ops.Scale(v.x, -1) }},
	{"divide by one", true, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 1)) }},
	{"divide by one", false, func(v leaves) *graph.Node { return ops.Div(ops.Lit(v.x, 1), v.x) }},
	{"double negation", true, func(v leaves) *graph.Node { return ops.Neg(ops.Neg(v.x)) }},
	{"double negation", false, func(v leaves) *graph.Node { return ops.Neg(ops.Abs(ops.Neg(v.x))) }},
	{"the same twice", true, func(v leaves) *graph.Node { c := ops.Less(v.x, v.w); return ops.And(c, c) }},
	{"the same twice", true, func(v leaves) *graph.Node { c := ops.Less(v.x, v.w); return ops.Or(c, c) }},
	{"the same twice", false, func(v leaves) *graph.Node { return ops.And(ops.Less(v.x, v.w), ops.Less(v.w, v.x)) }},
	{"choose by a negation", true, func(v leaves) *graph.Node { return ops.Select(ops.Not(ops.Less(v.x, v.w)), v.x, v.w) }},
	{"choose by a negation", false, func(v leaves) *graph.Node { return ops.Select(ops.Less(v.x, v.w), v.x, v.w) }},
	{"chosen already", true, func(v leaves) *graph.Node {
		c := ops.Less(v.x, v.w)
		return ops.Select(c, ops.Select(c, v.x, ops.Exp(v.x)), v.w)
	}},
	{"chosen already", true, func(v leaves) *graph.Node {
		c := ops.Less(v.x, v.w)
		return ops.Select(c, v.w, ops.Select(c, v.x, ops.Exp(v.x)))
	}},
	{"chosen already", false, func(v leaves) *graph.Node {
		return ops.Select(ops.Less(v.x, v.w), v.w, ops.Select(ops.Less(v.w, v.x), v.x, ops.Exp(v.x)))
	}},
	{"add a negative", true, func(v leaves) *graph.Node { return ops.Add(v.x, ops.Neg(v.w)) }},
	{"add a negative", true, func(v leaves) *graph.Node { return ops.Add(ops.Neg(v.x), v.w) }},
	{"add a negative", false, func(v leaves) *graph.Node { return ops.Mul(v.x, ops.Neg(v.w)) }},
	{"softplus of a negative", true, func(v leaves) *graph.Node { return ops.Neg(ops.Softplus(ops.Neg(v.x))) }},
	{"softplus of a negative", false, func(v leaves) *graph.Node { return ops.Softplus(ops.Neg(v.x)) }},
	{"softplus of a negative", false, func(v leaves) *graph.Node { return ops.Neg(ops.Softplus(v.x)) }},
	{"subtract a negative", true, func(v leaves) *graph.Node { return ops.Sub(v.x, ops.Neg(v.w)) }},
	{"subtract a negative", false, func(v leaves) *graph.Node { return ops.Sub(ops.Neg(v.x), v.w) }},

	{"square", true, func(v leaves) *graph.Node { return ops.Mul(v.x, v.x) }},
	{"square", true, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, 2)) }},
	{"square", false, func(v leaves) *graph.Node { return ops.Mul(v.x, v.w) }},
	{"square", false, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, 3)) }},
	{"square", false, func(v leaves) *graph.Node { n := ops.Cast(v.x, graph.I32); return ops.Mul(n, n) }},
	{"whole power", true, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, 3)) }},
	{"whole power", true, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, 8)) }},
	{"whole power", true, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, -1)) }},
	{"whole power", false, func(v leaves) *graph.Node { return ops.Pow(ops.Exp(v.x), ops.Lit(v.x, 2.5)) }},
	{"whole power", false, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, 9)) }},
	{"whole power", false, func(v leaves) *graph.Node { return ops.Pow(v.x, ops.Lit(v.x, -2)) }},
	{"like terms", true, func(v leaves) *graph.Node { return ops.Add(v.x, v.x) }},
	{"like terms", true, func(v leaves) *graph.Node { return ops.Add(ops.Scale(v.x, 3), v.x) }},
	{"like terms", true, func(v leaves) *graph.Node { return ops.Sub(ops.Scale(v.x, 3), ops.Neg(v.x)) }},
	// ∞ − ∞ is not 0.
	{"like terms", false, func(v leaves) *graph.Node { return ops.Sub(v.x, v.x) }},
	{"like terms", false, func(v leaves) *graph.Node { return ops.Sub(ops.Scale(v.x, 3), ops.Scale(v.x, 2)) }},
	{"like terms", false, func(v leaves) *graph.Node { return ops.Add(ops.Scale(v.x, 3), ops.Scale(v.w, 2)) }},
	{"like terms", false, func(v leaves) *graph.Node { return ops.Add(ops.Scale(v.x, 3e38), ops.Scale(v.x, 3e38)) }},
	{"positive part of the largest", true, func(v leaves) *graph.Node { return ops.MaxPool1D(ops.ReLU(v.x), ops.Size(2)) }},
	{"positive part of the largest", true, func(v leaves) *graph.Node { return ops.Max(ops.ReLU(v.x), "d", ops.Keep) }},
	{"positive part of the largest", false, func(v leaves) *graph.Node { return ops.Min(ops.ReLU(v.x), "d") }},
	{"positive part of the largest", false, func(v leaves) *graph.Node { return ops.MaxPool1D(ops.Abs(v.x), ops.Size(2)) }},
	{"computed already", true, func(v leaves) *graph.Node { return ops.Sin(ops.Sub(ops.Mul(v.x, v.w), ops.Mul(v.w, v.x))) }},
	{"computed already", true, func(v leaves) *graph.Node {
		return ops.Add(ops.Sum(v.x, "d"), ops.Squeeze(ops.Sum(v.x, "d", ops.Keep), "d"))
	}},
	{"computed already", true, func(v leaves) *graph.Node {
		return ops.Sub(ops.Max(v.x, "d", ops.Keep), ops.Expand(ops.Max(v.x, "d"), 1, ""))
	}},
	{"computed already", false, func(v leaves) *graph.Node { return ops.Mul(ops.Sub(v.x, v.w), ops.Sub(v.w, v.x)) }},
	{"computed already", false, func(v leaves) *graph.Node { return ops.Sub(ops.Sum(v.a, 0), ops.Squeeze(ops.Sum(v.a, 1, ops.Keep), 1)) }},
	{"divide by a power of two", true, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, -8)) }},
	{"divide by a power of two", false, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 3)) }},
	{"divide by a power of two", false, func(v leaves) *graph.Node { return ops.Div(ops.Lit(v.x, 4), v.x) }},
	{"divide by a power of two", false, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 0)) }},
	{"divide by a power of two", false, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 0x1p127)) }},
	{"divide by a repeated", true, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Sum(v.x, "d", ops.Keep)) }},
	{"divide by a repeated", true, func(v leaves) *graph.Node { return ops.Div(v.x, v.s) }},
	{"divide by a repeated", false, func(v leaves) *graph.Node { return ops.Div(v.x, v.w) }},
	{"divide by a repeated", false, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 3)) }},
	{"divide by a repeated", false, func(v leaves) *graph.Node { return ops.Div(v.a, ops.Sum(v.a, 0)) }}, // only three times
}
