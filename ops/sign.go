package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type sign struct{ numbers1 }

// Sign returns −1, 0 or 1, element by element, for numbers x, and NaN for NaN. No
// derivative flows through it.
func Sign(x *graph.Node) *graph.Node { return elementwise(sign{}, x) }

func (sign) Name() string     { return "Sign" }
func (sign) Kind() match.Kind { return match.Sign }
func (sign) Doc() string      { return "sign of each element" }

func (sign) Grad(y, dy *graph.Node, _ int) *graph.Node { return nil }

func (sign) Scalar(x ...float64) float64 {
	switch {
	case x[0] > 0:
		return 1
	case x[0] < 0:
		return -1
	case x[0] == 0:
		return 0 // also of -0
	}
	return x[0] // NaN
}
func (sign) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Sign }
func (sign) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("sign", in[0]) }
func (sign) Cases() []Case                                    { return case1(Sign, Apart) }
