package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type cast struct {
	pointwise
	To graph.DType
}

// Cast converts the elements of x to another type:
//
//   - A float becomes an integer without its fraction: the nearest integer of the type where it is
//     out of range, and 0 where it is NaN, on every machine.
//   - A float becomes a shorter one by rounding to the nearest, of two that are equally near to that
//     with an even last bit; beyond the largest number of f16, 65504, that is an infinity.
//   - An integer becomes a shorter one by its lower bits, also an i8 a u8.
//   - A number becomes the bool x ≠ 0, a bool the number 0 or 1.
//
// If x has the type already, Cast returns x. Derivatives flow between floats only.
func Cast(x *graph.Node, to graph.DType) *graph.Node {
	if x.IsValid() && x.DType() == to {
		return x
	}
	return graph.Apply(cast{To: to}, x)
}

func (cast) Name() string                            { return "Cast" }
func (cast) Kind() match.Kind                        { return match.Cast }
func (cast) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (cast) Doc() string                             { return "conversion of the element type" }

// Rule returns the name of the rule of its derivative.
func (cast) Rule(_ []bool) (name string, law expr.Expr) {
	return named("another element type")
}

func (op cast) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if !op.To.IsValid() {
		return graph.Type{}, fmt.Errorf("unknown element type %q: want f32, f64, f16, bf16, i32, i64, i8, u8 or bool", op.To)
	}
	return graph.Type{DType: op.To, Shape: in[0].Shape()}, nil
}

func (op cast) Grad(y, dy *graph.Node, _ int) *graph.Node {
	if x := y.In(0); x.DType().IsFloat() && op.To.IsFloat() {
		return Cast(dy, x.DType())
	}
	return nil
}

func (op cast) JVP(_ *graph.Node, dx []*graph.Node) *graph.Node {
	if dx[0] == nil || !op.To.IsFloat() {
		return nil
	}
	return Cast(dx[0], op.To)
}

// Keeps is of the operand, if that has all integers that the result has.
func (op cast) Keeps(y *graph.Node, _ float64) (operand int, ok bool) {
	from := y.In(0).DType()
	return 0, from == op.To || from.IsInt() && op.To.IsInt() && from.Size() < op.To.Size()
}

// Scalar rounds as all definitions do not: a float of any type stands for its number.
func (op cast) Scalar(x ...float64) float64 {
	if op.To.IsFloat() {
		return x[0]
	}
	return op.To.Round(x[0])
}
func (cast) Whole(x ...int64) int64           { return x[0] } // from one type of integers to another
func (cast) Kernel(*graph.Node) kernel.Kernel { return kernel.Cast{} }

// Notation is the operand's, unless more than digits are lost.
func (op cast) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	switch from := y.In(0).DType(); {
	case op.To == graph.Bool && from != graph.Bool:
		return bracket("≠", []expr.Expr{in[0], expr.Num(0)})
	case op.To.IsInt() && from.IsFloat():
		return expr.Call("trunc", in[0])
	}
	return in[0]
}

func (cast) Cases() []Case {
	to := func(d graph.DType) func([]*graph.Node) *graph.Node {
		return func(in []*graph.Node) *graph.Node { return Cast(in[0], d) }
	}
	return []Case{
		{[]Operand{{"float[i=3 d=4]", Apart}}, to(graph.I32)},
		{[]Operand{{"float[i=3]", Apart}}, to(graph.I64)},
		{[]Operand{{"float[i=3]", Apart}}, to(graph.Bool)},
		{[]Operand{{"f32[i=3]", Reals}}, to(graph.F64)},
		{[]Operand{{"bool[i=3]", Truth}}, to(graph.F32)},
		{[]Operand{{"i64[i=3]", Index(9)}}, to(graph.F32)},
	}
}
