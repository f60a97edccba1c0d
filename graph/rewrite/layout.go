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
	{"transpose later", "f(xᵀ) is f(x)ᵀ element by element, also beside what is repeated, and so are sums, parts and joined arrays: " +
		"layouts meet, and cancel", transposeLater},
	{"product of transposes", "Aᵀ·Bᵀ = (B·A)ᵀ for each of a batch: matrices are read as they lie, and the transpose comes later", productOfTransposes},
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

// transposeLater replaces an operation on transposes by the transpose of the operation: one on
// elements, whose other operands are small arrays repeated, a reduction, a Softmax, a Slice, a Place
// or a Concat.
func transposeLater(n *graph.Node) *graph.Node {
	var order []int
	for i := range n.NumIn() {
		if p, ok := match.Permuted(n.In(i)); ok && order == nil {
			order = p
		}
	}
	if order == nil {
		return nil
	}
	back := make([]any, len(order)) // the inverse
	for i, a := range order {
		back[a] = i
	}
	if kind := match.KindOf(n); kind == match.Concat || isElementwise(n) {
		in := n.Inputs()
		for i, x := range in {
			p, ok := match.Permuted(x)
			switch {
			case ok && slices.Equal(p, order):
				in[i] = x.In(0)
			case ok || kind == match.Concat || !match.Is(x, match.Broadcast) || x.In(0).Shape().Len() > x.Shape().Len()/smallPart:
				return nil
			default:
				in[i] = transposeRepeated(x, back)
			}
		}
		var y *graph.Node
		if kind == match.Concat {
			y = ops.Concat(order[n.Op().(trait.Along).Along().List()[0]], in...)
		} else {
			y = n.Graph().Apply(n.Op(), in...)
		}
		return ops.Transpose(y, anys(order)...)
	}
	x := n.In(0)
	if came, ok := match.Permuted(x); !ok || !slices.Equal(came, order) {
		return nil // the operand that is transposed is another one
	}
	switch match.KindOf(n) {
	case match.Softmax:
		return ops.Transpose(ops.Softmax(x.In(0), order[n.Op().(trait.Along).Along().List()[0]]), anys(order)...)
	case match.LogSoftmax:
		return ops.Transpose(ops.LogSoftmax(x.In(0), order[n.Op().(trait.Along).Along().List()[0]]), anys(order)...)
	case match.Slice:
		start, step, _ := match.Strided(n)
		part := n.Op().(match.Cut).Taking(inverted(start, order), inverted(step, order), inverted(n.Shape().Sizes(), order))
		return ops.Transpose(n.Graph().Apply(part, x.In(0)), anys(order)...)
	case match.Place:
		start, step, _ := match.Strided(n)
		to, err := graph.NewShape(inverted(n.Shape().Axes(), order)...)
		if err != nil {
			return nil
		}
		return ops.Transpose(n.Graph().Apply(n.Op().(match.Laying).Placing(inverted(start, order), inverted(step, order), to), x.In(0)), anys(order)...)
	}
	return reduceTransposed(n, order)
}

// productOfTransposes replaces the products of a batch, where the columns of both operands lie
// farther apart in what was transposed than their rows, by the transpose of a product.
func productOfTransposes(n *graph.Node) *graph.Node {
	if !match.Is(n, match.MatMul) || n.Rank() < 3 {
		return nil
	}
	last := n.Rank() - 1
	tall := n.Dim(last-1) >= manyRows*n.Dim(last) // the rule "rows of a batch" would turn it back
	swap := make([]any, n.Rank())
	for a := range swap {
		swap[a] = a
	}
	swap[last], swap[last-1] = last-1, last
	in := make([]*graph.Node, 2)
	for i, x := range n.Inputs() {
		order, ok := match.Permuted(x)
		if !ok || order[last] > order[last-1] || isRepeated(x.In(0)) {
			return nil
		}
		order = slices.Clone(order)
		order[last], order[last-1] = order[last-1], order[last]
		if in[1-i] = x.In(0); !slices.IsSorted(order) {
			if tall {
				return nil
			}
			in[1-i] = ops.Transpose(x.In(0), anys(order)...)
		}
	}
	return ops.ReshapeTo(ops.Transpose(ops.MatMul(in[0], in[1]), swap...), n.Shape())
}

// inverted returns what belongs to the axes of a transpose in the order of what was transposed.
func inverted[T any](list []T, order []int) []T {
	out := make([]T, len(list))
	for i, a := range order {
		out[a] = list[i]
	}
	return out
}

// smallPart is how many times smaller than an operation an operand is that is transposed with it.
const smallPart = 4

// transposeRepeated returns the transpose of a Broadcast, which repeats the transpose of its operand:
// a reshape where the order of the elements stays.
func transposeRepeated(x *graph.Node, order []any) *graph.Node {
	small := ops.ReshapeTo(x.In(0), widened(x))
	last, moves := -1, false
	for _, a := range order {
		if small.Dim(a.(int)) > 1 {
			moves, last = moves || a.(int) < last, a.(int)
		}
	}
	if moves {
		small = ops.Transpose(small, order...)
	} else {
		s, _ := graph.NewShape(permuted(small.Shape().Axes(), order)...)
		small = ops.ReshapeTo(x.In(0), s)
	}
	to, _ := graph.NewShape(permuted(x.Shape().Axes(), order)...)
	return ops.BroadcastTo(small, to)
}

// widened returns the shape of what a Broadcast repeats, with as many axes as the result has.
func widened(x *graph.Node) graph.Shape {
	axes := x.Shape().Axes()
	from := x.In(0)
	for a := range axes {
		if k := a - (x.Rank() - from.Rank()); k < 0 {
			axes[a].Size = 1
		} else {
			axes[a].Size = from.Dim(k)
		}
	}
	s, _ := graph.NewShape(axes...)
	return s
}

func permuted(axes []graph.Axis, order []any) []graph.Axis {
	out := make([]graph.Axis, len(axes))
	for i, a := range order {
		out[i] = axes[a.(int)]
	}
	return out
}

func anys(list []int) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// reduceTransposed replaces a reduction of a transpose by one of what was transposed. The axes that
// are left come back into their order.
func reduceTransposed(n *graph.Node, order []int) *graph.Node {
	var f func(x *graph.Node, axes ...any) *graph.Node
	switch match.KindOf(n) {
	case match.Sum:
		f = ops.Sum
	case match.Mean:
		f = ops.Mean
	case match.Max:
		f = ops.Max
	case match.Min:
		f = ops.Min
	case match.LogSumExp:
		f = ops.LogSumExp
	default:
		return nil
	}
	axes := n.Op().(trait.Along).Along()
	kept := n.Rank() == len(order)
	var over, left []any // of what was transposed
	for i, a := range order {
		if axes.Has(i) {
			over = append(over, a)
		} else {
			left = append(left, a)
		}
	}
	if len(over) == 0 {
		return nil
	}
	if kept {
		return ops.Transpose(f(n.In(0).In(0), append(over, ops.Keep)...), anys(order)...)
	}
	y := f(n.In(0).In(0), over...)
	places := make([]any, len(left)) // of the axes left, in the result
	for i, a := range left {
		k := 0
		for _, b := range left {
			if b.(int) < a.(int) {
				k++
			}
		}
		places[i] = k
	}
	return ops.Transpose(y, places...)
}
