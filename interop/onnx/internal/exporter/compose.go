package exporter

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// composition says what a node computes by other operations, in a graph of its own, of stand-ins for the
// operands.
type composition func(g *graph.Graph, n *graph.Node, x []*graph.Node) *graph.Node

// inOps returns the rule of an operation that is composed of others of package ops.
func inOps(f composition) rule {
	return func(s site) value {
		g := graph.New("composed")
		x, values := make([]*graph.Node, s.n.NumIn()), s.all()
		for i := range x {
			v := values[i]
			if v.pack != nil || !slices.Equal(v.dims, s.n.In(i).Shape().Sizes()) {
				v = s.whole(i)
			}
			values[i] = v
			x[i] = g.Input(fmt.Sprint("x", i), s.n.In(i).DType().Wide(), graph.Dims(v.dims...)...)
		}
		out := f(g, s.n, x)
		if err := g.Err(); err != nil {
			return s.refuse("%v", err)
		}
		return s.inlined(x, values, out)[0]
	}
}

// composed is inOps for values that belong to no node.
func (e *emitter) composed(f func(x []*graph.Node) *graph.Node, in ...value) value {
	g := graph.New("composed")
	x := make([]*graph.Node, len(in))
	for i, v := range in {
		x[i] = g.Input(fmt.Sprint("x", i), dtypeOf(v.elem), graph.Dims(v.dims...)...)
	}
	return e.inlined(x, in, f(x))[0]
}

func dtypeOf(elem format.DataType) graph.DType {
	for dt, e := range elems {
		if e == elem {
			return dt
		}
	}
	return graph.InvalidDType
}

// inlined writes what nodes of another graph compute, where values stand for some of its inputs.
func (e *emitter) inlined(in []*graph.Node, values []value, out ...*graph.Node) []value {
	of := map[*graph.Node]value{}
	for i, n := range in {
		of[n] = values[i]
	}
	return e.within(of, out)
}
