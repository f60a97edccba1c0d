package randgraph

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// mostInteger bounds the integers, which are exact then in every type.
const mostInteger = 1 << 16

// integerLeaves makes inputs of small numbers.
func (m *maker) integerLeaves() {
	for k, dt := range []graph.DType{graph.I32, graph.I64, graph.I32} {
		n := m.Graph.Input(fmt.Sprintf("k%d", k), dt, m.axes()...)
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = float64(m.rnd.IntN(7) - 3)
		}
		m.Values[n] = v
		m.whole(n, 3)
	}
}

// whole remembers an integer node.
func (m *maker) whole(n *graph.Node, bound int) *graph.Node {
	m.ints = append(m.ints, n)
	m.bound[n] = bound
	return n
}

// integer is arithmetic of integers, and their layouts, sums and comparisons.
func integer(m *maker) *graph.Node {
	x := m.pick(m.ints)
	a, b := m.meet(x, ops.Cast(m.pick(m.ints), x.DType()))
	n, k := m.bound[x], 0
	for _, y := range m.ints {
		k = max(k, m.bound[y])
	}
	switch m.rnd.IntN(12) {
	case 0:
		return m.within(ops.Add(a, b), n+k)
	case 1:
		return m.within(ops.Sub(a, b), n+k)
	case 2:
		if n*k < mostInteger {
			return m.within(ops.Mul(a, b), n*k)
		}
	case 3:
		return m.within(ops.Neg(x), n)
	case 4:
		if n*x.Shape().Len() < mostInteger {
			return m.within(ops.Sum(x), n*x.Shape().Len())
		}
	case 5:
		if x.Rank() > 0 && n*x.Shape().Len() < mostInteger {
			return m.within(ops.CumSum(x, m.rnd.IntN(x.Rank())), n*x.Shape().Len())
		}
	case 6:
		if x.Rank() > 0 {
			return m.within(ops.Max(x, m.rnd.IntN(x.Rank())), n)
		}
	case 7:
		return m.within(ops.Minimum(a, b), max(n, k))
	case 8:
		return m.within(ops.Select(ops.Less(a, b), a, b), max(n, k))
	case 9:
		return m.within(ops.Cast(x, []graph.DType{graph.I32, graph.I64}[m.rnd.IntN(2)]), n)
	case 10:
		if x.Rank() > 0 {
			return ops.ArgMax(x, m.rnd.IntN(x.Rank()))
		}
	}
	if y := m.layout(x); y != nil && y.IsValid() {
		return m.within(y, n)
	}
	return nil
}

// within remembers an integer node whose magnitudes do not exceed a bound, if the bound is small.
func (m *maker) within(n *graph.Node, bound int) *graph.Node {
	if bound >= mostInteger {
		return n
	}
	return m.whole(n, max(1, bound))
}

// number makes floats of integers.
func number(m *maker) *graph.Node {
	x := m.pick(m.ints)
	return ops.Scale(ops.Cast(x, m.dt), 1/float64(m.bound[x]))
}

// picked takes floats at the places of the largest, by indices that are computed.
func picked(m *maker) *graph.Node {
	x := m.pick(m.apart)
	if x.Rank() == 0 {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	at := ops.ArgMax(x, a)
	if x.Shape().Len()*at.Shape().Len() > 8*m.most || x.Rank()-1+at.Rank() > m.ranks {
		return nil
	}
	return ops.Gather(ops.ReshapeTo(x, unnamed(x)), ops.ReshapeTo(at, unnamed(at)), a)
}

// unnamed is a node's shape without names.
func unnamed(x *graph.Node) graph.Shape {
	s, _ := graph.NewShape(graph.Dims(x.Shape().Sizes()...)...)
	return s
}
