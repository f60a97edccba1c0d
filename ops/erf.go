package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type erf struct{ floats1 }

// Erf returns the error function 2/√π·∫₀ˣ exp(−t²) dt, element by element, for floats x.
func Erf(x *graph.Node) *graph.Node { return elementwise(erf{}, x) }

func (erf) Name() string     { return "Erf" }
func (erf) Kind() match.Kind { return match.Erf }
func (erf) Doc() string      { return "error function, element by element" }

// Grad is dx = dy·2/√π·exp(−x²).
func (erf) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Scale(Exp(Neg(Square(y.In(0)))), 2/math.Sqrt(math.Pi)))
}

func (erf) Scalar(x ...float64) float64                      { return math.Erf(x[0]) }
func (erf) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Erf} }
func (erf) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("erf", in[0]) }
func (erf) Cases() []Case                                    { return case1(Erf, Reals) }
