package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// turnedCases are those of products whose rows are turned, and of transposes that vanish.
var turnedCases = []ruleCase{
	{"rows of a batch", true, func(v leaves) *graph.Node { return v.beside(1, func(y *graph.Node) *graph.Node { return y }) }},
	{"rows of a batch", true, func(v leaves) *graph.Node {
		return ops.MatMul(ops.Slice(v.cube, 1, 0, 1), ops.Sub(ops.BroadcastTo(v.s, mustShape(graph.Dims(2, 2, 8)...)),
			ops.BroadcastTo(v.t, mustShape(graph.Dims(2, 2, 8)...))))
	}},
	{"rows of a batch", false, func(v leaves) *graph.Node { return v.beside(2, func(y *graph.Node) *graph.Node { return y }) }}, // few rows
	{"rows of a batch", false, func(v leaves) *graph.Node { return v.beside(1, ops.Sin) }},                                      // Yᵀ is there
	{"transpose of what is repeated", true, func(v leaves) *graph.Node {
		return ops.Transpose(ops.Sub(repeated(ops.Max(v.x, "d", ops.Keep)), repeated(v.s)))
	}},
	{"transpose of what is repeated", false, func(v leaves) *graph.Node { return ops.Transpose(ops.Sub(v.x, repeated(v.s))) }},
	{"transpose of what is repeated", false, func(v leaves) *graph.Node {
		return ops.Transpose(ops.Sub(repeated(ops.Max(v.x, "i", ops.Keep)), repeated(v.s))) // a third of the array
	}},
}

// beside is a product of two matrices of so many rows and, of f of their transpose, four columns.
func (v leaves) beside(rows int, f func(*graph.Node) *graph.Node) *graph.Node {
	y := ops.Concat(1, v.cube, v.cube)
	return ops.MatMul(ops.Slice(v.cube, 1, 0, rows), f(ops.Transpose(y, 0, 2, 1)))
}
