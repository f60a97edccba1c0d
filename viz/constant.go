package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Constants without a name that formulas write by what their elements are.

// counts reports whether a node is an unnamed constant that holds 0, 1, 2, … along its one axis,
// so that its elements are their indices.
func (u *unfolder) counts(n *graph.Node) bool {
	v, ok := n.Constant()
	if _, named := u.names[n]; !ok || named || n.Rank() != 1 || n.Dim(0) < 2 {
		return false
	}
	for i, x := range v.Data {
		if x != float64(i) {
			return false
		}
	}
	return true
}

// isUnit reports whether a node is an unnamed constant that is a unit matrix.
func (u *unfolder) isUnit(n *graph.Node) bool {
	if n.Rank() != 2 || n.Dim(0) != n.Dim(1) || n.Dim(0) < 2 || u.isNamed(n) {
		return false
	}
	v, ok := n.Constant()
	for p := range v.Data {
		if want := p/n.Dim(0) == p%n.Dim(0); want != (v.Data[p] == 1) || !want && v.Data[p] != 0 {
			return false
		}
	}
	return ok
}

// triangle returns the condition [j ≤ i + k], or [j ≥ i + k], on the indices of an unnamed constant that
// is a mask of a triangle of a matrix.
func (u *unfolder) triangle(n *graph.Node, indices []string) (expr.Expr, bool) {
	v, ok := n.Constant()
	if !ok || n.DType() != graph.Bool || n.Rank() != 2 || u.isNamed(n) || indices[0] == "" || indices[1] == "" {
		return expr.Expr{}, false
	}
	columns := n.Dim(1)
	for i := range n.Dim(0) {
		of := v.Data[i*columns:][:columns]
		many := 0
		for _, x := range of {
			many += int(x)
		}
		if many == 0 || many == columns {
			continue // it does not tell where the triangle ends
		}
		sign, k := "≤", many-1-i
		if of[0] == 0 {
			sign, k = "≥", columns-many-i
		}
		for p, x := range v.Data {
			i, j := p/columns, p%columns
			if x == 1 != (sign == "≤" && j <= i+k || sign == "≥" && j >= i+k) {
				return expr.Expr{}, false
			}
		}
		row, column := expr.Sym("", indices[0]), expr.Sym("", indices[1])
		switch {
		case k > 0:
			row = row.Plus(expr.Num(float64(k)))
		case k < 0:
			row = row.Minus(expr.Num(float64(-k)))
		}
		return expr.Expr{Kind: expr.KindBracket, Text: sign, Args: []expr.Expr{column, row}}, true
	}
	return expr.Expr{}, false
}
