package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// momentCases are statistics over rows and over channels, as operations and written as steps.
var momentCases = []ruleCase{
	{"standardise by channel", true, func(v leaves) *graph.Node { return ops.Standardise(v.p, 1e-3, "i") }},
	{"standardise by channel", false, func(v leaves) *graph.Node { // the channels are of the middle axis too
		return ops.Standardise(v.g.Input("u", graph.F32, graph.Dims(3, 2, 4, 2)...), 1e-3, 0, 2)
	}},
	{"standardise by channel", false, func(v leaves) *graph.Node { return ops.Standardise(v.p, 1e-3, "c") }}, // row by row
	{"standardise by channel", false, func(v leaves) *graph.Node { // of each of several arrays
		return ops.Standardise(v.g.Input("u", graph.F32, graph.Dims(3, 5, 4)...), 1e-3, 1)
	}},
	{"standardise by channel", false, func(v leaves) *graph.Node { return ops.Standardise(v.p, 0, "i") }}, // NaN where all are equal
	{"standardise by channel", false, func(v leaves) *graph.Node { // each step would be rounded
		return ops.Standardise(ops.Cast(v.p, graph.BF16), 1e-3, "i")
	}},
	{"standardise by channel", false, func(v leaves) *graph.Node { return ops.Standardise(ops.Scale(v.p, 3), 1e-3, "i") }},
	{"deviation by channel", true, func(v leaves) *graph.Node { return ops.Rstd(v.p, 1e-3, "i") }},
	{"deviation by channel", true, func(v leaves) *graph.Node { return ops.Rstd(v.p, 1e-3, "i", ops.Keep) }},
	{"deviation by channel", false, func(v leaves) *graph.Node { return ops.Rstd(v.p, 1e-3, "c") }},
	{"written deviation by channel", true, func(v leaves) *graph.Node { return writtenRstd(v.p, "i", "i", 1) }},
	{"written deviation by channel", false, func(v leaves) *graph.Node { return writtenRstd(v.p, "c", "c", 1) }},
	{"written deviation by channel", false, func(v leaves) *graph.Node { return writtenRstd(v.p, "i", "c", 1) }}, // less the means of rows
	{"written deviation by channel", false, func(v leaves) *graph.Node { return writtenRstd(v.p, "i", "i", 2) }}, // 2/√…
	{"written standardise by channel", true, func(v leaves) *graph.Node {
		return ops.Mul(less(v.p, "i"), over(v.p, ops.Rstd(v.p, 1e-3, "i")))
	}},
	{"written standardise by channel", true, func(v leaves) *graph.Node { // with a gain
		gain := v.g.Param("gain", graph.F32, graph.Ax("c", 4))
		return ops.Mul(over(v.p, ops.Mul(gain, ops.Rstd(v.p, 1e-3, "i"))), less(v.p, "i"))
	}},
	{"written standardise by channel", false, func(v leaves) *graph.Node { // the deviation of something else
		return ops.Mul(less(v.p, "i"), over(v.p, ops.Rstd(ops.Sin(v.p), 1e-3, "i")))
	}},
	{"written standardise by channel", false, func(v leaves) *graph.Node {
		return ops.Mul(less(v.p, "c"), over(v.p, ops.Rstd(v.p, 1e-3, "i")))
	}},
	{"factors of channels first", true, func(v leaves) *graph.Node {
		return ops.Mul(over(v.p, ops.Max(v.p, "i")), ops.Mul(over(v.p, ops.Max(v.q, "j")), v.p))
	}},
	{"factors of channels first", false, func(v leaves) *graph.Node { // one is a factor of rows
		return ops.Mul(over(v.p, ops.Max(v.p, "c", ops.Keep)), ops.Mul(over(v.p, ops.Max(v.q, "j")), v.p))
	}},
	{"sum before two products", true, func(v leaves) *graph.Node {
		return ops.Sum(ops.Mul(v.x, ops.Mul(v.w, over(v.w, ops.Max(v.w, "i")))), "i")
	}},
	{"sum before two products", true, func(v leaves) *graph.Node {
		return ops.Sum(ops.Mul(ops.Mul(over(v.w, ops.Max(v.w, "i")), v.w), v.x), "i", ops.Keep)
	}},
	{"sum before two products", false, func(v leaves) *graph.Node { // it varies along the axis
		return ops.Sum(ops.Mul(v.x, ops.Mul(v.w, over(v.w, ops.Max(v.w, "i")))), "d")
	}},
}

// over repeats r as often as x has rows and columns.
func over(x, r *graph.Node) *graph.Node { return ops.BroadcastTo(r, x.Shape()) }

// less is x without its means over an axis.
func less(x *graph.Node, axis string) *graph.Node {
	return ops.Sub(x, over(x, ops.Mean(x, axis, ops.Keep)))
}

// writtenRstd is one over the root of the mean square of differences from means, plus a number.
func writtenRstd(x *graph.Node, axis, centre string, one float64) *graph.Node {
	v := ops.Mean(ops.Square(less(x, centre)), axis)
	return ops.Div(ops.Lit(v, one), ops.Sqrt(ops.Shift(v, 1e-3)))
}
