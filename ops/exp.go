package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

type exp struct{ floats1 }

// Exp is eˣ, element by element.
func Exp(x *graph.Node) *graph.Node { return elementwise(exp{}, x) }

func (exp) Name() string { return "Exp" }
func (exp) Doc() string  { return "exponential, element by element" }

func (exp) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, y) }

func (exp) Scalar(x ...float64) float64                        { return math.Exp(x[0]) }
func (exp) Kernel(*graph.Node) kernel.Kernel                   { return kernel.Exp }
func (exp) Notation(_ *graph.Node, in []graph.Expr) graph.Expr { return graph.Sym("e").Pow(in[0]) }
func (exp) Cases() []Case                                      { return case1(Exp, Reals) }
