package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type choose struct{ pointwise }

// Select returns a where the mask is true and b elsewhere, element by element, with broadcasting.
// The mask is a bool; a and b have one element type, which may be any. An element that is not
// chosen has no influence on the value, not even as NaN or infinity.
//
// Nor has it an influence on derivatives of any order, as far as a and b are made by elementwise
// operations, sums, means, slices, [Concat], [Pad] and changes of layout: the derivative of
// Select(x > 0, √x, 0) is 0 at x = −1 and at x = 0. Other operations (matrix products, softmax,
// gather, loops) mix chosen elements with others. If their operands may be infinite, NaN, or
// arbitrarily steep, select before them as well, and in a loop within its step.
func Select(mask, a, b *graph.Node) *graph.Node { return elementwise(choose{}, mask, a, b) }

func (choose) Name() string                            { return "Select" }
func (choose) Kind() match.Kind                        { return match.Select }
func (choose) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (choose) Doc() string                             { return "a where the mask is true, b elsewhere" }

// Rule returns the name of the rule of its derivative.
func (choose) Rule(_ []bool) (name string, law expr.Expr) {
	return named("only the chosen branch counts")
}

func (choose) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	if in[0].DType() != graph.Bool {
		return graph.Type{}, fmt.Errorf("a mask of type %v: want bool", in[0].DType())
	}
	if in[1].DType() != in[2].DType() {
		return graph.Type{}, dtypesDiffer(in[1], in[2])
	}
	s, err := sameShape(in)
	return graph.Type{DType: in[1].DType(), Shape: s}, err
}

func (choose) Grad(y, dy *graph.Node, i int) *graph.Node {
	switch i {
	case 1:
		return Select(y.In(0), dy, Lit(dy, 0))
	case 2:
		return Select(y.In(0), Lit(dy, 0), dy)
	}
	return nil
}

// Keeps is of the array beside a number that is not v.
func (choose) Keeps(y *graph.Node, v float64) (operand int, ok bool) {
	for i := 1; i <= 2; i++ {
		if other, literal := match.Literal(y.In(3 - i)); literal && other != v {
			return i, true
		}
	}
	return 0, false
}

func (choose) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (choose) Scalar(x ...float64) float64 {
	if x[0] != 0 {
		return x[1]
	}
	return x[2]
}

func (choose) Kernel(*graph.Node) kernel.Kernel { return kernel.Select{} }

func (choose) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Cases(in[0], in[1], in[2])
}

func (choose) Cases() []Case {
	return []Case{
		{[]Operand{{"bool[i=3 d=4]", Truth}, {"float[i=3 d=4]", Reals}, {"float[d=4]", Reals}},
			func(in []*graph.Node) *graph.Node { return Select(in[0], in[1], in[2]) }},
	}
}
