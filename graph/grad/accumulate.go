package grad

import (
	"cmp"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// accumulate adds up the contributions to a derivative. Those of the steps of an unrolled
// recurrence are joined first: T arrays that are each zero but for a T-th part take T times as long
// to add one by one.
func accumulate(parts []*graph.Node) *graph.Node {
	if len(parts) > 1 && !slices.ContainsFunc(parts, func(p *graph.Node) bool { return !p.IsValid() }) {
		parts = joinProducts(joinPlaces(parts))
	}
	d := parts[0]
	for _, p := range parts[1:] {
		d = ops.Add(d, p)
	}
	return d
}

// A span is a part that is zero but for a piece of one axis.
type span struct {
	part, axis, from, to int
	values               *graph.Node // of the piece
}

// joinPlaces joins parts whose values lie beside each other along an axis, as derivatives of slices
// do, with zeros in the gaps. Parts that overlap go into different arrays. The result stands where
// the first of its parts stood.
func joinPlaces(parts []*graph.Node) []*graph.Node {
	var spans []span
	for i, p := range parts {
		if s, ok := spanOf(p, i); ok {
			spans = append(spans, s)
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.axis, b.axis), cmp.Compare(a.from, b.from))
	})
	var rows [][]span
	for _, s := range spans {
		k := slices.IndexFunc(rows, func(r []span) bool { last := r[len(r)-1]; return last.axis == s.axis && last.to <= s.from })
		if k < 0 {
			k, rows = len(rows), append(rows, nil)
		}
		rows[k] = append(rows[k], s)
	}
	for _, r := range rows {
		if len(r) > 1 {
			parts = together(parts, placesOf(r), joined(parts[r[0].part], r))
		}
	}
	return slices.DeleteFunc(parts, func(p *graph.Node) bool { return p == nil })
}

// spanOf reads a part as a span, if it is one.
func spanOf(p *graph.Node, part int) (s span, ok bool) {
	if !match.Is(p, match.Place) {
		return s, false
	}
	start, step, _ := match.Strided(p)
	s = span{part: part, axis: -1, values: p.In(0)}
	for a := range start {
		n := s.values.Dim(a)
		switch {
		case n == p.Dim(a) && start[a] == 0:
		case s.axis >= 0:
			return s, false
		default:
			s.axis, s.from, s.to = a, start[a], start[a]+n
		}
		if step[a] != 1 && n > 1 {
			return s, false
		}
	}
	return s, s.axis >= 0
}

// joined returns the array that consists of the spans, which are in order and do not overlap.
func joined(like *graph.Node, spans []span) *graph.Node {
	var pieces []*graph.Node
	a, at := spans[0].axis, 0
	zeros := func(to int) {
		if to > at {
			axes := like.Shape().Axes()
			axes[a].Size = to - at
			gap, err := graph.NewShape(axes...)
			if err != nil {
				panic(err) // no larger than like
			}
			pieces = append(pieces, ops.BroadcastTo(ops.Lit(like, 0), gap))
		}
	}
	for _, s := range spans {
		zeros(s.from)
		pieces = append(pieces, s.values)
		at = s.to
	}
	zeros(like.Dim(a))
	return ops.ReshapeTo(ops.Concat(a, pieces...), like.Shape())
}

func placesOf(spans []span) []int {
	out := make([]int, len(spans))
	for i, s := range spans {
		out[i] = s.part
	}
	return out
}

// together returns the parts with d in place of the first of some of them, and nil in place of the
// others.
func together(parts []*graph.Node, some []int, d *graph.Node) []*graph.Node {
	parts = slices.Clone(parts)
	for _, i := range some {
		parts[i] = nil
	}
	parts[slices.Min(some)] = d
	return parts
}

// joinProducts joins matrix products of the same types into one, if their result is larger than
// their operands together: Σ_t a_t·b_t is a·b with the a_t beside each other and the b_t below each
// other. To hold all operands and go over the result once costs less than to go over the result for
// each.
func joinProducts(parts []*graph.Node) []*graph.Node {
	type kind struct{ a, b graph.Type }
	groups := map[kind][]int{}
	var order []kind
	for i, p := range parts {
		if !match.Is(p, match.MatMul) {
			continue
		}
		a, b := p.In(0), p.In(1)
		if a.Shape().Len()+b.Shape().Len() < p.Shape().Len() {
			k := kind{a.Type(), b.Type()}
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], i)
		}
	}
	for _, k := range order {
		if some := groups[k]; len(some) > 1 {
			var a, b []*graph.Node
			for i := len(some) - 1; i >= 0; i-- { // users come last first
				a, b = append(a, parts[some[i]].In(0)), append(b, parts[some[i]].In(1))
			}
			d := ops.MatMul(side(a, -1), side(b, -2))
			parts = together(parts, some, ops.ReshapeTo(d, parts[some[0]].Shape()))
		}
	}
	return slices.DeleteFunc(parts, func(p *graph.Node) bool { return p == nil })
}

// side joins matrices along an axis, counted from the end. If all are transposed, it transposes the
// joined originals, so that no element changes its place.
func side(xs []*graph.Node, axis int) *graph.Node {
	axis += xs[0].Rank()
	order, ok := match.Permuted(xs[0])
	if !ok {
		return ops.Concat(axis, xs...)
	}
	roots := make([]*graph.Node, len(xs))
	for i, x := range xs {
		if other, ok := match.Permuted(x); !ok || !slices.Equal(order, other) || x.In(0).Type() != xs[0].In(0).Type() {
			return ops.Concat(axis, xs...)
		}
		roots[i] = x.In(0)
	}
	back := make([]any, len(order))
	for i, a := range order {
		back[i] = a
	}
	return ops.Transpose(ops.Concat(order[axis], roots...), back...)
}
