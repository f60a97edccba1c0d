package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// unpacked returns the element of a result that lies with others in one value: Q(A)_ij, of the factors
// of a matrix A.
func (u *unfolder) unpacked(y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	part, ok := trait.PartOf(y)
	if !ok {
		return e, false
	}
	x := y.In(0).In(0)
	in := append([]string(nil), indices[:y.Rank()-2]...)
	var inside []string
	for _, a := range x.Shape().Axes()[x.Rank()-2:] {
		s := ""
		if a.Size > 1 && a.Name != "" {
			s = u.fresh(a.Name, a.Size)
			inside = append(inside, s)
		}
		in = append(in, s)
	}
	return expr.Element(expr.Call(part.Name, expr.Array(u.operand(x, in), inside...)), given(indices[y.Rank()-2:])...), true
}
