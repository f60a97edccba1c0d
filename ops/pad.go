package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Pad adds elements of value v along one axis of x, before and after its own: from [… n …] it makes
// [… before+n+after …]. x is of any element type; v must be a value of it, as for [Lit], and true
// is 1. A negative count, or one above 2³⁰, is a mistake.
func Pad(x *graph.Node, axis any, before, after int, v float64) *graph.Node {
	defer calling("Pad", x)()
	return around("Pad", x, axis, before, after, func(int) int { return maxStep }, func(a int) *graph.Node {
		if v == 0 && x.DType() != graph.Bool { // the transpose of a slice
			start, step, to := make([]int, x.Rank()), slices.Repeat([]int{1}, x.Rank()), x.Shape().Axes()
			start[a] = before
			to[a].Size += before + after
			s, err := graph.NewShape(to...)
			if err != nil {
				return x.Graph().Fail("Pad", err, x)
			}
			return graph.Apply(place{attr.IntsOf(start...), attr.IntsOf(step...), s}, x)
		}
		edge := func(n int) *graph.Node {
			axes := x.Shape().Axes()
			axes[a].Size = n
			s, err := graph.NewShape(axes...)
			if err != nil {
				return x.Graph().Fail("Pad", err, x)
			}
			return BroadcastTo(Lit(x, v), s)
		}
		return between(x, a, before, edge, after, edge)
	})
}

// ReflectPad adds the reflections of the first and last elements of x along one axis, without
// repeating the outermost: 2 1 | 0 1 2 3 | 2 1. From [… n …] it makes [… before+n+after …]. x is of
// any element type. Counts below 0 or above n − 1 are a mistake.
func ReflectPad(x *graph.Node, axis any, before, after int) *graph.Node {
	defer calling("ReflectPad", x)()
	return around("ReflectPad", x, axis, before, after, func(a int) int { return x.Dim(a) - 1 }, func(a int) *graph.Node {
		last := x.Dim(a) - 1
		return between(x, a,
			before, func(n int) *graph.Node { return Reverse(Slice(x, a, 1, n+1), a) },
			after, func(n int) *graph.Node { return Reverse(Slice(x, a, last-n, last), a) })
	})
}

// around checks how many elements are to be laid around an axis, and goes on if
// there are any.
func around(what string, x *graph.Node, axis any, before, after int,
	most func(axis int) int, f func(axis int) *graph.Node) *graph.Node {
	return withAxes(what, x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		switch n := most(a); {
		case min(before, after) < 0 || max(before, after) > n:
			err := fmt.Errorf("%d and %d elements around axis %v: want 0 to %d", before, after, x.Shape().Axis(a), n)
			return x.Graph().Fail(what, err, x)
		case before == 0 && after == 0:
			return x
		}
		return f(a)
	})
}

// between joins x with what first and last make for the elements before and after it.
func between(x *graph.Node, axis, before int, first func(n int) *graph.Node, after int, last func(n int) *graph.Node) *graph.Node {
	parts := []*graph.Node{x}
	if before > 0 {
		parts = []*graph.Node{first(before), x}
	}
	if after > 0 {
		parts = append(parts, last(after))
	}
	return Concat(axis, parts...)
}
