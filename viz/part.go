package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// parted returns the expression of a slice of an array, x_{2t+1}, or of zeros with an array in a
// slice of them; ok is false where no index says which slice.
func (u *unfolder) parted(y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	op, ok := y.Op().(trait.Strided)
	if !ok || u.matrix || u.plain || y.NumIn() != 1 {
		return e, false
	}
	start, step := op.Strides()
	switch match.KindOf(y) {
	case match.Slice:
		in, ok := taken(y.In(0), y, indices, start, step)
		if !ok {
			return e, false
		}
		e = u.operand(y.In(0), in)
		return e, !alongPart(e)
	case match.Place:
		return u.placed(y, indices, start, step)
	}
	return e, false
}

// taken returns the indices of x for those of its slice y.
func taken(x, y *graph.Node, indices []string, start, step []int) (in []string, ok bool) {
	in = make([]string, x.Rank())
	for i := range in {
		switch {
		case x.Dim(i) == 1:
		case y.Dim(i) == 1:
			in[i] = subscript.Fixed(start[i])
		case indices[i] == "":
			if y.Dim(i) != x.Dim(i) || start[i] != 0 || step[i] != 1 {
				return nil, false
			}
		default:
			in[i] = subscript.Strided(indices[i], start[i], step[i])
		}
	}
	return in, true
}

// placed returns x_{t−1} if 1 ≤ t, else 0: zeros with x in a slice of them.
func (u *unfolder) placed(y *graph.Node, indices []string, start, step []int) (e expr.Expr, ok bool) {
	x := y.In(0)
	in := make([]string, x.Rank())
	var masks []expr.Expr
	for i := range in {
		whole := x.Dim(i) == y.Dim(i) && start[i] == 0 && step[i] == 1
		switch {
		case y.Dim(i) == 1:
		case whole:
			in[i] = indices[i]
		case len(subscript.Names(indices[i])) == 0 || step[i] != 1 && step[i] != -1 && x.Dim(i) > 1:
			return e, false
		case step[i] == -1 && x.Dim(i) > 1:
			in[i] = subscript.Strided(indices[i], start[i], -1)
			masks = append(masks, between(indices[i], start[i]-x.Dim(i)+1, start[i]+1, y.Dim(i))...)
		case x.Dim(i) == 1:
			masks = append(masks, equals(expr.Sym("", indices[i]), decimal(float64(start[i]))))
		default:
			in[i] = subscript.Shifted(indices[i], -start[i])
			masks = append(masks, between(indices[i], start[i], start[i]+x.Dim(i), y.Dim(i))...)
		}
	}
	e = u.operand(x, in)
	return masked(masks, e), !alongPart(e)
}

// alongPart reports whether a function along an axis got a slice of it for an index: softmax_2
// would mean nothing.
func alongPart(e expr.Expr) bool {
	if e.Kind == expr.KindCall && slices.ContainsFunc(e.Subs, func(s string) bool {
		return !slices.Equal(subscript.Names(s), []string{s}) && subscript.Joined(subscript.Names(s)...) != s
	}) {
		return true
	}
	return slices.ContainsFunc(e.Args, alongPart)
}

// unseen reports whether an expression has an index that is not shown.
func unseen(e expr.Expr) bool {
	return e.Kind == expr.KindSymbol && e.Text == "" && len(e.Subs) == 0 || slices.ContainsFunc(e.Args, unseen)
}

// between returns the masks of from ≤ index < to, for an index below size.
func between(index string, from, to, size int) (masks []expr.Expr) {
	at := expr.Sym("", index)
	if from > 0 {
		masks = append(masks, expr.Expr{Kind: expr.KindBracket, Text: "≤", Args: []expr.Expr{decimal(float64(from)), at}})
	}
	if to < size {
		masks = append(masks, expr.Expr{Kind: expr.KindBracket, Text: "<", Args: []expr.Expr{at, decimal(float64(to))}})
	}
	return masks
}

// masked returns e where all masks hold, and else 0.
func masked(masks []expr.Expr, e expr.Expr) expr.Expr {
	if len(masks) == 0 {
		return e
	}
	all := masks[0]
	for _, m := range masks[1:] {
		all = expr.Expr{Kind: expr.KindBracket, Text: "∧", Args: []expr.Expr{all, m}}
	}
	return expr.Cases(all, e, decimal(0))
}

// cutUnseen reports whether a slice drops elements along an axis whose index is not shown.
func cutUnseen(y *graph.Node, indices []string) bool {
	for i, s := range indices {
		if s == "" && y.Dim(i) != y.In(0).Dim(i) {
			return true
		}
	}
	return false
}
