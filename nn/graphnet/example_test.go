package graphnet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
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

// Three nodes in a row; each sees its neighbours and itself.
func ExampleGCN() {
	g := graph.New("gcn")
	i, j := graph.Ax("i", 3), graph.Ax("j", 3)
	A := g.Constant(graph.F32, []float64{0, 1, 0, 1, 0, 1, 0, 1, 0}, i, j)
	x := g.Input("x", graph.F32, i, graph.Ax("d", 8))
	layer := graphnet.NewGCN(g, "gcn", graph.F32, graph.Ax("d", 8), graph.Ax("h", 16))
	h := layer.Of(x, graphnet.Adjacency{A: A}.WithSelf())
	fmt.Println(h.Shape(), g.Err())
	// Output: [i=3 h=16] <nil>
}

// The same graph as a list of edges, both ways: what a node hears is summed up.
func ExampleEdges() {
	g := graph.New("edges")
	i, e := graph.Ax("i", 3), graph.Ax("e", 4)
	edges := graphnet.Edges{
		Source: g.Constant(graph.I64, []float64{0, 1, 1, 2}, e),
		Target: g.Constant(graph.I64, []float64{1, 0, 2, 1}, e),
		Nodes:  i, DT: graph.F32,
	}
	x := g.Constant(graph.F32, []float64{1, 10, 100}, i, graph.Ax("d", 1))
	show(edges.Degree())
	show(edges.Sum(edges.Strength(), x))
	// Output:
	// [i=3] [1 2 1]
	// [i=3 d=1] [10 101 10]
}

// Each node makes of its neighbours' messages the largest, and a readout makes one vector of all
// nodes. There is no global state.
func ExampleNewMessagePassing() {
	g := graph.New("messages")
	i, d, h := graph.Ax("i", 5), graph.Ax("d", 4), graph.Ax("h", 8)
	x, A := g.Input("x", graph.F32, i, d), g.Input("A", graph.F32, i, graph.Ax("j", 5))
	layer := graphnet.NewMessagePassing(g, "layer", graph.F32, graphnet.AggregateMax, d, h, graph.Axis{})
	nodes, _ := layer.Of(x, nil, graphnet.Adjacency{A: A})
	fmt.Println(nodes.Shape(), graphnet.Readout(graphnet.AggregateMean, nodes, nil).Shape(), g.Err())
	// Output: [i=5 h=8] [h=8] <nil>
}
