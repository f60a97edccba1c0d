package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type logDet struct{ eachAlone }

// LogDet returns log |det A| of square matrices A[… n n] of floats, an array over the batch axes. It
// neither overflows nor underflows where the determinant would. That of a singular matrix is −∞, with a
// derivative of NaN. See [SlogDet] for the sign.
func LogDet(a *graph.Node) *graph.Node { return graph.Apply(logDet{}, a) }

type detSign struct{ eachAlone }

// SlogDet returns the sign of the determinant of square matrices A[… n n] of floats, 1, −1, or 0 where a
// matrix is singular, and [LogDet]; each is an array over the batch axes. No derivative flows through
// the sign.
func SlogDet(a *graph.Node) (sign, log *graph.Node) {
	defer calling("SlogDet", a)()
	if log = LogDet(a); !log.IsValid() {
		return log, log
	}
	return graph.Apply(detSign{}, a), log
}

// Det returns the determinants of square matrices A[… n n] of floats, an array over the batch axes. At
// a singular matrix it is 0, and its derivative is NaN.
func Det(a *graph.Node) *graph.Node {
	defer calling("Det", a)()
	sign, log := SlogDet(a)
	if !log.IsValid() {
		return log
	}
	return Mul(sign, Exp(log))
}

// MatrixPower returns Aᵖ for square matrices A[… i j] of floats and an integer p, by repeated squaring;
// a negative power is that of the inverse. The result has the shape of A.
func MatrixPower(a *graph.Node, p int) *graph.Node {
	defer calling("MatrixPower", a)()
	if a == nil || !a.IsValid() {
		return graph.Of(a).Fail("MatrixPower", fmt.Errorf("operand is nil"), a)
	}
	if err := wantSquare(a); err != nil {
		return a.Graph().Fail("MatrixPower", err, a)
	}
	x := unnamed(a)
	n := uint(p)
	if p < 0 {
		x, n = unnamed(Inv(a)), -n
	}
	var y *graph.Node
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if y == nil {
				y = x
			} else {
				y = MatMul(y, x)
			}
		}
		if n > 1 {
			x = MatMul(x, x)
		}
	}
	if y == nil {
		y = BroadcastTo(identity(a, a.Dim(a.Rank()-1)), x.Shape())
	}
	return likeOperand(y, a)
}

func (logDet) Name() string      { return "LogDet" }
func (logDet) Kind() match.Kind  { return match.LogDet }
func (detSign) Name() string     { return "DetSign" }
func (detSign) Kind() match.Kind { return match.DetSign }
func (logDet) Doc() string       { return "logarithm of the magnitude of determinants" }
func (detSign) Doc() string      { return "signs of determinants" }

func (logDet) Magnifies() trait.Magnification { return trait.Cancellation }

// Rule returns the name of the rule of its derivative.
func (logDet) Rule(_ []bool) (name string, law expr.Expr) {
	return named("log-determinant: the transposed inverse")
}

func (logDet) Infer(in []*graph.Node) (graph.Type, error)  { return inferDet(in) }
func (detSign) Infer(in []*graph.Node) (graph.Type, error) { return inferDet(in) }

func inferDet(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantSquare(in[0]); err != nil {
		return graph.Type{}, err
	}
	s, err := graph.NewShape(in[0].Shape().Axes()[:in[0].Rank()-2]...)
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// Grad is dy·A⁻ᵀ.
func (logDet) Grad(y, dy *graph.Node, _ int) *graph.Node {
	a := unnamed(y.In(0))
	over := ReshapeTo(unnamed(dy), onesAfter(dy.Shape()))
	return likeOperand(Mul(BroadcastTo(over, a.Shape()), swapLast(unnamed(Inv(y.In(0))))), y.In(0))
}

// onesAfter is a shape without names, with two axes of one element at its end.
func onesAfter(s graph.Shape) graph.Shape {
	to, _ := graph.NewShape(graph.Dims(append(s.Sizes(), 1, 1)...)...)
	return to
}

// JVP is tr(A⁻¹·dA).
func (logDet) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return likeOperand(Trace(Solve(unnamed(y.In(0)), unnamed(dx[0]))), y)
}

func (detSign) Grad(_, _ *graph.Node, _ int) *graph.Node       { return nil }
func (detSign) JVP(_ *graph.Node, _ []*graph.Node) *graph.Node { return nil }

// Convention says that no derivative flows.
func (detSign) Convention() string { return "0" }

func (op logDet) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (op detSign) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (logDet) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalDet(y, in, func(_, log float64) float64 { return log })
}

func (detSign) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return evalDet(y, in, func(sign, _ float64) float64 { return sign })
}

func evalDet(y *graph.Node, in []graph.Value, which func(sign, log float64) float64) graph.Value {
	out := graph.NewValue(y.Type())
	n := y.In(0).Dim(y.Rank())
	for u := range out.Data {
		a := append([]float64(nil), in[0].Data[u*n*n:(u+1)*n*n]...)
		out.Data[u] = which(reduceRows(a, nil, n, 0))
	}
	return out
}

func (logDet) Kernel(*graph.Node) kernel.Kernel  { return kernel.Determinant{} }
func (detSign) Kernel(*graph.Node) kernel.Kernel { return kernel.Determinant{Sign: true} }

// Notation is log|A|.
func (logDet) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("log|", whole(y.In(0), in[0]))
}

// Notation is sign(det(A)).
func (detSign) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("sign", expr.Call("det", whole(y.In(0), in[0])))
}

func (logDet) Cases() []Case { return detCases(LogDet) }
func (detSign) Cases() []Case {
	return detCases(func(a *graph.Node) *graph.Node { return graph.Apply(detSign{}, a) })
}

func detCases(f func(a *graph.Node) *graph.Node) []Case {
	of := func(a string) Case {
		return Case{[]Operand{{a, Reals}}, func(in []*graph.Node) *graph.Node { return f(Add(in[0], definite(in[0]))) }}
	}
	return []Case{of("float[3 3]"), of("float[b=2 i=2 j=2]")}
}
