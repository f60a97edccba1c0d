package rewrite

import (
	"cmp"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// A factor is a scalar by which an array is multiplied: a number times and over scalars that are
// known only when the program runs. For a scalar node only numbers count, because moving one scalar
// past another saves nothing.
//
// Moving a factor k assumes that k is finite: k·x − k·y and k·(x − y) are then equal but for
// rounding, whatever x and y hold, infinities and NaN included. A number that is 0, infinite or NaN
// does not fit: 0·Σx is not Σ0·x where Σx overflows. Besides rounding, results may leave the range
// of the element type at other values than before: k is applied later, or earlier, than it was
// written.
type factor struct {
	over, under float64       // the number, as a fraction: x/3 stays a division
	num, den    []*graph.Node // of one element
}

var one = factor{over: 1, under: 1}

func (k factor) times(l factor) factor {
	switch {
	case k.isOne():
		return l
	case l.isOne():
		return k
	}
	return factor{k.over * l.over, k.under * l.under, slices.Concat(k.num, l.num), slices.Concat(k.den, l.den)}
}

func (k factor) isOne() bool {
	return k.over == k.under && len(k.num) == 0 && len(k.den) == 0
}

// fits reports whether the number may be moved: it is normal in the element type.
func (k factor) fits(dt graph.DType) bool {
	least, most := 0x1p-126, dt.Largest()
	switch dt {
	case graph.F64:
		least = 0x1p-1022
	case graph.F16:
		least = 0x1p-14
	}
	for _, v := range []float64{k.over, k.under, k.over / k.under} {
		if a := math.Abs(v); !(a >= least && a <= most) {
			return false
		}
	}
	return true
}

// of is k·x.
func (k factor) of(x *graph.Node) *graph.Node {
	num, den := ordered(k.num), ordered(k.den)
	ratio := k.over / k.under
	switch {
	case len(num) == 0 && len(den) == 0 && ratio == 1:
		return x
	case len(num) == 0 && len(den) == 0 && ratio == -1:
		return ops.Neg(x)
	case len(num) == 0 && len(den) == 0 && math.Abs(k.over) == 1:
		return ops.Div(x, ops.Lit(x, k.over*k.under))
	case len(num) == 0 && ratio == 1:
		return ops.Div(x, all(den))
	}
	s := ops.Lit(x, ratio)
	if len(num) > 0 {
		s = all(num)
		switch ratio {
		case 1:
		case -1:
			s = ops.Neg(s)
		default:
			s = ops.Scale(s, ratio)
		}
	}
	if len(den) > 0 {
		s = ops.Div(s, all(den))
	}
	return ops.Mul(s, x)
}

// ordered sorts factors, so that equal products are equal nodes.
func ordered(scalars []*graph.Node) []*graph.Node {
	out := slices.Clone(scalars)
	slices.SortFunc(out, func(a, b *graph.Node) int { return cmp.Compare(a.ID(), b.ID()) })
	return out
}

// all returns the product of nodes of one element, as a scalar.
func all(nodes []*graph.Node) *graph.Node {
	p := ops.ReshapeTo(nodes[0], graph.Shape{})
	for _, n := range nodes[1:] {
		p = ops.Mul(p, ops.ReshapeTo(n, graph.Shape{}))
	}
	return p
}

// scalar returns the operand of a product as a factor, if it is a number or one element repeated.
func scalar(n *graph.Node) (k factor, ok bool) {
	if v, is := match.Literal(n); is {
		return factor{over: v, under: 1}, true
	}
	for m := n; n.Shape().Len() > 1; m = m.In(0) {
		if m.Shape().Len() == 1 {
			for match.Is(m, match.Reshape) {
				m = m.In(0)
			}
			return factor{over: 1, under: 1, num: []*graph.Node{m}}, true
		}
		if !match.Is(m, match.Broadcast) && !match.Is(m, match.Reshape) {
			break
		}
	}
	return one, false
}

// A product is an array written as k·x.
type product struct {
	k     factor
	count int                // operations on the whole array that go when k is taken out
	fewer int                // those on smaller arrays that are then repeated
	whole *graph.Node        // the array
	build func() *graph.Node // adds x to the graph; nil where x is the array itself
}

func (p product) rest() *graph.Node {
	if p.build == nil {
		return p.whole
	}
	return ops.ReshapeTo(p.build(), p.whole.Shape())
}

// depth bounds how far into nested products a factor is looked for.
const depth = 4

// factored looks for factors in a tree of products, quotients, squares, negations,
// selections and changes of layout.
func factored(n *graph.Node) product { return search(n, depth, false) }

// search is factored to a depth; it looks into arrays that are repeated only if repeated is set.
func search(n *graph.Node, depth int, repeated bool) product {
	none := product{k: one, whole: n}
	if depth == 0 || n.NumIn() == 0 || !n.DType().IsFloat() {
		return none
	}
	switch match.KindOf(n) {
	case match.Neg:
		return without(n, factor{over: -1, under: 1}, search(n.In(0), depth-1, repeated))
	case match.Mul:
		for i := range 2 {
			if k, ok := scalar(n.In(i)); ok {
				return without(n, k, search(n.In(1-i), depth-1, repeated))
			}
		}
		return within(n, search(n.In(0), depth-1, repeated), search(n.In(1), depth-1, repeated))
	case match.Div:
		if k, ok := scalar(n.In(1)); ok {
			return without(n, factor{k.under, k.over, k.den, k.num}, search(n.In(0), depth-1, repeated))
		}
		return within(n, search(n.In(0), depth-1, repeated), product{k: one, whole: n.In(1)})
	case match.Square:
		x := search(n.In(0), depth-1, repeated)
		x.k = x.k.times(x.k)
		return within(n, x)
	case match.Broadcast:
		if repeated && n.In(0).Shape().Len() > 1 {
			x := search(n.In(0), depth-1, repeated)
			x.count, x.fewer = 0, x.count+x.fewer
			return within(n, x)
		}
	case match.Reshape, match.Transpose:
		return within(n, search(n.In(0), depth-1, repeated))
	case match.Select:
		if v, ok := match.Literal(n.In(2)); ok && v == 0 {
			return within(n, product{k: one, whole: n.In(0)}, search(n.In(1), depth-1, repeated), product{k: one, whole: n.In(2)})
		}
	}
	return none
}

// without drops n, which multiplies x by k.
func without(n *graph.Node, k factor, x product) product {
	return product{x.k.times(k), x.count + 1, x.fewer, n, x.rest}
}

// within applies the operation of n to what is left of its operands.
func within(n *graph.Node, in ...product) product {
	p := product{k: one, whole: n}
	for _, x := range in {
		if x.count+x.fewer > 0 {
			p.k, p.count, p.fewer = p.k.times(x.k), p.count+x.count, p.fewer+x.fewer
		}
	}
	if p.count+p.fewer > 0 {
		p.build = func() *graph.Node {
			rest := make([]*graph.Node, len(in))
			for i, x := range in {
				rest[i] = x.rest()
			}
			return n.Graph().Apply(n.Op(), rest...)
		}
	}
	return p
}
