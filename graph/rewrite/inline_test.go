package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func half(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Tanh(ops.Mul(x[0], x[1]))} }

var inlineCases = []ruleCase{
	{"function", true, func(v leaves) *graph.Node { return ops.Call("f", half, v.x, v.w)[0] }},
	{"function", false, func(v leaves) *graph.Node { return ops.Closed("f", half, v.x, v.w)[0] }},
	{"function", false, func(v leaves) *graph.Node { return ops.Cond(ops.Less(v.s, v.t), half, half, v.x, v.w)[0] }},
}
