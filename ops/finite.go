package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// IsNaN returns the mask of the elements of floats x that are NaN.
func IsNaN(x *graph.Node) *graph.Node {
	return masked("IsNaN", x, func() *graph.Node { return NotEqual(x, x) })
}

// IsInf returns the mask of the elements of floats x that are infinite, of either sign.
func IsInf(x *graph.Node) *graph.Node {
	return masked("IsInf", x, func() *graph.Node { return Equal(Abs(x), Lit(x, math.Inf(1))) })
}

// IsFinite returns the mask of the elements of floats x that are neither infinite nor NaN.
func IsFinite(x *graph.Node) *graph.Node {
	return masked("IsFinite", x, func() *graph.Node { return Less(Abs(x), Lit(x, math.Inf(1))) })
}

// masked returns a mask of floats x, in the name of the function that was called.
func masked(what string, x *graph.Node, of func() *graph.Node) *graph.Node {
	defer calling(what, x)()
	if !x.IsValid() {
		return graph.Of(x).Fail(what, errNil, x)
	}
	if err := wantFloat(x); err != nil {
		return x.Graph().Fail(what, err, x)
	}
	return of()
}
