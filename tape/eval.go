package tape

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
)

// Eval computes the values of nodes of one graph: it compiles them, runs the program once, and
// closes it.
//
//	values, err := tape.Eval(ctx, tape.Feed{x: tape.Of(x, 1, 2, 3)}, y)
//	fmt.Println(values[y].Data) // []float64
//
// Parameters and states have the values that a fresh store of seed 0 gives them, and random draws
// are those of its first run. The numbers are float64, whatever the element type; an i64 beyond
// ±2⁵³ is rounded. Mistakes of the graph, and errors of [Program.NewVM] and [VM.Run], are returned
// as they are; no node is an error.
//
// A program that runs more than once, or with other parameters, is compiled once; see [Compile].
func Eval(ctx context.Context, feed Feed, nodes ...*graph.Node) (graph.Values, error) {
	if len(nodes) == 0 {
		return nil, errors.New("eval: want a node to compute")
	}
	g := graph.Of(nodes...)
	prog, err := Compile(g, Fetch(nodes...))
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(NewStore(g))
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	if err := vm.Run(ctx, feed); err != nil {
		return nil, err
	}
	out := make(graph.Values, len(nodes))
	for _, n := range nodes {
		data, err := vm.Floats(n)
		if err != nil {
			return nil, err
		}
		out[n] = graph.Value{Type: n.Type(), Data: data}
	}
	return out, nil
}

// Floats returns a copy of a fetched or watched value of the last run as float64, row-major,
// whatever its element type; true is 1. Errors are those of [VM.Value], which copies nothing and
// keeps the type.
func (vm *VM) Floats(n *graph.Node) ([]float64, error) {
	t, err := vm.Value(n)
	if err != nil {
		return nil, err
	}
	a, err := ArrayOf(n.Type(), t)
	if err != nil {
		return nil, err
	}
	return a.Value().Data, nil
}
