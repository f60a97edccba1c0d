package randgraph

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// The productions below have jumps or kinks, or make masks and indices: they
// look at leaves only, whose elements keep apart from each other and from 0.

func kink(m *maker) *graph.Node {
	x := m.pick(m.apart)
	switch m.rnd.IntN(5) {
	case 0:
		return ops.ReLU(x)
	case 1:
		return ops.Abs(x)
	case 2:
		return ops.Scale(ops.Sign(x), 0.5)
	case 3:
		return ops.Maximum(m.meet(x, m.pick(m.apart)))
	}
	return ops.Minimum(m.meet(x, m.pick(m.apart)))
}

func mask(m *maker) *graph.Node {
	a, b := m.meet(m.pick(m.apart), m.pick(m.apart))
	less := ops.Less(a, b)
	if k := len(m.floats); k%5 == 0 && less.Rank() > 0 {
		over := []func(*graph.Node, ...any) *graph.Node{ops.Any, ops.All}[k%2]
		return over(less, k/5%less.Rank())
	}
	switch m.rnd.IntN(6) {
	case 0:
		return ops.LessEqual(a, b)
	case 1:
		return ops.Equal(a, b)
	case 2:
		return ops.NotEqual(a, b)
	case 3:
		return ops.And(less, ops.Not(ops.Less(a, ops.Lit(a, 0))))
	case 4:
		return ops.Or(less, ops.Less(b, ops.Lit(b, 0)))
	}
	return less
}

func choose(m *maker) *graph.Node {
	a, b := m.meet(m.pick(m.apart), m.pick(m.apart))
	return ops.Select(ops.Less(a, b), ops.Tanh(a), ops.Sin(b))
}

func extremum(m *maker) *graph.Node {
	x := m.pick(m.apart)
	if x.Rank() == 0 {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	switch m.rnd.IntN(6) {
	case 4:
		return ops.Sort(x, a, ops.SortOrder(m.rnd.IntN(2)))
	case 5:
		return ops.CumMax(x, a)
	case 0:
		return ops.Max(x, a)
	case 1:
		return ops.Max(x)
	case 2:
		return ops.Min(x, a, ops.Keep)
	}
	return ops.Min(x)
}

func index(m *maker) *graph.Node {
	x := m.pick(m.apart)
	if x.Rank() == 0 {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	least := m.rnd.IntN(2) == 0
	switch {
	case len(m.floats)%3 == 0:
		row := ops.Sort(ops.ReshapeTo(x, onlyAxis(x.Shape().Len())), 0)
		return ops.SearchSorted(row, m.pick(m.apart), 0, ops.Side(a%2))
	case least:
		return ops.ArgMin(x, a)
	case m.Graph.Len()%3 == 0:
		return bytes(ops.ArgMax(x, a), m.Graph.Len()%2 == 0)
	}
	return ops.Cast(ops.ArgMax(x, a), graph.I32)
}

// bytes is a product or a convolution of small integers, as bytes, with constant weights of i8.
func bytes(x *graph.Node, convolve bool) *graph.Node {
	g, n := x.Graph(), x.Shape().Len()
	zero, w := g.Constant(graph.U8, []float64{1}), make([]float64, 2*n)
	for i := range w {
		w[i] = float64(i%7 - 3)
	}
	row := ops.ReshapeTo(ops.Cast(x, graph.U8), onlyAxis(n))
	if n < 2 || !convolve {
		return ops.MatMulInteger(ops.Reshape(row, 1, n), g.Constant(graph.I8, w, graph.Dims(n, 2)...), zero)
	}
	return ops.ConvInteger(ops.Reshape(row, n, 1), g.Constant(graph.I8, w[:4], graph.Dims(2, 1, 2)...), zero)
}

// positions are indices below n, some of them equal: a constant or an input.
func (m *maker) positions(n int) *graph.Node {
	data := make([]float64, 2+m.rnd.IntN(3))
	for i := range data {
		data[i] = float64(m.rnd.IntN(n))
	}
	if m.wide && m.rnd.IntN(2) == 0 {
		x := m.Graph.Input(fmt.Sprintf("at%d", m.Graph.Len()), graph.I32, graph.Dims(len(data))...)
		m.Values[x] = graph.Value{Type: x.Type(), Data: data}
		return x
	}
	return m.Graph.Constant([]graph.DType{graph.I32, graph.I64}[m.rnd.IntN(2)], data, graph.Dims(len(data))...)
}

func gather(m *maker) *graph.Node {
	x := m.matrix(m.pick(m.floats))
	a := m.rnd.IntN(2)
	if n := x.Dim(a); len(m.floats)%3 == 0 {
		size := 1 + n/2
		start := ops.At(m.positions(n-size+1), 0, 0)
		part := ops.DynamicSlice(x, start, size, a)
		if n%2 == 0 {
			return part
		}
		return ops.DynamicUpdate(x, start, ops.Tanh(part), a)
	}
	return ops.Gather(x, m.positions(x.Dim(a)), a)
}

func scatter(m *maker) *graph.Node {
	x := m.matrix(m.pick(m.floats))
	how := m.rnd.IntN(4)
	size := 4
	if how < 2 {
		size = x.Dim(0)
	}
	ix := m.positions(size)
	rows := ops.Gather(x, ops.Cast(ops.Scale(ix, 0), ix.DType()), 0)
	switch how {
	case 0:
		return ops.SetAt(x, ix, ops.Scale(rows, 0.5), 0)
	case 1:
		return ops.Scale(ops.AddAt(x, ix, rows, 0), 0.25)
	case 2:
		ix, size = ops.FirstEqual(ix), ix.Shape().Len()
		return ops.Scale(ops.ScatterAdd(ix, rows, 0, graph.Dims(size, x.Dim(1))...), 0.25)
	}
	return ops.Scale(ops.ScatterAdd(ix, rows, 0, graph.Dims(4, x.Dim(1))...), 0.25)
}

func oneHot(m *maker) *graph.Node {
	return ops.OneHot(m.positions(3), m.rnd.IntN(2), graph.Axis{Size: 3}, m.dt)
}

func concat(m *maker) *graph.Node {
	x := m.pick(m.floats)
	if x.Rank() == 0 || 3*x.Shape().Len() > m.most {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	if len(m.floats)%4 == 3 { // with a piece that has no elements
		return ops.Concat(a, ops.Slice(x, a, 0, 1), ops.Cos(ops.Slice(x, a, x.Dim(a), x.Dim(a))), ops.Tanh(x), ops.Neg(x))
	}
	return ops.Concat(a, ops.Slice(x, a, 0, 1), ops.Tanh(x), ops.Neg(x))
}
