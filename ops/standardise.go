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

type standardise struct {
	Axes attr.AxisSet
	Eps  attr.Float
}

// Standardise returns (x − mean x)/√(var x + eps), in the shape of floats x, with the mean and the
// variance over the given axes, or over all without any. Layer norm, instance norm and batch norm
// do this before they scale and shift. The variance is the mean squared difference from the mean:
// it divides by n, not n−1.
//
// Where an element is NaN or infinite, all elements with the same mean are NaN, and so they are
// where all are equal and eps is 0. A negative eps is a mistake.
func Standardise(x *graph.Node, eps float64, axes ...any) *graph.Node {
	return withAxes("Standardise", x, axes, func(list []int) *graph.Node {
		set := attr.AxesOf(list...)
		if len(axes) == 0 {
			set = 1<<x.Rank() - 1
		}
		return graph.Apply(standardise{set, attr.FloatOf(eps)}, x)
	})
}

func (standardise) Name() string                   { return "Standardise" }
func (standardise) Kind() match.Kind               { return match.Standardise }
func (op standardise) Along() attr.AxisSet         { return op.Axes }
func (op standardise) Epsilon() float64            { return op.Eps.Value() }
func (standardise) Magnifies() trait.Magnification { return trait.Cancellation }
func (standardise) Doc() string                    { return "differences from the mean over the standard deviation" }

// Rule returns the name of the rule of its derivative, and the law.
func (standardise) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("standardise, σ² = var u + ε", []string{"j"}, []string{"k"},
		delta("j", "k").Minus(expr.Num(1).Over(expr.Sym("n"))).Minus(expr.Sym("f", "j").Times(expr.Sym("f", "k")).Over(expr.Sym("n"))).Over(expr.Sym("σ")))
}

func (op standardise) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := rstd{op.Axes, true, op.Eps}.Infer(in)
	if err == nil {
		t = in[0].Type()
	}
	return t, err
}

// Grad uses y and ρ = 1/√(var x + eps): dx = ρ·(dy − mean dy − y·mean(y·dy)). The means of channels
// are written as sums, which the derivatives by what channels are scaled and shifted by have too;
// but not in types for storage, whose range a sum may leave where a mean does not.
func (op standardise) Grad(y, dy *graph.Node, _ int) *graph.Node {
	over := func(x *graph.Node) *graph.Node { return graph.Apply(mean{op.Axes, true}, x) }
	if !op.Axes.Has(y.Rank()-1) && y.DType().Wide() == y.DType() {
		over = func(x *graph.Node) *graph.Node {
			s := graph.Apply(sum{op.Axes, true}, x)
			return Scale(s, float64(s.Shape().Len())/float64(x.Shape().Len()))
		}
	}
	centred := Sub(Sub(dy, over(dy)), Mul(y, over(Mul(y, dy))))
	return Mul(centred, graph.Apply(rstd{op.Axes, true, op.Eps}, y.In(0)))
}

// JVP is Grad: the Jacobian ρ·(I − (1·1ᵀ + y·yᵀ)/n) is symmetric.
func (op standardise) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return op.Grad(y, dx[0], 0) }

func (op standardise) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(standardise{op.Axes << 1, op.Eps}, in[0])
}

func (op standardise) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	kept, means, variances := moments(in[0], op.Axes)
	out := graph.NewValue(y.Type())
	p := 0
	walk(y.Shape(), func(ix []int) {
		q := at(kept, ix)
		out.Data[p] = (in[0].Data[p] - means[q]) / math.Sqrt(variances[q]+op.Eps.Value())
		p++
	})
	return out
}

func (op standardise) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Standardise{Axes: uint8(op.Axes), Eps: op.Eps.Value()}
}

func (op standardise) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	args := []expr.Expr{in[0], expr.Num(op.Eps.Value())}
	return expr.Expr{Kind: expr.KindCall, Text: "standardise", Subs: indices(y, op.Axes), Args: args}
}

func (standardise) Cases() []Case {
	return reductionCases(func(x *graph.Node, axes ...any) *graph.Node { return Standardise(x, 0.1, withoutKeep(axes)...) }, Apart)
}

// withoutKeep are the axes alone.
func withoutKeep(axes []any) (out []any) {
	for _, a := range axes {
		if a != Keep {
			out = append(out, a)
		}
	}
	return out
}

type rstd struct {
	Axes attr.AxisSet
	Keep bool
	Eps  attr.Float
}

// Rstd returns the reciprocal standard deviation 1/√(var x + eps) of floats x over the given axes,
// or over all without any. It removes these axes unless [Keep] is given. [Standardise] multiplies
// by it; the derivatives of each are made of the two. It is infinite where all elements are equal
// and eps is 0, and NaN where one is NaN or infinite. A negative eps is a mistake.
func Rstd(x *graph.Node, eps float64, axes ...any) *graph.Node {
	return reduction("Rstd", x, axes, func(set attr.AxisSet, keep bool) *graph.Node {
		return graph.Apply(rstd{set, keep, attr.FloatOf(eps)}, x)
	})
}

func (rstd) Name() string                   { return "Rstd" }
func (rstd) Kind() match.Kind               { return match.Rstd }
func (op rstd) Along() attr.AxisSet         { return op.Axes }
func (op rstd) Epsilon() float64            { return op.Eps.Value() }
func (op rstd) Twin() graph.Op              { return rstd{op.Axes, !op.Keep, op.Eps} }
func (rstd) Magnifies() trait.Magnification { return trait.Cancellation }
func (rstd) Doc() string                    { return "reciprocal standard deviation over axes" }

// Rule returns the name of the rule of its derivative, and the law.
func (rstd) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("1/√(var u + ε)", nil, []string{"k"}, expr.Sym("f").Pow(expr.Num(3)).Times(expr.Sym("u", "k").Minus(expr.Sym("ū"))).Over(expr.Sym("n")).Neg())
}

func (op rstd) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := inferReduction(in, op.Axes, op.Keep, wantFloat)
	switch eps := op.Eps.Value(); {
	case err != nil:
	case !(eps >= 0 && eps <= math.MaxFloat64):
		err = fmt.Errorf("eps %v: want a number from 0", eps)
	default:
		err = t.DType.Check(eps)
	}
	return t, err
}

// Grad uses y: dx = −dy·y²/n·(x − mean x)·y.
func (op rstd) Grad(y, dy *graph.Node, _ int) *graph.Node {
	x := y.In(0)
	each := Mul(dy, Scale(Square(y), -float64(y.Shape().Len())/float64(x.Shape().Len())))
	return Mul(spread(each, x, op.Axes), graph.Apply(standardise{op.Axes, op.Eps}, x))
}

// JVP uses y and s = (x − mean x)·y: dy = −y²·mean(s·dx).
func (op rstd) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	s := graph.Apply(standardise{op.Axes, op.Eps}, y.In(0))
	return Neg(Mul(Square(y), graph.Apply(mean{op.Axes, op.Keep}, Mul(s, dx[0]))))
}

func (op rstd) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(rstd{op.Axes << 1, op.Keep, op.Eps}, in[0])
}

func (op rstd) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	_, _, variances := moments(in[0], op.Axes)
	out := graph.NewValue(y.Type())
	for q, v := range variances {
		out.Data[q] = 1 / math.Sqrt(v+op.Eps.Value())
	}
	return out
}

func (op rstd) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Rstd{Axes: uint8(op.Axes), Eps: op.Eps.Value()}
}

func (op rstd) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	variance := expr.Big("var", indices(y.In(0), op.Axes), in[0])
	return expr.Num(1).Over(expr.Call("√", variance.Plus(expr.Num(op.Eps.Value()))))
}

func (rstd) Cases() []Case {
	return reductionCases(func(x *graph.Node, axes ...any) *graph.Node { return Rstd(x, 0.1, axes...) }, Apart)
}

// moments gives means and variances over axes, per position beside them in row-major
// order, and the shape with those axes of size 1.
func moments(x graph.Value, axes attr.AxisSet) (kept graph.Shape, means, variances []float64) {
	kept, _ = reduceShape(x.Type.Shape, axes, true)
	average := func(of func(q int, v float64) float64) []float64 {
		sums := make([]float64, kept.Len())
		p := 0
		walk(x.Type.Shape, func(ix []int) {
			q := at(kept, ix)
			sums[q] += of(q, x.Data[p])
			p++
		})
		for q := range sums {
			sums[q] *= float64(kept.Len()) / float64(x.Type.Shape.Len())
		}
		return sums
	}
	means = average(func(_ int, v float64) float64 { return v })
	variances = average(func(q int, v float64) float64 { return (v - means[q]) * (v - means[q]) })
	return kept, means, variances
}
