package randgraph

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// convolution slides over rows with a kernel made of the first two of them, for one or two
// channels.
func convolution(m *maker) *graph.Node {
	x := m.matrix(m.pick(m.floats))
	if x.Dim(0) < 2 {
		return nil
	}
	w := ops.Expand(ops.Slice(x, 0, 0, 2), 2, "")
	if m.rnd.IntN(2) == 0 {
		w = ops.Concat(2, w, ops.Neg(w))
	}
	c := 1 / float64(2*x.Dim(1))
	switch m.rnd.IntN(3) {
	case 0:
		return ops.Scale(ops.Conv1D(x, w, ops.Padding(1)), c)
	case 1:
		return ops.Scale(ops.Conv1D(x, w, ops.Padding(1), ops.Stride(2)), c)
	}
	return ops.Scale(ops.Conv1D(x, w), c)
}

// pool looks at leaves where it takes the largest, whose elements keep apart.
func pool(m *maker) *graph.Node {
	if m.rnd.IntN(2) == 0 {
		if x := m.matrix(m.pick(m.apart)); x.Dim(0) >= 2 {
			return ops.MaxPool1D(x, ops.Size(2), ops.Stride(1+m.rnd.IntN(2)), ops.Padding(m.rnd.IntN(2)))
		}
		return nil
	}
	x := m.matrix(m.pick(m.floats))
	if x.Dim(0) < 2 {
		return nil
	}
	return ops.AvgPool1D(x, ops.Size(2), ops.Stride(1), ops.Padding(1))
}

// padded lays zeros round an axis and may take a part that reaches into them.
func padded(m *maker) *graph.Node {
	x := m.pick(m.floats)
	if x.Rank() == 0 || 3*x.Shape().Len() > m.most {
		return nil
	}
	a := m.rnd.IntN(x.Rank())
	n := x.Dim(a)
	return ops.Slice(ops.Pad(x, a, 1, m.rnd.IntN(3), 0), a, m.rnd.IntN(2), n+1)
}
