package augment_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn/augment"
	"github.com/tapestry-ml/tapestry/tape"
)

// show computes a node and prints its shape and values.
func show(y *graph.Node) {
	values, err := tape.Eval(context.Background(), nil, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %.3v\n", y.Shape(), values[y].Data)
}

func ExampleFlip() {
	g := graph.New("flip")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("n", 1), graph.Ax("h", 2), graph.Ax("w", 3), graph.Ax("c", 1))
	show(augment.Flip(x))
	// Output: [n=1 h=2 w=3 c=1] [3 2 1 6 5 4]
}

// Half a pixel to the right blends neighbours.
func ExampleTranslate() {
	g := graph.New("translate")
	x := g.Constant(graph.F32, []float64{0, 8, 0, 4}, graph.Ax("n", 1), graph.Ax("h", 1), graph.Ax("w", 4), graph.Ax("c", 1))
	zero, half := g.Constant(graph.F32, []float64{0}), g.Constant(graph.F32, []float64{0.5})
	show(augment.Translate(x, zero, half))
	// Output: [n=1 h=1 w=4 c=1] [0 4 4 2]
}

// A random window of 28 by 28 pixels of each image with 4 zeros around it.
func ExampleRandomCrop() {
	g := graph.New("crop")
	x := g.Input("x", graph.F32, graph.Ax("n", 16), graph.Ax("h", 32), graph.Ax("w", 32), graph.Ax("c", 3))
	padding, p := g.Scalar("padding", 4, graph.F32), g.Scalar("p", 1, graph.F32)
	fmt.Println(augment.RandomCrop(x, padding, p, 28, 28).Shape(), g.Err())
	// Output: [n=16 h=28 w=28 c=3] <nil>
}
