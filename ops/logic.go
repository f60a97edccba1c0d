package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

func wantBool(in ...*graph.Node) error {
	for _, x := range in {
		if x.DType() != graph.Bool {
			return fmt.Errorf("an operand of type %v: want bool", x.DType())
		}
	}
	return nil
}

// mask is embedded by operations that make masks of masks.
type mask struct {
	flat
	pointwise
}

type and struct{ mask }

// And returns the mask that is true where both masks are, with broadcasting.
func And(a, b *graph.Node) *graph.Node { return elementwise(and{}, a, b) }

func (and) Name() string                                     { return "And" }
func (and) Kind() match.Kind                                 { return match.And }
func (and) Commutes()                                        {}
func (and) Doc() string                                      { return "conjunction of masks" }
func (and) Infer(in []*graph.Node) (graph.Type, error)       { return inferEach(in, 2, wantBool) }
func (and) Scalar(x ...float64) float64                      { return x[0] * x[1] }
func (and) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Logic{Op: kernel.And} }
func (and) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("∧", in) }
func (and) Cases() []Case                                    { return maskCases(And) }

type or struct{ mask }

// Or returns the mask that is true where either mask is, with broadcasting.
func Or(a, b *graph.Node) *graph.Node { return elementwise(or{}, a, b) }

func (or) Name() string                                     { return "Or" }
func (or) Kind() match.Kind                                 { return match.Or }
func (or) Commutes()                                        {}
func (or) Doc() string                                      { return "disjunction of masks" }
func (or) Infer(in []*graph.Node) (graph.Type, error)       { return inferEach(in, 2, wantBool) }
func (or) Scalar(x ...float64) float64                      { return max(x[0], x[1]) }
func (or) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Logic{Op: kernel.Or} }
func (or) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return bracket("∨", in) }
func (or) Cases() []Case                                    { return maskCases(Or) }

type not struct{ mask }

// Not returns the mask that is true where mask x is false.
func Not(x *graph.Node) *graph.Node { return elementwise(not{}, x) }

func (not) Name() string                                     { return "Not" }
func (not) Kind() match.Kind                                 { return match.Not }
func (not) Doc() string                                      { return "complement of a mask" }
func (not) Infer(in []*graph.Node) (graph.Type, error)       { return inferEach(in, 1, wantBool) }
func (not) Scalar(x ...float64) float64                      { return 1 - x[0] }
func (not) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Not{} }
func (not) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("¬", in[0]) }
func (not) Cases() []Case {
	return []Case{{[]Operand{{"bool[i=3]", Truth}}, func(in []*graph.Node) *graph.Node { return Not(in[0]) }}}
}

func maskCases(f func(a, b *graph.Node) *graph.Node) []Case {
	return []Case{{[]Operand{{"bool[i=3 j=4]", Truth}, {"bool[j=4]", Truth}},
		func(in []*graph.Node) *graph.Node { return f(in[0], in[1]) }}}
}
