package rnn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
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

// A recurrence of any length is one node; its step is any function of nodes.
func ExampleRecur() {
	g := graph.New("echo")
	h := graph.Ax("h", 4)
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("t", 1000), graph.Ax("m", 3))
	cell := rnn.NewLSTM(g, "lstm", graph.F32, graph.Ax("m", 3), h)
	y := rnn.Recur{Cell: cell}.Of(x)
	fmt.Println(y.Shape(), g.Len() < 60, g.Err())
	// Output: [b=2 t=1000 h=4] true <nil>
}

// The hidden values at all times, and the state after the last: hidden values and memory.
func ExampleNewLSTM() {
	g := graph.New("lstm")
	d, h := graph.Ax("d", 8), graph.Ax("h", 16)
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("t", 5), d)
	all, final := rnn.Recur{Name: "reader", Cell: rnn.NewLSTM(g, "lstm", graph.F32, d, h)}.Read(x)
	fmt.Println(all.Shape(), final[0].Shape(), final[1].Shape())
	for _, p := range g.Leaves(graph.RoleParam) {
		fmt.Println(p.Path(), p.Shape())
	}
	// Output:
	// [b=2 t=5 h=16] [b=2 h=16] [b=2 h=16]
	// lstm/in/w [d=8 g=64]
	// lstm/in/b [g=64]
	// lstm/hidden/w [h=16 g=64]
}

// fading is a cell without parameters of its own: h_t = Keep·h_{t−1} + x_t.
type fading struct{ Keep *graph.Node }

func (c fading) Start(batch ...graph.Axis) []*graph.Node {
	shape, err := graph.NewShape(append(batch, graph.Ax("h", 1))...)
	if err != nil {
		return []*graph.Node{c.Keep.Graph().Fail("fading", err)}
	}
	return []*graph.Node{ops.BroadcastTo(ops.Lit(c.Keep, 0), shape)}
}

func (c fading) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	return []*graph.Node{ops.Add(ops.Mul(c.Keep, state[0]), ops.Rename(x, -1, "h")).As("h")}
}

// A cell of one's own is a struct of the nodes that it uses, with two methods.
func ExampleCell() {
	g := graph.New("fading")
	x := g.Constant(graph.F32, []float64{8, 0, 0, 1}, graph.Ax("b", 1), graph.Ax("t", 4), graph.Ax("d", 1))
	cell := fading{Keep: g.Constant(graph.F32, []float64{0.5})}
	show(rnn.Recur{Cell: cell}.Of(x))
	// Output: [b=1 t=4 h=1] [8 4 2 2]
}

// Two layers of both directions, with a shortcut past the second.
func ExampleStack() {
	g := graph.New("stack")
	d, h, both := graph.Ax("d", 8), graph.Ax("h", 16), graph.Ax("h", 32)
	layer := func(name string, in graph.Axis) rnn.Bidirectional {
		return rnn.Bidirectional{
			Name:     name,
			Forward:  rnn.Recur{Cell: rnn.NewGRU(g, name+"/forward", graph.F32, in, h)},
			Backward: rnn.Recur{Cell: rnn.NewGRU(g, name+"/backward", graph.F32, in, h), Reverse: true},
		}
	}
	stack := rnn.Stack{Layers: []nn.Layer{layer("first", d), layer("second", both)}, Skip: true}
	y := stack.Of(g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("t", 5), d))
	fmt.Println(y.Shape(), g.Err())
	// Output: [b=2 t=5 h=32] <nil>
}

// The mean of each value and the one before it.
func ExampleFIR() {
	g := graph.New("filter")
	mean := rnn.FIR{Taps: g.Constant(graph.F32, []float64{0.5, 0.5}, graph.Ax("k", 2))}
	show(mean.Of(g.Constant(graph.F32, []float64{2, 4, 6, 0}, graph.Ax("b", 1), graph.Ax("t", 4))))
	// Output: [b=1 t=4] [1 3 5 3]
}
