package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// The definitions below walk arrays by index, element after element in row-major order. They are
// plain, because kernels are compared with them.

// walk calls f with every index of the shape in row-major order. f must not keep ix.
func walk(s graph.Shape, f func(ix []int)) {
	ix := make([]int, s.Rank())
	for range s.Len() {
		f(ix)
		for a := len(ix) - 1; a >= 0; a-- {
			if ix[a]++; ix[a] < s.Dim(a) {
				break
			}
			ix[a] = 0
		}
	}
}

// at is the place of an index in row-major order. Axes of size 1 repeat, and
// leading indices beyond the shape's rank are passed over, as in broadcasting.
func at(s graph.Shape, ix []int) int {
	p := 0
	skip := len(ix) - s.Rank()
	for a := range s.Rank() {
		i := ix[skip+a]
		if s.Dim(a) == 1 {
			i = 0
		}
		p = p*s.Dim(a) + i
	}
	return p
}

// gatherEach defines y by where each element comes from.
func gatherEach(y *graph.Node, x graph.Value, from func(ix []int) int) graph.Value {
	out := graph.NewValue(y.Type())
	p := 0
	walk(y.Shape(), func(ix []int) {
		out.Data[p] = x.Data[from(ix)]
		p++
	})
	return out
}

// dropAxis is the shape without axis a; keep leaves it at size 1.
func dropAxis(s graph.Shape, a int, keep bool) (graph.Shape, error) {
	return reduceShape(s, attr.AxesOf(a), keep)
}

func reduceShape(s graph.Shape, axes attr.AxisSet, keep bool) (graph.Shape, error) {
	var out []graph.Axis
	for i, ax := range s.Axes() {
		switch {
		case !axes.Has(i):
			out = append(out, ax)
		case keep:
			out = append(out, graph.Axis{Name: ax.Name, Size: 1})
		}
	}
	return graph.NewShape(out...)
}

func sizes8(s graph.Shape) (d [8]int) {
	for i := range s.Rank() {
		d[i] = s.Dim(i)
	}
	return d
}
