package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// accumulateCases are sums in which a product or slices take part.
var accumulateCases = []ruleCase{
	{"transposed product", true, func(v leaves) *graph.Node {
		return ops.Add(ops.Transpose(ops.MatMul(v.p, ops.Transpose(v.q, "c", "j")), "j", "i"), v.g.Input("y", graph.F32, graph.Ax("j", 2), graph.Ax("i", 5)))
	}},
	{"transposed product", false, func(v leaves) *graph.Node { // it meets nothing
		return ops.Exp(ops.Transpose(ops.MatMul(v.p, ops.Transpose(v.q, "c", "j")), "j", "i"))
	}},
	{"scatter onto a sum", true, func(v leaves) *graph.Node {
		k := v.g.Input("k", graph.I64, graph.Ax("b", 3))
		return ops.Add(ops.ScatterAdd(k, v.x, 0, v.p.Shape().Axes()...), ops.MatMul(v.g.Input("l", graph.F32, graph.Ax("i", 5), graph.Ax("e", 2)), v.g.Input("m", graph.F32, graph.Ax("e", 2), graph.Ax("c", 4))))
	}},
	{"scatter onto a sum", false, func(v leaves) *graph.Node { // to a leaf, which stays
		k := v.g.Input("k", graph.I64, graph.Ax("b", 3))
		return ops.Add(v.p, ops.ScatterAdd(k, v.x, 0, v.p.Shape().Axes()...))
	}},
}
