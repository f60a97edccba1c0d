package randgraph

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// meet lays two nodes out so that an elementwise operation takes both: as they
// are if they fit, over their axes in any order if all are named, and else with
// b shrunk to one of its elements.
func (m *maker) meet(a, b *graph.Node) (x, y *graph.Node) {
	if s, err := graph.Align(a.Shape(), b.Shape()); err == nil && s.Rank() <= m.ranks && s.Len() <= m.most {
		return a, b
	}
	if names, ok := m.union(a, b); ok {
		m.rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		return ops.Over(a, names...), ops.Over(b, names...)
	}
	return a, ops.Squeeze(ops.Slice(ops.Reshape(b, -1), 0, 0, 1), 0)
}

// union lists the axes of two nodes whose axes are all named, if the outer
// product is small enough.
func (m *maker) union(a, b *graph.Node) (names []string, ok bool) {
	size := map[string]int{}
	n := 1
	for _, ax := range append(a.Shape().Axes(), b.Shape().Axes()...) {
		if !slices.Contains(names, ax.Name) {
			names = append(names, ax.Name)
			size[ax.Name] = 1
		}
		if ax.Name == "" || size[ax.Name] != ax.Size && size[ax.Name] != 1 && ax.Size != 1 {
			return nil, false
		}
		n *= max(1, ax.Size/size[ax.Name])
		size[ax.Name] = max(size[ax.Name], ax.Size)
	}
	return names, len(names) <= m.ranks && n <= m.most
}

// matrix is a node as a matrix of a few rows without names.
func (m *maker) matrix(x *graph.Node) *graph.Node {
	n := x.Shape().Len()
	rows := 1
	for _, r := range []int{2, 3, 4} {
		if n%r == 0 && m.rnd.IntN(2) == 0 {
			rows = r
		}
	}
	return named(ops.Reshape(x, rows, n/rows), "", "")
}

// rows are two matrices with rows of equal length.
func (m *maker) rows() (x, r *graph.Node) {
	x, r = m.matrix(m.pick(m.floats)), m.matrix(m.pick(m.floats))
	if x.Dim(1) != r.Dim(1) {
		r = ops.Scale(ops.Reverse(ops.Slice(x, 0, 0, 1), 1), 0.5)
	}
	if m.rnd.IntN(2) == 0 {
		return r, x
	}
	return x, r
}

// named gives the axes of a matrix names.
func named(x *graph.Node, first, second string) *graph.Node {
	s, _ := graph.NewShape(graph.Ax(first, x.Dim(0)), graph.Ax(second, x.Dim(1)))
	return ops.ReshapeTo(x, s)
}
