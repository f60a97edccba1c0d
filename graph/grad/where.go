package grad

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// Elements that a Select does not choose have no influence on its result, so the derivative is
// exactly 0 there. The rules of the operations below multiply it by their slopes, and 0·∞ and 0·NaN
// are NaN: for √x where x > 0, at x = −1. Therefore the sweep remembers where a derivative may be
// other than 0, and sets it to 0 elsewhere after each rule that may have changed that. It can do so
// through operations that keep track of which elements meet which: elementwise operations, sums,
// and changes of layout. A product of matrices, a softmax, a gather and the like end it.

// where is the set of elements at which a derivative may be other than 0; nil is all of
// them. Equal sets are the same pointer, and their masks are made only if they are needed.
type where struct {
	setKey
	any  []*where // instead: the elements of any of these
	mask *graph.Node
}

// setKey describes a set: the elements of outer at which cond holds, or does not; or else those of
// an operand of the sum or change of layout through, from which the elements of outer, of its
// result, come.
type setKey struct {
	outer   *where
	cond    *graph.Node
	not     bool
	through *graph.Node
	operand int
}

// set returns the set with a key.
func (r *reverse) set(k setKey) *where {
	w := r.sets[k]
	if w == nil {
		if r.sets == nil {
			r.sets = map[setKey]*where{}
		}
		w = &where{setKey: k}
		r.sets[k] = w
	}
	return w
}

// below returns the set where the derivative of operand i of n may be other than 0; w is that of n.
func (r *reverse) below(n *graph.Node, i int, w *where) *where {
	switch {
	case match.Is(n, match.Select):
		if w.inside(n.In(0), i == 2) {
			return w
		}
		return r.set(setKey{outer: w, cond: n.In(0), not: i == 2})
	case w == nil:
		return nil
	case trait.IsElementwise(n.Op()):
		return w
	}
	switch match.KindOf(n) {
	case match.Broadcast, match.Concat, match.Mean, match.Place, match.Reshape, match.Slice, match.Sum, match.Transpose:
		return r.set(setKey{outer: w, through: n, operand: i})
	}
	return nil
}

// inside reports whether a condition holds, or does not if not is true, at all elements of the set,
// as far as the set is made of conditions.
func (w *where) inside(cond *graph.Node, not bool) bool {
	for ; w != nil && w.cond != nil; w = w.outer {
		if w.cond == cond && w.not == not {
			return true
		}
	}
	return false
}

// anywhere returns the union of sets. The two sets where a condition holds and where it does not
// join to their outer set.
func anywhere(sets []*where) *where {
	var list []*where
	for _, w := range sets {
		for w != nil {
			i := slices.IndexFunc(list, func(v *where) bool { return v == w || w.complements(v) })
			if i < 0 {
				break
			}
			if list[i] != w {
				w = w.outer
			}
			list = slices.Delete(list, i, i+1)
		}
		if w == nil {
			return nil
		}
		list = append(list, w)
	}
	if len(list) == 1 {
		return list[0]
	}
	return &where{any: list}
}

func (w *where) complements(v *where) bool {
	return w.cond != nil && v.setKey == setKey{outer: w.outer, cond: w.cond, not: !w.not}
}

// node returns the mask of the set.
func (w *where) node() *graph.Node {
	if w.mask != nil {
		return w.mask
	}
	var m *graph.Node
	switch {
	case w.any != nil:
		for _, v := range w.any {
			if m == nil {
				m = v.node()
			} else {
				m = ops.Or(m, v.node())
			}
		}
	case w.through != nil:
		m = under(w.through, w.operand, w.outer.node())
	default:
		if m = w.cond; w.not {
			m = ops.Not(m)
		}
		if w.outer != nil {
			m = ops.And(w.outer.node(), m)
		}
	}
	w.mask = m
	return m
}

// under returns the mask of an operand for a mask of the result: the rule for derivatives, applied
// to the mask as ones and zeros, is positive wherever an element of the mask counts.
func under(n *graph.Node, operand int, mask *graph.Node) *graph.Node {
	rule := n.Op().(trait.Differentiable)
	switch match.KindOf(n) {
	case match.Concat, match.Place, match.Reshape, match.Sum, match.Transpose:
		// Their rules take masks as they are.
		return rule.Grad(n, mask, operand)
	}
	count := rule.Grad(n, ops.Cast(mask, graph.F32), operand)
	return ops.Greater(count, ops.Lit(count, 0))
}

// within returns d, the result of a rule for dy, with 0 outside of the set, unless the rule keeps
// zeros.
func (w *where) within(d, dy *graph.Node) *graph.Node {
	if w == nil || !d.IsValid() || keepsZeros(d, dy) {
		return d
	}
	return ops.Select(ops.ReshapeTo(w.node(), d.Shape()), d, ops.Lit(d, 0))
}

// keepsZeros reports whether d is 0 wherever dy is, for any values of the other nodes that it
// depends on.
func keepsZeros(d, dy *graph.Node) bool {
	if d == dy {
		return true
	}
	if v, ok := match.Literal(d); ok {
		return v == 0
	}
	switch match.KindOf(d) {
	case match.Neg, match.Cast, match.Reshape, match.Broadcast:
		return keepsZeros(d.In(0), dy)
	case match.Add, match.Sub:
		return keepsZeros(d.In(0), dy) && keepsZeros(d.In(1), dy)
	case match.Select:
		return keepsZeros(d.In(1), dy) && keepsZeros(d.In(2), dy)
	case match.Mul:
		return times(d.In(0), d.In(1), dy) || times(d.In(1), d.In(0), dy)
	case match.Div:
		v, ok := match.Literal(d.In(1))
		return ok && v != 0 && v == v && keepsZeros(d.In(0), dy)
	}
	return false
}

// times reports whether k is a finite number and x keeps the zeros of dy.
func times(k, x, dy *graph.Node) bool {
	v, ok := match.Literal(k)
	return ok && !math.IsNaN(v-v) && keepsZeros(x, dy)
}
