package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// comparison is embedded by the relations, which differ in name and meaning
// only; they have no derivative.
type comparison struct {
	flat
	pointwise
}

func (comparison) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := inferEach(in, 2, func(in ...*graph.Node) error {
		if in[0].DType() != in[1].DType() {
			return dtypesDiffer(in[0], in[1])
		}
		return nil
	})
	t.DType = graph.Bool
	return t, err
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func bracket(sign string, in []expr.Expr) expr.Expr {
	return expr.Expr{Kind: expr.KindBracket, Text: sign, Args: in}
}

type less struct{ comparison }

// Less returns the mask a < b, element by element, with broadcasting, for operands of one type. It
// is false where either is NaN.
func Less(a, b *graph.Node) *graph.Node { return elementwise(less{}, a, b) }

func (less) Name() string                                     { return "Less" }
func (less) Kind() match.Kind                                 { return match.Less }
func (less) Doc() string                                      { return "mask of a < b" }
func (less) Scalar(x ...float64) float64                      { return truth(x[0] < x[1]) }
func (less) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Compare{Op: kernel.Less} }
func (less) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("<", in) }
func (less) Cases() []Case                                    { return case2(Less, Apart, Apart) }

type lessEqual struct{ comparison }

// LessEqual returns the mask a ≤ b, element by element, with broadcasting, for operands of one
// type. It is false where either is NaN.
func LessEqual(a, b *graph.Node) *graph.Node { return elementwise(lessEqual{}, a, b) }

// Greater returns the mask a > b, element by element, with broadcasting, for operands of one type.
// It is false where either is NaN.
func Greater(a, b *graph.Node) *graph.Node { return turned("Greater", Less, a, b) }

// GreaterEqual returns the mask a ≥ b, element by element, with broadcasting, for operands of one
// type. It is false where either is NaN.
func GreaterEqual(a, b *graph.Node) *graph.Node { return turned("GreaterEqual", LessEqual, a, b) }

// turned is a relation of b and a. What hinders them to meet is said of a and b.
func turned(what string, relation func(a, b *graph.Node) *graph.Node, a, b *graph.Node) *graph.Node {
	defer calling(what, a, b)()
	if err := meet(a, b); err != nil {
		return graph.Of(a, b).Fail(what, err, a, b)
	}
	return relation(b, a)
}

func (lessEqual) Name() string                                     { return "LessEqual" }
func (lessEqual) Kind() match.Kind                                 { return match.LessEqual }
func (lessEqual) Doc() string                                      { return "mask of a ≤ b" }
func (lessEqual) Scalar(x ...float64) float64                      { return truth(x[0] <= x[1]) }
func (lessEqual) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Compare{Op: kernel.LessEq} }
func (lessEqual) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("≤", in) }
func (lessEqual) Cases() []Case                                    { return case2(LessEqual, Apart, Apart) }

type equal struct{ comparison }

// Equal returns the mask a = b, element by element, with broadcasting, for operands of one type. It
// is false where either is NaN.
func Equal(a, b *graph.Node) *graph.Node { return elementwise(equal{}, a, b) }

func (equal) Name() string                                     { return "Equal" }
func (equal) Kind() match.Kind                                 { return match.Equal }
func (equal) Commutes()                                        {}
func (equal) Doc() string                                      { return "mask of a = b" }
func (equal) Scalar(x ...float64) float64                      { return truth(x[0] == x[1]) }
func (equal) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Compare{Op: kernel.Equal} }
func (equal) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("=", in) }
func (equal) Cases() []Case                                    { return case2(Equal, Apart, Apart) }

type notEqual struct{ comparison }

// NotEqual returns the mask a ≠ b, element by element, with broadcasting, for operands of one type.
// It is true where either is NaN.
func NotEqual(a, b *graph.Node) *graph.Node { return elementwise(notEqual{}, a, b) }

func (notEqual) Name() string                                     { return "NotEqual" }
func (notEqual) Kind() match.Kind                                 { return match.NotEqual }
func (notEqual) Commutes()                                        {}
func (notEqual) Doc() string                                      { return "mask of a ≠ b" }
func (notEqual) Scalar(x ...float64) float64                      { return truth(x[0] != x[1]) }
func (notEqual) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Compare{Op: kernel.NotEqual} }
func (notEqual) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("≠", in) }
func (notEqual) Cases() []Case                                    { return case2(NotEqual, Apart, Apart) }
