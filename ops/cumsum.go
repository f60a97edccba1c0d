package ops

import "github.com/tapestry-ml/tapestry/graph"

// CumSum returns the running sum of numbers x along an axis, in the shape of x: y_t = Σ_{s≤t} x_s.
// It makes ⌈log₂ n⌉ additions of the array to itself, shifted by 1, 2, 4, … (Hillis & Steele,
// 1986), and no n×n matrix.
func CumSum(x *graph.Node, axis any) *graph.Node {
	defer calling("CumSum", x)()
	return withAxes("CumSum", x, []any{axis}, func(list []int) *graph.Node {
		defer x.Graph().Scope("running sum")()
		y, a := x, list[0]
		for shift := 1; shift < x.Dim(a); shift *= 2 {
			y = Add(y, Pad(Slice(y, a, 0, x.Dim(a)-shift), a, shift, 0, 0))
		}
		return y
	})
}
