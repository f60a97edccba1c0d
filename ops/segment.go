package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// SegmentSum adds up slices of floats x by number: from x[e d] and ids[e] it makes [n d], where row k is
// the sum of the x whose id is k, and 0 if there is none. The ids, i32 or i64, have the first axes of
// x, in any order, and need not be sorted; the axis segments takes their place. An id outside of it is
// a [trait.IndexError] when the program runs. No array of segments × slices is made.
func SegmentSum(x, ids *graph.Node, segments graph.Axis) *graph.Node {
	return segmented("SegmentSum", x, ids, segments, func(to graph.Shape) *graph.Node {
		return placed(graph.Apply(scatterAdd{0, to}, ids, x))
	})
}

// SegmentMean returns the mean of the slices of each number, and NaN where there is none; it is
// otherwise like [SegmentSum].
func SegmentMean(x, ids *graph.Node, segments graph.Axis) *graph.Node {
	return segmented("SegmentMean", x, ids, segments, func(to graph.Shape) *graph.Node {
		ones := BroadcastTo(Lit(x, 1), ids.Shape())
		per, _ := graph.NewShape(to.Axis(0))
		number := graph.Apply(scatterAdd{0, per}, ids, ones)
		axes := graph.Dims(to.Sizes()...)
		for a := range axes[1:] {
			axes[a+1].Size = 1
		}
		column, _ := graph.NewShape(axes...)
		return Div(placed(graph.Apply(scatterAdd{0, to}, ids, x)), ReshapeTo(number, column))
	})
}

// SegmentMax returns the largest slices of each number, element by element, and −∞ where there is none.
// Equal largest elements share the derivative equally. It is otherwise like [SegmentSum].
func SegmentMax(x, ids *graph.Node, segments graph.Axis) *graph.Node {
	return segmented("SegmentMax", x, ids, segments, func(to graph.Shape) *graph.Node {
		return MaxAt(BroadcastTo(Lit(x, math.Inf(-1)), to), ids, x, 0)
	})
}

// SegmentMin returns the smallest slices of each number, element by element, and ∞ where there is none.
// It is otherwise like [SegmentMax].
func SegmentMin(x, ids *graph.Node, segments graph.Axis) *graph.Node {
	return segmented("SegmentMin", x, ids, segments, func(to graph.Shape) *graph.Node {
		return MinAt(BroadcastTo(Lit(x, math.Inf(1)), to), ids, x, 0)
	})
}

// segmented calls f with the shape of the result.
func segmented(what string, x, ids *graph.Node, segments graph.Axis, f func(to graph.Shape) *graph.Node) *graph.Node {
	defer calling(what, x, ids)()
	g := graph.Of(x, ids)
	if !x.IsValid() || !ids.IsValid() {
		return g.Apply(scatterAdd{}, ids, x)
	}
	if err := wantFloat(x); err != nil {
		return g.Fail(what, err, x, ids)
	}
	rest := x.Shape().Axes()
	rest = rest[min(ids.Rank(), len(rest)):]
	to, err := graph.NewShape(append([]graph.Axis{segments}, rest...)...)
	if err != nil {
		return g.Fail(what, err, x, ids)
	}
	return f(to)
}
