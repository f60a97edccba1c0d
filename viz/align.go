package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// aligned returns, for each axis of operand k, the axis of y with the same index; ok is false for
// operations that move axes in a way that only the names of the axes tell.
func aligned(y *graph.Node, k int) (axes []int, ok bool) {
	x := y.In(k)
	axes = make([]int, x.Rank())
	if match.Is(y, match.Reshape) {
		at := 0
		for i := range axes {
			for at < y.Rank() && y.Dim(at) == 1 {
				at++
			}
			if axes[i] = at; x.Dim(i) == 1 {
				axes[i] = -1
			} else if at == y.Rank() || y.Dim(at) != x.Dim(i) {
				return nil, false
			} else {
				at++
			}
		}
		return axes, true
	}
	if !trait.IsElementwise(y.Op()) && !match.Is(y, match.Broadcast) {
		return nil, false
	}
	for i := range axes {
		axes[i] = i + y.Rank() - x.Rank()
	}
	return axes, true
}

// operandIndices returns the index of each axis of operand k: that of the axis of y that it is
// aligned with, or else its own name.
func operandIndices(y *graph.Node, k int, own []string) []string {
	x := y.In(k)
	out := make([]string, x.Rank())
	axes, ok := aligned(y, k)
	for i, a := range x.Shape().Axes() {
		switch {
		case a.Size == 1:
		case ok:
			out[i] = own[axes[i]]
		default:
			out[i] = a.Name
		}
	}
	return out
}
