package attention_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
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

// Two keys and a query that is like the first.
func ExampleAttend() {
	g := graph.New("attend")
	t, u, d := graph.Ax("t", 1), graph.Ax("u", 2), graph.Ax("d", 2)
	q := g.Constant(graph.F32, []float64{4, 0}, t, d)
	k := g.Constant(graph.F32, []float64{1, 0, 0, 1}, u, d)
	v := g.Constant(graph.F32, []float64{10, 20}, u, graph.Ax("f", 1))
	y, α := attention.Attend(q, k, v, nil)
	show(α)
	show(y)
	// Output:
	// [t=1 u=2] [0.944 0.0558]
	// [t=1 f=1] [10.6]
}

// Self-attention of a sequence to its past, with four heads.
func ExampleMultiHead() {
	g := graph.New("heads")
	t, m := graph.Ax("t", 10), graph.Ax("m", 64)
	x := g.Input("x", graph.F32, graph.Ax("b", 2), t, m)
	a := attention.NewMultiHead(g, "attention", graph.F32, m, m, 4).WithBias()
	y := a.Of(x, x, attention.Causal(g, t, t))
	fmt.Println(y.Shape(), g.Err())
	for _, p := range g.Leaves(graph.RoleParam) {
		fmt.Println(p.Path(), p.Shape())
	}
	// Output:
	// [b=2 t=10 m=64] <nil>
	// attention/query/w [m=64 he=64]
	// attention/key/w [m=64 he=64]
	// attention/value/w [m=64 he=64]
	// attention/output/w [he=64 m=64]
	// attention/query/b [he=64]
	// attention/key/b [he=64]
	// attention/value/b [he=64]
	// attention/output/b [m=64]
}

// A query sees the keys up to its own place.
func ExampleCausal() {
	g := graph.New("mask")
	t := graph.Ax("t", 3)
	show(ops.Cast(attention.Causal(g, t, t), graph.F32))
	// Output: [t=3 t′=3] [1 0 0 1 1 0 1 1 1]
}

// Sequences of 3 and 1 elements in arrays of 4.
func ExamplePadding() {
	g := graph.New("mask")
	lengths := g.Constant(graph.I64, []float64{3, 1}, graph.Ax("b", 2))
	show(ops.Cast(attention.Padding(lengths, graph.Ax("u", 4)), graph.F32))
	// Output: [b=2 1 u=4] [1 1 1 0 1 0 0 0]
}

func ExampleSinusoidal() {
	g := graph.New("positions")
	t, m := graph.Ax("t", 2), graph.Ax("m", 4)
	show(attention.Sinusoidal(g, graph.F32, t, m))
	// Output: [t=2 m=4] [0 1 0 1 0.841 0.54 0.01 1]
}

// The product of a query and a key that are turned by their places depends on the distance of the
// places alone.
func ExampleRotary() {
	g := graph.New("rotary")
	m := graph.Ax("m", 2)
	q, k := g.Constant(graph.F32, []float64{1, 0}, m), g.Constant(graph.F32, []float64{1, 1}, m)
	at := func(x *graph.Node, place float64) *graph.Node {
		return attention.Rotary(ops.Expand(x, 0, "t"), g.Constant(graph.F32, []float64{place}, graph.Ax("t", 1)))
	}
	show(ops.Sum(ops.Mul(at(q, 3), at(k, 5))))
	show(ops.Sum(ops.Mul(at(q, 10), at(k, 12))))
	// Output:
	// [] [0.493]
	// [] [0.493]
}

// Blocks of self-attention and feed-forward layers, as in a transformer.
func ExampleEncoder() {
	g := graph.New("encoder")
	b := attention.Blocks{Layers: 2, Heads: 4, Width: graph.Ax("m", 32), Hidden: graph.Ax("f", 128), Activation: ops.GELU}
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("t", 10), b.Width)
	y := attention.NewEncoder(g, "encoder", graph.F32, b).Of(x, nil)
	fmt.Println(y.Shape(), len(g.Leaves(graph.RoleParam)), "parameters", g.Err())
	// Output: [b=2 t=10 m=32] 26 parameters <nil>
}

// A deep stack of which each block is a checkpoint, and one whose blocks have dropout behind them,
// in a checkpoint each. Training takes a part of the memory.
func ExampleBlocks_checkpoint() {
	arena := func(build func(g *graph.Graph, x *graph.Node, b attention.Blocks) *graph.Node, b attention.Blocks) int {
		g := graph.New("deep")
		b.Heads, b.Width, b.Hidden, b.Activation = 2, graph.Ax("m", 16), graph.Ax("f", 64), ops.GELU
		x := g.Input("x", graph.F32, graph.Ax("b", 8), graph.Ax("t", 32), b.Width)
		loss := ops.Mean(ops.Square(build(g, x, b)))
		program, err := tape.Compile(g, tape.Fetch(grad.Of(loss, g.Params()...)...))
		if err != nil {
			log.Fatal(err)
		}
		return program.Arena()
	}
	stack := func(g *graph.Graph, x *graph.Node, b attention.Blocks) *graph.Node {
		return attention.NewEncoder(g, "encoder", graph.F32, b).Of(x, nil)
	}
	all := arena(stack, attention.Blocks{Layers: 12})
	fmt.Println(arena(stack, attention.Blocks{Layers: 12, Checkpoint: true}) < all/4)

	dropped := func(g *graph.Graph, x *graph.Node, b attention.Blocks) *graph.Node {
		rate := g.Constant(graph.F32, []float64{0.1})
		for i := range 12 {
			block := attention.NewEncoderBlock(g, fmt.Sprint("block", i), graph.F32, b)
			x = grad.Checkpoint(func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{nn.Dropout(block.Of(x[0], nil), rate)}
			})(x)[0]
		}
		return x
	}
	fmt.Println(arena(dropped, attention.Blocks{}) < all/4)
	// Output:
	// true
	// true
}
