package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// diagonal returns A_ii for the elements of a matrix's diagonal, which ops.Diagonal takes from its rows
// laid end to end.
func (u *unfolder) diagonal(y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	x := diagonalOf(y)
	if x == nil {
		return e, false
	}
	last := indices[y.Rank()-1]
	in := append(append([]string(nil), indices...), last)
	if e = u.operand(x, in); last == "" {
		e = expr.Call("diag", e)
	}
	return e, true
}

// diagonalOf returns the matrices of which y is the diagonals, nil where it is anything else.
func diagonalOf(y *graph.Node) *graph.Node {
	cut := y
	if match.Is(y, match.Reshape) && y.In(0).Shape().SameSizes(y.Shape()) {
		cut = y.In(0)
	}
	if !match.Is(cut, match.Slice) || !match.Is(cut.In(0), match.Reshape) {
		return nil
	}
	flat := cut.In(0)
	x := flat.In(0)
	last := cut.Rank() - 1
	if last < 0 || x.Rank() != last+2 || x.Dim(last)*x.Dim(last+1) != flat.Dim(last) || cut.Dim(last) != min(x.Dim(last), x.Dim(last+1)) {
		return nil
	}
	start, step := cut.Op().(trait.Strided).Strides()
	for i := range start {
		if start[i] != 0 || i < last && (cut.Dim(i) != x.Dim(i) || cut.Dim(i) != flat.Dim(i)) {
			return nil
		}
	}
	if step[last] != x.Dim(last+1)+1 || cut.Dim(last) < 2 {
		return nil
	}
	return x
}
