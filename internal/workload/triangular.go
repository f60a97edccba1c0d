package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// triangular fits products L·x of n triangular matrices, whose d(d+1)/2 parameters lie packed.
func triangular(n, d int) build {
	return func(b *builder) (*graph.Node, float64) {
		kn, dn := graph.Ax("k", n), graph.Ax("d", d)
		x, target := b.input("x", 150, kn, dn), b.input("target", 151, kn, graph.Ax("e", d))
		packed := b.param("packed", 152, 1, kn, graph.Ax("m", d*(d+1)/2))
		L := ops.Rename(lower(packed, dn, 1), 1, "e")                                  // [k e d]
		return squaredError(ops.Einsum("k e d, k d -> k e", L, x), target), float64(n) // for each its own step of 1
	}
}

// lower is a square matrix over the axis d for each row of packed[k m], which holds the elements
// below the diagonal number upTo (0 is the middle one), row by row.
func lower(packed *graph.Node, d graph.Axis, upTo int) *graph.Node {
	var at []float64
	for i := range d.Size {
		for j := range i + upTo {
			at = append(at, float64(i*d.Size+j))
		}
	}
	index := graph.Of(packed).Constant(graph.I64, at, last(packed))
	square := graph.Ax("e", d.Size*d.Size)
	return ops.Split(ops.ScatterAdd(index, packed, square.Name, packed.Shape().Axis(0), square), square.Name, graph.Ax("", d.Size), d)
}
