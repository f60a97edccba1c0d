package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type xlogy struct{ floats2 }

// Xlogy returns x·log y, element by element, with broadcasting, for floats, and 0 where x is 0,
// whatever y is but NaN: a term of an entropy or of a cross entropy. Its derivative by x is log y,
// and 0 where x is 0 and y is not positive; by y it is x/y, and 0 where x is 0.
func Xlogy(x, y *graph.Node) *graph.Node { return elementwise(xlogy{}, x, y) }

func (xlogy) Name() string     { return "Xlogy" }
func (xlogy) Kind() match.Kind { return match.Xlogy }
func (xlogy) Doc() string      { return "product with a logarithm, 0·log 0 = 0, element by element" }

func (xlogy) Convention() string { return "the derivatives of 0·log 0 are 0" }

// Grad keeps the side that a mask does not choose finite, because a further derivative multiplies
// it by 0.
func (xlogy) Grad(n, dy *graph.Node, i int) *graph.Node {
	x, y := n.In(0), n.In(1)
	none := Equal(x, Lit(x, 0))
	if i == 0 {
		none = And(none, LessEqual(y, Lit(y, 0)))
		return Mul(dy, Log(Select(none, Lit(y, 1), y)))
	}
	return Mul(dy, Div(x, Select(And(none, Equal(y, Lit(y, 0))), Lit(y, 1), y)))
}

func (xlogy) Scalar(x ...float64) float64      { return timesLog(x[0], x[1]) }
func (xlogy) Kernel(*graph.Node) kernel.Kernel { return kernel.Zip{Of: timesLog} }
func (xlogy) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return in[0].Times(expr.Call("log", in[1]))
}
func (xlogy) Cases() []Case { return case2(Xlogy, Apart, Positive) }

func timesLog(x, y float64) float64 {
	if x == 0 && y == y {
		return 0
	}
	return x * log{}.Scalar(y)
}
