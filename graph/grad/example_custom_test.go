package grad_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// A step function whose derivative goes straight through (Bengio et al., 2013), so that what is
// quantised can be trained.
func ExampleCustom() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	binary := grad.Custom(
		func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sign(x[0])} },
		func(x, y, dy []*graph.Node) []*graph.Node { return dy })
	y := binary(x)[0]
	show(x, []float64{-0.3, 0.2, 4}, y, grad.Of(ops.Sum(ops.Scale(y, 5)), x)[0])
	// Output:
	// [i=3] [-1 1 1]
	// [i=3] [5 5 5]
}

// Gradients are reversed (Ganin & Lempitsky, 2015) or clipped on their way.
func ExampleCustom_clipped() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	same := func(x []*graph.Node) []*graph.Node { return x }
	reversed := grad.Custom(same, func(x, y, dy []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Neg(dy[0])}
	})
	clipped := grad.Custom(same, func(x, y, dy []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Clip(dy[0], ops.Lit(dy[0], -1), ops.Lit(dy[0], 1))}
	})
	loss := ops.Sum(ops.Square(reversed(clipped(x)[0])[0]))
	show(x, []float64{0.1, 0.2, 4}, grad.Of(loss, x)[0])
	// Output:
	// [i=3] [-0.2 -0.4 -1]
}

// What is computed within a block is computed again for the derivative; its values are the same.
func ExampleCheckpoint() {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 2))
	y := x
	for range 3 {
		y = grad.Checkpoint(func(x []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Square(ops.Scale(x[0], 0.5))}
		})(y)[0]
	}
	d := grad.Of(ops.Sum(y), x)[0]
	fmt.Println(d.Shape())
	show(x, []float64{2, 4}, y, d)
	// Output:
	// [i=2]
	// [i=2] [0.015625 4]
	// [i=2] [0.0625 8]
}
