package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// elementwise has the operators that work element by element, with the broadcasting of NumPy.
var elementwise = map[string]rule{
	"Abs":      unary(ops.Abs),
	"Add":      binary(pair(ops.Add)),
	"Div":      binary(ops.Div),
	"Exp":      unary(ops.Exp),
	"Identity": func(c *call) []value { return c.in[:1] },
	"Mul":      binary(pair(ops.Mul)),
	"Neg":      unary(ops.Neg),
	"Relu":     unary(ops.ReLU),
	"Sub":      binary(ops.Sub),
	"Tanh":     unary(ops.Tanh),
}

func unary(f func(*graph.Node) *graph.Node) rule {
	return func(c *call) []value { return []value{c.is(0, f(c.x(0)))} }
}

func binary(f func(a, b *graph.Node) *graph.Node) rule {
	return func(c *call) []value {
		return []value{c.is(0, f(c.x(0), c.x(1)))}
	}
}

// pair is a function of many operands for two.
func pair(f func(...*graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
	return func(a, b *graph.Node) *graph.Node { return f(a, b) }
}
