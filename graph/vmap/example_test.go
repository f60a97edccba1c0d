package vmap_test

import (
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// show prints the shape and the values of a node where x is as given.
func show(x *graph.Node, at []float64, n *graph.Node) {
	values, err := ref.Eval(trait.Env{}, graph.Values{x: {Type: x.Type(), Data: at}}, n)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Shape(), values[0].Data)
}

// The norm of one vector, computed for two.
func ExampleEach() {
	g := graph.New("g")
	xs := g.Input("xs", graph.F64, graph.Ax("b", 2), graph.Ax("d", 2))
	norms := vmap.Each(func(x []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Sqrt(ops.Sum(ops.Square(x[0])))}
	}, xs)
	show(xs, []float64{3, 4, 6, 8}, norms[0])
	// Output: [b=2] [5 10]
}

// The derivative of each example's loss, where Of gives that of their sum.
func ExampleMap() {
	g := graph.New("g")
	b, d := graph.Ax("b", 3), graph.Ax("d", 2)
	xs := g.Input("xs", graph.F64, b, d)
	w := g.Constant(graph.F64, []float64{1, 1}, d)
	x := ops.Squeeze(ops.Slice(xs, 0, 0, 1), 0) // stands for one example
	loss := ops.Square(ops.Sum(ops.Mul(w, x)))
	each := vmap.Map(grad.Of(loss, w), vmap.Over{X: x, Batch: xs})
	show(xs, []float64{1, 0, 0, 1, 1, 1}, each[0])
	// Output: [b=3 d=2] [2 0 0 2 4 4]
}

// A draw is made anew for every example by Map, and once for all by MapSameDraws.
func ExampleMapSameDraws() {
	g := graph.New("g")
	xs := g.Input("xs", graph.F64, graph.Ax("b", 4))
	x := ops.Squeeze(ops.Slice(xs, 0, 0, 1), 0)
	y := ops.Add(x, ops.RandomNormal(g, "noise", graph.F64))
	spread := func(ys []*graph.Node) *graph.Node {
		return ops.Greater(ops.Sub(ops.Max(ys[0], "b"), ops.Min(ys[0], "b")), ops.Lit(x, 0))
	}
	outs, over := []*graph.Node{y}, vmap.Over{X: x, Batch: xs}
	show(xs, make([]float64, 4), spread(vmap.Map(outs, over)))
	show(xs, make([]float64, 4), spread(vmap.MapSameDraws(outs, over)))
	// Output:
	// [] [1]
	// [] [0]
}
