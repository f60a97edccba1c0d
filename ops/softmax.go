package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

func inferAlong(in []*graph.Node, axis int) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	if axis < 0 || axis >= in[0].Rank() {
		return graph.Type{}, fmt.Errorf("axis %d of %v", axis, in[0].Shape())
	}
	return in[0].Type(), nil
}

type softmax struct{ Axis int }

// Softmax returns exp(x)/Σ exp(x) along one axis of floats x, in the shape of x. It subtracts the
// maximum first, and so is right for every finite x; where all elements along the axis are −∞, the
// result is NaN. Weights below 2⁻¹⁰² (f32) or 2⁻⁹⁹⁸ (f64) of the largest are 0.
func Softmax(x *graph.Node, axis any) *graph.Node {
	return withAxes("Softmax", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(softmax{list[0]}, x) })
}

func (softmax) Name() string                   { return "Softmax" }
func (softmax) Kind() match.Kind               { return match.Softmax }
func (op softmax) Along() attr.AxisSet         { return attr.AxesOf(op.Axis) }
func (softmax) Magnifies() trait.Magnification { return trait.LargeArguments }
func (softmax) Doc() string                    { return "exponentials over their sum along an axis" }

// Rule returns the name of the rule of its derivative, and the law.
func (softmax) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("softmax", []string{"j"}, []string{"k"}, expr.Sym("f", "j").Times(delta("j", "k").Minus(expr.Sym("f", "k"))))
}

func (op softmax) Infer(in []*graph.Node) (graph.Type, error) { return inferAlong(in, op.Axis) }
func (op softmax) Kernel(*graph.Node) kernel.Kernel           { return kernel.Softmax{Axis: op.Axis} }
func (softmax) Cases() []Case                                 { return alongCases(Softmax) }

// Grad uses y: dx = y·(dy − Σ y·dy).
func (op softmax) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(y, Sub(dy, Sum(Mul(y, dy), op.Axis, Keep)))
}

// JVP is Grad: the Jacobian diag(y) − y·yᵀ is symmetric.
func (op softmax) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return op.Grad(y, dx[0], 0) }

func (op softmax) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(softmax{op.Axis + 1}, in[0])
}

func (op softmax) Eval(env trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := logSoftmaxOf(y, in[0], op.Axis)
	for i, v := range out.Data {
		out.Data[i] = math.Exp(v)
	}
	return out
}

func (op softmax) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return functionAlong("softmax", y, op.Axis, in[0])
}

// functionAlong is f_j(x): a function along the named axis j.
func functionAlong(f string, y *graph.Node, axis int, x expr.Expr) expr.Expr {
	return expr.Expr{Kind: expr.KindCall, Text: f, Subs: indices(y, attr.AxesOf(axis)), Args: []expr.Expr{x}}
}

// functionOf is element k of f(x) along its axis.
func functionOf(f, k string, x expr.Expr) expr.Expr {
	return expr.Expr{Kind: expr.KindCall, Text: f, Subs: []string{k}, Args: []expr.Expr{x}}
}

type logSoftmax struct{ Axis int }

// LogSoftmax returns the logarithm of [Softmax] along one axis of floats x, in the shape of x,
// without the rounding and the underflow of Softmax.
func LogSoftmax(x *graph.Node, axis any) *graph.Node {
	return withAxes("LogSoftmax", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(logSoftmax{list[0]}, x) })
}

func (logSoftmax) Name() string                   { return "LogSoftmax" }
func (logSoftmax) Kind() match.Kind               { return match.LogSoftmax }
func (op logSoftmax) Along() attr.AxisSet         { return attr.AxesOf(op.Axis) }
func (logSoftmax) Magnifies() trait.Magnification { return trait.Cancellation }
func (logSoftmax) Doc() string                    { return "logarithm of softmax along an axis" }

// Rule returns the name of the rule of its derivative, and the law.
func (logSoftmax) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("log softmax", []string{"j"}, []string{"k"}, delta("j", "k").Minus(expr.Sym("e").Pow(expr.Sym("f", "k"))))
}

func (op logSoftmax) Infer(in []*graph.Node) (graph.Type, error) { return inferAlong(in, op.Axis) }
func (op logSoftmax) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Softmax{Axis: op.Axis, Log: true}
}
func (logSoftmax) Cases() []Case { return alongCases(LogSoftmax) }

// Grad uses y: dx = dy − eʸ·Σ dy.
func (op logSoftmax) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Sub(dy, Mul(Exp(y), Sum(dy, op.Axis, Keep)))
}

// JVP uses y: dy = dx − Σ eʸ·dx.
func (op logSoftmax) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return Sub(dx[0], Sum(Mul(Exp(y), dx[0]), op.Axis, Keep))
}

func (op logSoftmax) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(logSoftmax{op.Axis + 1}, in[0])
}

func (op logSoftmax) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return logSoftmaxOf(y, in[0], op.Axis)
}

func (op logSoftmax) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return functionAlong("log softmax", y, op.Axis, in[0])
}

type logSumExp struct {
	Axis int
	Keep bool
}

// LogSumExp returns log Σ exp(x) for floats x over the given axes, or over all without any. It
// removes these axes unless [Keep] is given. It subtracts the maximum first, and so is right for
// every finite x. Of no elements it is −∞, log 0.
func LogSumExp(x *graph.Node, axes ...any) *graph.Node {
	return reduction("LogSumExp", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		list := set.List()
		for i := len(list) - 1; i >= 0; i-- {
			x = graph.Apply(logSumExp{list[i], keep}, x)
		}
		return x
	})
}

func (logSumExp) Name() string                   { return "LogSumExp" }
func (logSumExp) Kind() match.Kind               { return match.LogSumExp }
func (op logSumExp) Along() attr.AxisSet         { return attr.AxesOf(op.Axis) }
func (op logSumExp) Twin() graph.Op              { return logSumExp{op.Axis, !op.Keep} }
func (logSumExp) Magnifies() trait.Magnification { return trait.Cancellation }
func (logSumExp) Doc() string                    { return "logarithm of the sum of exponentials along an axis" }

// Rule returns the name of the rule of its derivative, and the law.
func (logSumExp) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("log-sum-exp", nil, []string{"k"}, functionOf("softmax", "k", expr.Sym("u", "k")))
}

func (op logSumExp) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := inferAlong(in, op.Axis)
	if err == nil {
		t.Shape, err = dropAxis(t.Shape, op.Axis, op.Keep)
	}
	return t, err
}

func (op logSumExp) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(spread(dy, y.In(0), attr.AxesOf(op.Axis)), Softmax(y.In(0), op.Axis))
}

// JVP is the average of dx with the weights of softmax.
func (op logSumExp) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return graph.Apply(sum{attr.AxesOf(op.Axis), op.Keep}, Mul(Softmax(y.In(0), op.Axis), dx[0]))
}

func (op logSumExp) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(logSumExp{op.Axis + 1, op.Keep}, in[0])
}

func (op logSumExp) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	most, rest := logSumExpOf(in[0], op.Axis)
	for i := range out.Data {
		out.Data[i] = most[i] + rest[i]
	}
	return out
}

func (op logSumExp) Kernel(*graph.Node) kernel.Kernel { return kernel.LogSumExp{Axis: op.Axis} }

func (op logSumExp) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("log", expr.Big("Σ", indices(y.In(0), attr.AxesOf(op.Axis)), expr.Sym("e").Pow(in[0])))
}

func (logSumExp) Cases() []Case {
	return append(alongCases(func(x *graph.Node, axis any) *graph.Node { return LogSumExp(x, axis) }),
		alongCases(func(x *graph.Node, axis any) *graph.Node { return LogSumExp(x, axis, Keep) })...)
}

// logSumExpOf gives log Σ exp(x) as a sum of two numbers, the maximum and the
// rest, per position beside the axis in row-major order: added up they would
// lose the digits of small differences between large x.
func logSumExpOf(x graph.Value, axis int) (most, rest []float64) {
	kept, _ := dropAxis(x.Type.Shape, axis, true)
	most, rest = make([]float64, kept.Len()), make([]float64, kept.Len())
	for i := range most {
		most[i] = math.Inf(-1)
	}
	each := func(f func(q int, v float64)) {
		p := 0
		walk(x.Type.Shape, func(ix []int) { f(at(kept, ix), x.Data[p]); p++ })
	}
	each(func(q int, v float64) { most[q] = max(most[q], v) })
	each(func(q int, v float64) {
		if !math.IsInf(most[q], 0) {
			rest[q] += math.Exp(v - most[q])
		} else {
			rest[q] = 1
		}
	})
	for q := range rest {
		rest[q] = math.Log(rest[q])
	}
	return most, rest
}

func logSoftmaxOf(y *graph.Node, x graph.Value, axis int) graph.Value {
	kept, _ := dropAxis(x.Type.Shape, axis, true)
	most, rest := logSumExpOf(x, axis)
	out := graph.NewValue(y.Type())
	p := 0
	walk(x.Type.Shape, func(ix []int) {
		q := at(kept, ix)
		out.Data[p] = x.Data[p] - most[q] - rest[q]
		p++
	})
	return out
}

func alongCases(f func(x *graph.Node, axis any) *graph.Node) []Case {
	return []Case{
		{[]Operand{{"float[i=3 j=4]", Reals}}, func(in []*graph.Node) *graph.Node { return f(in[0], "j") }},
		{[]Operand{{"float[i=3 j=4 d=2]", Reals}}, func(in []*graph.Node) *graph.Node { return f(in[0], 1) }},
		{[]Operand{{"float[i=3 j=4]", Domain{Lo: 900, Hi: 1000}}}, func(in []*graph.Node) *graph.Node { return f(in[0], "i") }},
	}
}
