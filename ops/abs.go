package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type abs struct{ numbers1 }

// Abs returns |x|, element by element, for numbers x. Its derivative at 0 is 0.
func Abs(x *graph.Node) *graph.Node { return elementwise(abs{}, x) }

func (abs) Name() string       { return "Abs" }
func (abs) Kind() match.Kind   { return match.Abs }
func (abs) Doc() string        { return "absolute value, element by element" }
func (abs) Convention() string { return "|x|'(0) = 0, as in PyTorch" }

// Grad is 0 at 0, where sign is.
func (abs) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Sign(y.In(0))) }

func (abs) Scalar(x ...float64) float64                      { return math.Abs(x[0]) }
func (abs) Whole(x ...int64) int64                           { return max(x[0], -x[0]) }
func (abs) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Abs }
func (abs) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("|", in[0]) }
func (abs) Cases() []Case                                    { return case1(Abs, Apart) }
