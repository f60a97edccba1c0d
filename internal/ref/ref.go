// Package ref evaluates a graph the obvious way: in float64, one node after the
// other, each by the definition in its operation's file. It is the truth that
// everything faster is compared with, and it is slow.
//
// Integers wrap around, as in Go, and what float64 does not hold exactly is
// an error. Float32 arithmetic is not imitated: a float32 graph is evaluated as its float64
// meaning.
package ref

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Eval computes the nodes from the values of inputs, parameters and states. Any other node may be
// given a value too, which then replaces its computation. An input without a value takes its default; a
// missing value, one of another size, an operation without a definition, or an
// index outside of its axis ([trait.IndexError]) is an error.
func Eval(env trait.Env, feed graph.Values, nodes ...*graph.Node) ([]graph.Value, error) {
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
	values := graph.Values{}
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

func eval(env trait.Env, feed graph.Values, n *graph.Node, values graph.Values) (graph.Value, error) {
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

// Apply computes one node from the values of its operands. A leaf, or an operation
// without a definition, is an error.
func Apply(env trait.Env, n *graph.Node, in []graph.Value) (graph.Value, error) {
	if err := trait.CheckIndex(n, in); err != nil {
		return graph.Value{}, err
	}
	if n.Shape().Len() == 0 {
		return graph.NewValue(n.Type()), nil
	}
	if n.DType().IsInt() && !slices.ContainsFunc(in, func(v graph.Value) bool { return !v.Type.DType.IsInt() }) {
		switch op := n.Op().(type) {
		case trait.Integers:
			return applyWhole(n, in, func(in [][]int64) []int64 {
				out, x := make([]int64, n.Shape().Len()), make([]int64, len(in))
				for p := range out {
					for i := range in {
						x[i] = in[i][p]
					}
					out[p] = op.Whole(x...)
				}
				return out
			})
		case trait.DefinedIntegers:
			return applyWhole(n, in, func(in [][]int64) []int64 { return op.EvalWhole(n, in) })
		}
	}
	switch op := n.Op().(type) {
	case trait.Elementwise:
		out := graph.NewValue(n.Type())
		x := make([]float64, len(in))
		for p := range out.Data {
			for i := range in {
				x[i] = in[i].Data[p]
			}
			out.Data[p] = op.Scalar(x...)
		}
		return out, nil
	case trait.Defined:
		return op.Eval(env, n, in), nil
	case trait.Iterated:
		return op.Iterate(n, in, func(b *graph.Body, in []graph.Value) ([]graph.Value, error) {
			inner := graph.Values{}
			for i, x := range b.In() {
				inner[x] = in[i]
			}
			return Eval(env, inner, b.Out()...)
		})
	}
	return graph.Value{}, fmt.Errorf("%v: no value is given for this %v", n, n.Role())
}

// applyWhole computes a node of integers in their own arithmetic.
func applyWhole(n *graph.Node, in []graph.Value, f func(in [][]int64) []int64) (graph.Value, error) {
	args := make([][]int64, len(in))
	for i, v := range in {
		args[i] = make([]int64, len(v.Data))
		for p, x := range v.Data {
			args[i][p] = v.Type.DType.Whole(x)
		}
	}
	out := graph.NewValue(n.Type())
	for p, w := range f(args) {
		w = n.DType().Wrap(w)
		if out.Data[p] = float64(w); n.DType().Whole(out.Data[p]) != w {
			return graph.Value{}, fmt.Errorf("%v: element %d is %d: which a definition, in float64, does not hold exactly", n, p, w)
		}
	}
	return out, nil
}
