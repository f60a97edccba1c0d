package ops_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestIntegerProductsRefuse: types and shapes that do not fit, and derivatives.
func TestIntegerProductsRefuse(t *testing.T) {
	leaf := func(g *graph.Graph, name string, dt graph.DType, sizes ...int) node {
		return g.Input(name, dt, graph.Dims(sizes...)...)
	}
	for want, build := range map[string]func(g *graph.Graph) node{
		"MatMulInteger: a first operand of type f32: want u8 or i8": func(g *graph.Graph) node {
			return ops.MatMulInteger(leaf(g, "x", graph.F32, 2, 3), leaf(g, "w", graph.I8, 3, 2), leaf(g, "z", graph.F32))
		},
		"MatMulInteger: a second operand of type u8: want i8": func(g *graph.Graph) node {
			return ops.MatMulInteger(leaf(g, "x", graph.U8, 2, 3), leaf(g, "w", graph.U8, 3, 2), leaf(g, "z", graph.U8))
		},
		"MatMulInteger: a zero of type u8[]: want a number of type i8": func(g *graph.Graph) node {
			return ops.MatMulInteger(leaf(g, "x", graph.I8, 2, 3), leaf(g, "w", graph.I8, 3, 2), leaf(g, "z", graph.U8))
		},
		"MatMulInteger: inner axes differ (3 ≠ 4)": func(g *graph.Graph) node {
			return ops.MatMulInteger(leaf(g, "x", graph.U8, 2, 3), leaf(g, "w", graph.I8, 4, 2), leaf(g, "z", graph.U8))
		},
		"MatMulInteger: operands of 2 and 1 axes: want rows [… k] and a matrix [k n]": func(g *graph.Graph) node {
			return ops.MatMulInteger(leaf(g, "x", graph.U8, 2, 3), leaf(g, "w", graph.I8, 3), leaf(g, "z", graph.U8))
		},
		"ConvInteger: a kernel of 5 axes: want [k c o] or [kh kw c o]": func(g *graph.Graph) node {
			return ops.ConvInteger(leaf(g, "x", graph.U8, 2, 3, 3, 3, 1), leaf(g, "w", graph.I8, 1, 1, 1, 1, 1), leaf(g, "z", graph.U8))
		},
		"ConvInteger: weights for channels 2: want 1": func(g *graph.Graph) node {
			return ops.ConvInteger(leaf(g, "x", graph.U8, 4, 1), leaf(g, "w", graph.I8, 2, 2, 1), leaf(g, "z", graph.U8))
		},
		"no derivative reaches x: the path from the loss ends in Cast": func(g *graph.Graph) node {
			x := leaf(g, "x", graph.F32, 2, 3)
			y := ops.MatMulInteger(ops.Cast(x, graph.U8), leaf(g, "w", graph.I8, 3, 2), g.Constant(graph.U8, []float64{0}))
			return grad.Of(ops.Sum(ops.Cast(y, graph.F32)), x)[0]
		},
	} {
		g := graph.New("integers")
		build(g)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
