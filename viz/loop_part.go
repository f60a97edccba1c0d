package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// resultOf returns the expression of a result of a loop, which is a slice of the loop's value, or
// of a slice of the derivative by that value.
func (u *unfolder) resultOf(y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	if len(u.loops) == 0 || u.plain {
		return e, false
	}
	cut := y
	if match.Is(cut, match.Reshape) {
		cut = cut.In(0)
	}
	s, isCut := cut.Op().(trait.Strided)
	if !match.Is(cut, match.Slice) || !isCut || cut.In(0).Rank() != 1 {
		return e, false
	}
	start, step := s.Strides()
	if step[0] != 1 {
		return e, false
	}
	value := cut.In(0)
	if same := u.again[value]; same != nil {
		value = same
	}
	if l := u.loops[value]; l != nil {
		return u.partOf(l, y, start[0], indices)
	}
	return u.rowsOf(cut.In(0), start[0], y, indices)
}

func (u *unfolder) partOf(l *loop, y *graph.Node, start int, indices []string) (e expr.Expr, ok bool) {
	for k, p := range l.Parts(l.body) {
		n := l.body.Out()[k]
		if p.Size == 0 {
			continue // it has no elements to be shown
		}
		row, rows := (start-p.At)/p.Size, y.Shape().Len()/p.Size
		if start < p.At || start >= p.At+p.Rows*p.Size || (start-p.At)%p.Size != 0 || y.Shape().Len()%p.Size != 0 {
			continue
		}
		timed := y.Rank() == n.Rank()+1
		if own := y.Shape().Sizes(); timed && (own[0] != rows || !slices.Equal(own[1:], n.Shape().Sizes())) || !timed && (rows != 1 || !slices.Equal(own, n.Shape().Sizes())) {
			return e, false
		}
		time, rest := "", indices
		if timed {
			time, rest = indices[0], indices[1:]
			if time == "" && rows > 1 {
				return e, false
			}
		}
		if k < l.Carries {
			return u.carry(l, k, time, row, rest), true
		}
		if k >= l.Carries+l.Outs {
			tag := u.fresh(l.time, l.Steps)
			return expr.Big("Σ", []string{tag}, u.atTime(l, n, tag, rest)), true
		}
		at := subscript.Fixed(row)
		if time != "" {
			at = subscript.Shifted(time, row)
		}
		return u.atTime(l, n, at, rest), true
	}
	return e, false
}

// rowsOf returns the expression of a slice of the derivative by a loop's value: zeros, with the
// derivatives that reach some rows of its traces.
func (u *unfolder) rowsOf(v *graph.Node, start int, y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	switch match.KindOf(v) {
	case match.Add:
		a, okA := u.rowsOf(v.In(0), start, y, indices)
		b, okB := u.rowsOf(v.In(1), start, y, indices)
		return a.Plus(b), okA && okB
	case match.Place:
		at, step := v.Op().(trait.Strided).Strides()
		if step[0] != 1 {
			return e, false
		}
		return u.rowsIn(v.In(0), at[0]-start, y, indices)
	case match.Concat:
		e, at := decimal(0), 0
		for _, x := range v.Inputs() {
			part, ok := u.rowsIn(x, at-start, y, indices)
			if !ok {
				return e, false
			}
			e, at = e.Plus(part), at+x.Dim(0)
		}
		return e, true
	}
	return e, false
}

// rowsIn returns the expression of y, whose elements begin offset elements after those of piece:
// the piece where the two overlap, and 0 elsewhere.
func (u *unfolder) rowsIn(piece *graph.Node, offset int, y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	n, m := y.Shape().Len(), piece.Dim(0)
	if v, constant := constantOf(piece); constant && v == 0 || offset >= n || offset+m <= 0 {
		return decimal(0), true
	}
	if match.Is(piece, match.Reshape) {
		piece = piece.In(0)
	}
	sizes, own := y.Shape().Sizes(), piece.Shape().Sizes()
	if slices.Equal(sizes, own) && offset == 0 {
		return u.operand(piece, indices), true
	}
	if len(sizes) == 0 || len(own) == 0 {
		return e, false
	}
	switch row := n / sizes[0]; {
	case offset%row == 0 && indices[0] != "" && slices.Equal(sizes[1:], own): // y has one row of its own for each of the piece's
		mask := equals(expr.Sym("", indices[0]), decimal(float64(offset/row)))
		return expr.Cases(mask, u.operand(piece, indices[1:]), decimal(0)), true
	case offset%row == 0 && indices[0] != "" && slices.Equal(sizes[1:], own[1:]):
		from := offset / row
		x := u.operand(piece, append([]string{subscript.Shifted(indices[0], -from)}, indices[1:]...))
		return masked(between(indices[0], from, from+own[0], sizes[0]), x), true
	}
	if slices.Equal(sizes, own[1:]) && offset <= 0 && -offset%n == 0 { // y is one row of the piece
		return u.operand(piece, append([]string{subscript.Fixed(-offset / n)}, indices...)), true
	}
	return e, false
}

// constantOf returns the value of a constant that is the same everywhere, whatever its layout.
func constantOf(n *graph.Node) (float64, bool) {
	for isLayout(n) {
		n = n.In(0)
	}
	v, ok := n.Constant()
	if !ok || !uniform(v) {
		return 0, false
	}
	return v.Data[0], true
}
