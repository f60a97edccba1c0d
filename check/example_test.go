package check_test

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// swish is an operation from outside the module: x·σ(βx), element by element.
type swish struct{ Beta attr.Float }

func (swish) Name() string { return "Swish" }

func (swish) Infer(in []*graph.Node) (graph.Type, error) {
	if len(in) != 1 || !in[0].DType().IsFloat() {
		return graph.Type{}, errors.New("want one float operand")
	}
	return in[0].Type(), nil
}

// Scalar is the definition.
func (s swish) Scalar(x ...float64) float64 { return x[0] / (1 + math.Exp(-s.Beta.Value()*x[0])) }

// Grad is dy·(σ + β·y·(1 − σ)), made of operations, so it has derivatives too.
func (s swish) Grad(y, dy *graph.Node, _ int) *graph.Node {
	β := s.Beta.Value()
	σ := ops.Sigmoid(ops.Scale(y.In(0), β))
	return ops.Mul(dy, ops.Add(σ, ops.Scale(ops.Mul(y, ops.Shift(ops.Neg(σ), 1)), β)))
}

// Run is what the tape calls.
func (s swish) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F64 {
		out.F64[i] = s.Scalar(x)
	}
	for i, x := range in[0].F32 {
		out.F32[i] = float32(s.Scalar(float64(x)))
	}
}

// Notation is how formulas and drawings write it.
func (swish) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("swish", in[0]) }

// cases are what it is checked on.
func (s swish) cases() []ops.Case {
	return []ops.Case{{
		Operands: []ops.Operand{{Type: "float[i=3 d=5]", Domain: ops.Reals}},
		Make:     func(in []*graph.Node) *graph.Node { return graph.Apply(s, in[0]) },
	}}
}

// hasty is swish with a derivative that forgets a term.
type hasty struct{ swish }

func (hasty) Name() string { return "Hasty" }
func (s hasty) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return ops.Mul(dy, ops.Sigmoid(ops.Scale(y.In(0), s.Beta.Value())))
}

// An operation from outside is checked in a test of the package that has it.
func ExampleOp() {
	β := swish{attr.FloatOf(1.5)}
	fmt.Println(check.Op(β, β.cases()...))

	wrong := hasty{β}
	err := check.Op(wrong, ops.Case{Operands: β.cases()[0].Operands, Make: func(in []*graph.Node) *graph.Node { return graph.Apply(wrong, in[0]) }})
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}
