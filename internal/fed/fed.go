// Package fed finds the element of a run's inputs that a value comes from.
package fed

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
)

// From returns the input, and the number of its element, that holds an index which a run refused,
// or from which the index was computed. in is nil if there is none or several, and within loops.
func From(outside *trait.IndexError) (in *graph.Node, at int) {
	if len(outside.Times) > 0 {
		return nil, 0
	}
	place := 0
	for a, i := range outside.At {
		place = place*outside.Index.Dim(a) + i
	}
	return from(outside.Index, place)
}

// from returns the input, and the number of its element, from which element p of n comes, through
// operations that lay it out, convert it or select it by a mask. in is nil if there is none or
// several.
func from(n *graph.Node, p int) (in *graph.Node, at int) {
	if n.Role() == graph.RoleInput {
		return n, p
	}
	if _, views := n.Op().(tape.Viewed); views || match.Is(n, match.Concat) {
		return laid(n, p)
	}
	for i := range n.NumIn() {
		x := n.In(i)
		if !x.DType().IsInt() || !x.Shape().SameSizes(n.Shape()) {
			continue
		}
		if source, q := from(x, p); source != nil {
			if in != nil && (in != source || at != q) {
				return nil, 0
			}
			in, at = source, q
		}
	}
	return in, at
}

// laid is [from] for an operation that lays its operands out: its definition is evaluated on the
// numbers of their elements, which tells where each goes.
func laid(n *graph.Node, p int) (in *graph.Node, at int) {
	op, ok := n.Op().(trait.Defined)
	if !ok {
		return nil, 0
	}
	values, first := make([]graph.Value, n.NumIn()), make([]int, n.NumIn())
	count := 0
	for i, x := range n.Inputs() {
		values[i], first[i] = graph.NewValue(x.Type()), count
		for e := range values[i].Data {
			values[i].Data[e] = float64(count)
			count++
		}
	}
	laid := int(op.Eval(trait.Env{}, n, values).Data[p])
	for i, x := range n.Inputs() {
		if e := laid - first[i]; e >= 0 && e < x.Shape().Len() {
			return from(x, e)
		}
	}
	return nil, 0
}
