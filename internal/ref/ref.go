// Package ref evaluates a graph the obvious way: in float64, one node after the
// other, each by the definition in its operation's file. It is the truth that
// everything faster is compared with, and it is slow.
//
// Constants and the results of integer, boolean and narrowing operations are
// rounded to their element types; float32 arithmetic is not imitated: a float32
// graph is evaluated as its float64 meaning.
package ref

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Feed gives inputs, parameters and states their values. Any other node may be
// given one too, which then replaces its computation.
type Feed map[*graph.Node]graph.Value

// elementwise is an operation defined on numbers.
type elementwise interface {
	Scalar(x ...float64) float64
}

// defined is an operation defined on arrays.
type defined interface {
	Eval(env graph.Env, y *graph.Node, in []graph.Value) graph.Value
}

// iterated is an operation that runs a body, defined by how it does.
type iterated interface {
	Iterate(y *graph.Node, in []graph.Value, step func(b *graph.Body, in []graph.Value) ([]graph.Value, error)) (graph.Value, error)
}

// Eval computes the nodes. An input without a value takes its default; a
// missing value, one of another size, or an operation without a definition is
// an error.
func Eval(env graph.Env, feed Feed, nodes ...*graph.Node) ([]graph.Value, error) {
	needed := map[*graph.Node]bool{}
	for _, n := range nodes {
		if n == nil {
			return nil, errors.New("want a node, got nil")
		}
		needed[n] = true
	}
	order := graph.Reachable(nodes...)
	for _, n := range slices.Backward(order) {
		if _, fed := feed[n]; needed[n] && !fed {
			for i := range n.NumIn() {
				needed[n.In(i)] = true
			}
		}
	}
	values := map[*graph.Node]graph.Value{}
	for _, n := range order {
		if !needed[n] {
			continue // only what is fed depends on it
		}
		v, err := eval(env, feed, n, values)
		if err != nil {
			return nil, err
		}
		values[n] = v
	}
	out := make([]graph.Value, len(nodes))
	for i, n := range nodes {
		v, ok := values[n]
		if !ok {
			return nil, fmt.Errorf("node %v is invalid: %w", n, n.Graph().Err())
		}
		out[i] = v
	}
	return out, nil
}

func eval(env graph.Env, feed Feed, n *graph.Node, values map[*graph.Node]graph.Value) (graph.Value, error) {
	if v, ok := feed[n]; ok {
		if len(v.Data) != n.Shape().Len() {
			return v, fmt.Errorf("%v: want %d elements, got %d", n, n.Shape().Len(), len(v.Data))
		}
		v.Type = n.Type()
		return v, nil
	}
	if v, ok := n.Constant(); ok {
		return v, nil
	}
	if d, ok := n.Default(); ok {
		return graph.Value{Type: n.Type(), Data: []float64{d}}, nil
	}
	in := make([]graph.Value, n.NumIn())
	for i := range in {
		in[i] = values[n.In(i)]
	}
	return Apply(env, n, in)
}

// Apply computes one node of the values of its operands. A leaf, or an operation
// without a definition, is an error.
func Apply(env graph.Env, n *graph.Node, in []graph.Value) (graph.Value, error) {
	switch op := n.Op().(type) {
	case elementwise:
		out := graph.NewValue(n.Type())
		x := make([]float64, len(in))
		for p := range out.Data {
			for i := range in {
				x[i] = in[i].Data[p]
			}
			out.Data[p] = op.Scalar(x...)
		}
		return out, nil
	case defined:
		return op.Eval(env, n, in), nil
	case iterated:
		return op.Iterate(n, in, func(b *graph.Body, in []graph.Value) ([]graph.Value, error) {
			inner := Feed{}
			for i, x := range b.In() {
				inner[x] = in[i]
			}
			return Eval(env, inner, b.Out()...)
		})
	}
	return graph.Value{}, fmt.Errorf("%v: no value is given for this %v", n, n.Role())
}
