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
//	fmt.Println(values[y].Data) // []float64; of a loss, values[loss].Item() is the number
//
// Parameters and states have the values that a fresh store of seed 0 gives them, and random draws
// are those of its first run. The numbers are float64, whatever the element type; an i64 beyond
// ±2⁵³ is rounded. Mistakes of the graph, and errors of [Program.NewVM] and [VM.Run], are returned
// as they are; no node is an error.
//
// With other parameters, it is [Store.Eval]. A program that runs more than once is compiled once; see
// [Compile].
func Eval(ctx context.Context, feed Feed, nodes ...*graph.Node) (graph.Values, error) {
	if len(nodes) == 0 {
		return nil, errors.New("eval: want a node to compute")
	}
	return NewStore(graph.Of(nodes...)).Eval(ctx, feed, nodes...)
}

// Eval is the function [Eval] with the parameters, states and draws of a store, such as that of a model
// that was trained:
//
//	values, err := trainer.Store().Eval(ctx, tape.Feed{x: tape.Of(x, 1, 2, 3)}, prediction)
//
// Parameters and states that the store lacks get fresh values, as for [Program.NewVM]. The run is
// counted, so that the next one draws anew.
func (s *Store) Eval(ctx context.Context, feed Feed, nodes ...*graph.Node) (graph.Values, error) {
	if len(nodes) == 0 {
		return nil, errors.New("eval: want a node to compute")
	}
	prog, err := Compile(graph.Of(nodes...), Fetch(nodes...))
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(s)
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
