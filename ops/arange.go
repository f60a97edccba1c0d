package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
)

// Arange returns the numbers 0, 1, 2, … along an axis, as a constant of an element type that must
// hold them all. Use [Scale] and [Shift] for other steps.
func Arange(g *graph.Graph, dt graph.DType, axis graph.Axis) *graph.Node {
	defer g.Calling("Arange")()
	return g.ConstantFunc(dt, func(v []float64) {
		for i := range v {
			v[i] = float64(i)
		}
	}, axis)
}

// Linspace returns numbers from first to last, both included, in equal steps along an axis, as a
// constant of an element type that must hold them all; an axis of size 1 has the first alone.
func Linspace(g *graph.Graph, dt graph.DType, first, last float64, axis graph.Axis) *graph.Node {
	defer g.Calling("Linspace")()
	return g.ConstantFunc(dt, func(v []float64) {
		for i := range v {
			v[i] = first
			if i > 0 {
				t := float64(i) / float64(len(v)-1)
				v[i] = float64(first*(1-t)) + float64(last*t) // exact at both ends
			}
		}
	}, axis)
}

// Eye returns the matrix that is 1, or true, where both indices are equal and 0 elsewhere, as a
// constant; the axes may have different sizes.
func Eye(g *graph.Graph, dt graph.DType, rows, cols graph.Axis) *graph.Node {
	defer g.Calling("Eye")()
	return g.ConstantFunc(dt, func(v []float64) {
		for i := range min(rows.Size, cols.Size) {
			v[i*cols.Size+i] = 1
		}
	}, rows, cols)
}
