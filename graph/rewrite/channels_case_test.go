package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// channelCases are products with numbers of the channels behind them.
var channelCases = []ruleCase{
	{"fold channels", true, func(v leaves) *graph.Node {
		y := ops.MatMul(v.p, v.g.Param("m", graph.F32, graph.Ax("c", 4), graph.Ax("o", 2)))
		of := func(name string) *graph.Node { return v.g.Param(name, graph.F32, graph.Ax("o", 2)) }
		return ops.Add(ops.Mul(ops.Sub(y, of("mean")), of("gain")), of("bias"))
	}},
	{"fold channels", false, func(v leaves) *graph.Node { // a larger matrix, and already in two steps
		y := ops.MatMul(v.x, v.g.Param("m", graph.F32, graph.Ax("d", 4), graph.Ax("o", 2)))
		of := func(name string) *graph.Node { return v.g.Param(name, graph.F32, graph.Ax("o", 2)) }
		return ops.Add(ops.Mul(y, of("gain")), of("bias"))
	}},
	{"fold channels", false, func(v leaves) *graph.Node { // numbers of the rows
		y := ops.MatMul(v.p, v.g.Param("m", graph.F32, graph.Ax("c", 4), graph.Ax("o", 2)))
		return ops.Mul(y, v.g.Param("row", graph.F32, graph.Ax("i", 5), graph.Ax("o", 1)))
	}},
}
