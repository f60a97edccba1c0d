package reftest

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// Near says where got differs from want by more than tol. Infinities and NaN
// must be equal.
func Near(got, want []float64, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if same := g == w || g != g && w != w; !same && !(math.Abs(g-w) <= tol) {
			return fmt.Errorf("element %d is %v, want %v (difference %.3g, tolerance %.3g)", i, g, w, g-w, tol)
		}
	}
	return nil
}

// Largest is the largest magnitude among the finite values.
func Largest(v []float64) float64 {
	most := 0.0
	for _, x := range v {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			most = math.Max(most, math.Abs(x))
		}
	}
	return most
}

// Tolerance is how far a kernel of the type may be from the definition after a
// handful of operations on numbers around 1; 0 for types that are exact.
func Tolerance(d graph.DType) float64 {
	switch d {
	case graph.F32:
		return 4e-6
	case graph.F64:
		return 1e-14
	case graph.F16:
		return 4 * 0x1p-11
	case graph.BF16:
		return 4 * 0x1p-8
	}
	return 0
}
