package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// layouts lists the rules about operations that compute nothing: reshapes, transposes and
// repetitions are joined, cancelled, or moved after operations that they would make larger.
var layouts = []Rule{
	{"layout of a layout", "two reshapes or repetitions in a row are one, and two transposes may be none",
		func(n *graph.Node) *graph.Node {
			if n.NumIn() != 1 || n.In(0).NumIn() != 1 || match.KindOf(n.In(0)) != match.KindOf(n) {
				return nil
			}
			x := n.In(0).In(0)
			switch match.KindOf(n) {
			case match.Reshape:
				return ops.ReshapeTo(x, n.Shape())
			case match.Broadcast:
				return ops.BroadcastTo(x, n.Shape())
			case match.Transpose:
				root, axes := match.Laid(n)
				other, own := match.Laid(x)
				if root == other && slices.Equal(axes, own) && x.Type() == n.Type() {
					return x // both show the same elements in the same order
				}
			}
			return nil
		}},
	{"empty layout", "a reshape or repetition to the shape that is there", func(n *graph.Node) *graph.Node {
		if (match.Is(n, match.Reshape) || match.Is(n, match.Broadcast)) && n.In(0).Type() == n.Type() {
			return n.In(0)
		}
		return nil
	}},
	{"one element", "one element repeated is the same in any layout", func(n *graph.Node) *graph.Node {
		switch match.KindOf(n) {
		case match.Reshape, match.Transpose, match.Slice:
			if x := n.In(0); match.Is(x, match.Broadcast) && x.In(0).Shape().Len() == 1 {
				return ops.BroadcastTo(ops.ReshapeTo(x.In(0), graph.Shape{}), n.Shape())
			}
		}
		return nil
	}},
	{"transposes in a row", "two orders of axes make one", func(n *graph.Node) *graph.Node {
		outer, ok := match.Permuted(n)
		if !ok {
			return nil
		}
		inner, ok := match.Permuted(n.In(0))
		if !ok {
			return nil
		}
		order := make([]any, len(outer))
		for i, a := range outer {
			order[i] = inner[a]
		}
		return ops.Transpose(n.In(0).In(0), order...)
	}},
	{"repeat later", "f(x) repeated is f of x repeated, computed once, as a∘b of two where their shapes meet",
		func(n *graph.Node) *graph.Node {
			if n.NumIn() == 0 || !match.Is(n.In(0), match.Broadcast) || !isElementwise(n) {
				return nil
			}
			in := n.Inputs()
			shapes := make([]graph.Shape, len(in))
			for i, x := range in {
				if !match.Is(x, match.Broadcast) {
					return nil
				}
				in[i], shapes[i] = x.In(0), x.In(0).Shape()
			}
			s, err := graph.Align(shapes...)
			if err != nil || s.Len() == n.Shape().Len() {
				return nil
			}
			for i, x := range in {
				if !x.Shape().SameSizes(s) {
					in[i] = ops.BroadcastTo(x, s)
				}
			}
			return ops.BroadcastTo(n.Graph().Apply(n.Op(), in...), n.Shape())
		}},
	{"sum of a repetition", "a sum over what is repeated is a product by the number of times, and a mean is what was repeated",
		reduceOnce},
	{"sum over nothing", "a sum or mean over axes of size 1 is its operand", func(n *graph.Node) *graph.Node {
		if _, _, ok := reduced(n); ok && n.In(0).Shape().Len() == n.Shape().Len() {
			return ops.ReshapeTo(n.In(0), n.Shape())
		}
		return nil
	}},
}

func isElementwise(n *graph.Node) bool {
	return trait.IsElementwise(n.Op()) && !match.Is(n, match.StopGradient)
}

// reduced gives the operand and the axes of a Sum or Mean of floats.
func reduced(n *graph.Node) (x *graph.Node, axes attr.AxisSet, ok bool) {
	if x, axes, ok = match.Summed(n); !ok {
		x, axes, ok = match.Averaged(n)
	}
	return x, axes, ok && n.DType().IsFloat()
}

// reduceOnce replaces a Sum or Mean of repeated elements by one of the elements themselves.
func reduceOnce(n *graph.Node) *graph.Node {
	x, axes, ok := reduced(n)
	if !ok || !match.Is(x, match.Broadcast) {
		return nil
	}
	from := x.In(0)
	short := x.Shape().Axes()
	times := 1
	for a := range short {
		if k := a - (x.Rank() - from.Rank()); k < 0 || from.Dim(k) == 1 {
			if axes.Has(a) {
				times *= short[a].Size
			}
			short[a].Size = 1
		}
	}
	s, err := graph.NewShape(short...)
	if err != nil || s.Len() == x.Shape().Len() {
		return nil
	}
	y := n.Graph().Apply(n.Op(), ops.ReshapeTo(from, s))
	if match.Is(n, match.Sum) {
		y = ops.Scale(y, float64(times))
	}
	return ops.BroadcastTo(y, n.Shape())
}
