package nn

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Upsampling says to what size [Upsample] brings the spatial axes, and how: with Factors or with
// Sizes, one number for each axis, or one for all.
type Upsampling struct {
	Factors []int // by which the sizes are multiplied
	Sizes   []int // the new sizes, which may be smaller than the old ones
	// Linear interpolates between the two nearest elements of each axis: linear over one axis,
	// bilinear over two. Without it, an element is repeated.
	Linear bool
	// AlignCorners lays the first and the last element of an axis onto those of the new one. Without
	// it, the elements are intervals side by side, and the edges of the axis meet. It needs Linear.
	AlignCorners bool
}

// Upsample returns floats x[n … c] with another number of places along its spatial axes, those
// between the batch and the channels, as PyTorch's interpolate does. An axis of n elements gets m:
// new element i is old element ⌊i·n/m⌋, computed without rounding; or, with Linear, it is
// interpolated at (i + 1/2)·n/m − 1/2, and at i·(n − 1)/(m − 1) with AlignCorners, where places
// beyond the first and the last element count as these. To a smaller size it leaves elements out
// and averages nothing; see [ops.AvgPool2D].
//
// Factors and Sizes together, neither, numbers below 1, and AlignCorners without Linear are
// mistakes.
func Upsample(x *graph.Node, u Upsampling) *graph.Node {
	axes := positions(x)
	if len(axes) == 0 {
		return wantPositions("Upsample", x)
	}
	defer x.Graph().Calling("Upsample", x)()
	sizes, err := u.sizes(x, len(axes))
	if err != nil {
		return x.Graph().Fail("Upsample", err, x)
	}
	for i, m := range sizes {
		x = u.resized(x, i+1, m)
	}
	return x
}

// sizes returns the new sizes of the spatial axes.
func (u Upsampling) sizes(x *graph.Node, axes int) ([]int, error) {
	given := u.Sizes
	switch {
	case (len(u.Factors) == 0) == (len(u.Sizes) == 0):
		return nil, &graph.Mistake{Problem: fmt.Sprintf("factors %v and sizes %v", u.Factors, u.Sizes), Fix: "give either"}
	case u.AlignCorners && !u.Linear:
		return nil, &graph.Mistake{Problem: "corners are aligned only where elements are interpolated", Fix: "set Linear"}
	case len(u.Factors) > 0:
		given = u.Factors
	}
	if len(given) != 1 && len(given) != axes {
		return nil, fmt.Errorf("%d numbers %v for %d spatial axes: want one for each, or one for all", len(given), given, axes)
	}
	sizes := make([]int, axes)
	for i := range sizes {
		v := given[min(i, len(given)-1)]
		if v < 1 {
			return nil, fmt.Errorf("%v: want numbers from 1", given)
		}
		sizes[i] = v
		if len(u.Factors) > 0 {
			if n := x.Dim(i + 1); v > math.MaxInt32/n {
				return nil, fmt.Errorf("factor %d of axis %v", v, x.Shape().Axis(i+1))
			}
			sizes[i] = v * x.Dim(i+1)
		}
	}
	return sizes, nil
}

// resized gives axis a of x the size m.
func (u Upsampling) resized(x *graph.Node, a, m int) *graph.Node {
	if !x.IsValid() || x.Dim(a) == m {
		return x
	}
	n := x.Dim(a)
	low, high, share := make([]float64, m), make([]float64, m), make([]float64, m)
	for i := range m {
		if !u.Linear {
			low[i] = float64(int64(i) * int64(n) / int64(m))
			continue
		}
		at := (float64(i)+0.5)*float64(n)/float64(m) - 0.5
		if u.AlignCorners {
			at = float64(i) * float64(n-1) / float64(max(1, m-1))
		}
		at = min(max(at, 0), float64(n-1))
		low[i] = math.Floor(at)
		high[i], share[i] = min(low[i]+1, float64(n-1)), at-low[i]
	}
	axis := x.Shape().Axis(a)
	axis.Size = m
	taken := func(index []float64) *graph.Node {
		return ops.Gather(x, x.Graph().Constant(graph.I64, index, axis), a)
	}
	y := taken(low)
	if !u.Linear || n == 1 {
		return y
	}
	column := graph.Dims(make([]int, x.Rank()-a)...)
	for i := range column {
		column[i].Size = 1
	}
	column[0] = axis
	w := x.Graph().Constant(build.DType(x), share, column...)
	return ops.Add(ops.Mul(ops.OneMinus(w), y), ops.Mul(w, taken(high)))
}
