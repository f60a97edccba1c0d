package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

type log2 struct{ floats1 }

// Log2 returns the logarithm to base 2, element by element, for floats x: −∞ at 0, NaN below. It is
// exact for powers of 2.
func Log2(x *graph.Node) *graph.Node { return elementwise(log2{}, x) }

func (log2) Name() string     { return "Log2" }
func (log2) Kind() match.Kind { return match.Log2 }
func (log2) Doc() string      { return "logarithm to base 2, element by element" }

func (log2) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Scale(y.In(0), math.Ln2)) }

func (log2) Scalar(x ...float64) float64                      { return simd.Log2.Of(x[0]) }
func (log2) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Log2} }
func (log2) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("log₂", in[0]) }
func (log2) Cases() []Case                                    { return case1(Log2, Positive) }

type log10 struct{ floats1 }

// Log10 returns the logarithm to base 10, element by element, for floats x: −∞ at 0, NaN below. It
// is exact for powers of 10 that are whole numbers.
func Log10(x *graph.Node) *graph.Node { return elementwise(log10{}, x) }

func (log10) Name() string     { return "Log10" }
func (log10) Kind() match.Kind { return match.Log10 }
func (log10) Doc() string      { return "logarithm to base 10, element by element" }

func (log10) Grad(y, dy *graph.Node, _ int) *graph.Node { return Div(dy, Scale(y.In(0), math.Ln10)) }

func (log10) Scalar(x ...float64) float64                      { return simd.Log10.Of(x[0]) }
func (log10) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Log10} }
func (log10) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("log₁₀", in[0]) }
func (log10) Cases() []Case                                    { return case1(Log10, Positive) }

type exp2 struct{ floats1 }

// Exp2 returns 2ˣ, element by element, for floats x.
func Exp2(x *graph.Node) *graph.Node { return elementwise(exp2{}, x) }

func (exp2) Name() string     { return "Exp2" }
func (exp2) Kind() match.Kind { return match.Exp2 }
func (exp2) Doc() string      { return "power of 2, element by element" }

func (exp2) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Scale(y, math.Ln2)) }

func (exp2) Scalar(x ...float64) float64                      { return math.Exp2(x[0]) }
func (exp2) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Unary{Function: simd.Exp2} }
func (exp2) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Num(2).Pow(in[0]) }
func (exp2) Cases() []Case                                    { return case1(Exp2, Reals) }
