package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type convInteger convolution

// ConvInteger returns the cross-correlation of bytes x[… t c] or x[… h w c] with a kernel w[k c o] or
// w[kh kw c o] of i8, as i32, as ONNX's operator of this name computes it:
//
//	y_uo = Σ_kc (x_{u+k,c} − zero)·w_kco
//
// x is u8 or i8; zero, a number of the type of x, is the one that stands for 0, also around x. It
// takes the options of [Conv1D] and [Conv2D]; it is exact, and wraps around, as [MatMulInteger] is. No
// derivative flows through it.
func ConvInteger(x, w, zero *graph.Node, options ...Window) *graph.Node {
	defer calling("ConvInteger", x, w, zero)()
	g, in := graph.Join(x, w, zero)
	spatial := 2
	if w.IsValid() {
		if spatial = w.Rank() - 2; spatial < 1 || spatial > 2 {
			return g.Fail("ConvInteger", fmt.Errorf("a kernel of %d axes: want [k c o] or [kh kw c o]", w.Rank()), in...)
		}
	}
	c, laid, back, err := convolutionOf(spatial, in[0], in[1], options)
	if err != nil {
		return g.Fail("ConvInteger", err, in...)
	}
	return returned(g.Apply(convInteger(c), laid, in[1], in[2]), back)
}

// Integer returns [ConvInteger] with the same attributes.
func (op conv) Integer() graph.Op { return convInteger(op) }

func (convInteger) Name() string     { return "ConvInteger" }
func (convInteger) Kind() match.Kind { return match.ConvInteger }
func (convInteger) Doc() string      { return "sums of windows of bytes weighted by a kernel of i8, in i32" }

func (op convInteger) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	if err := wantBytes(in); err != nil {
		return graph.Type{}, err
	}
	if op.To != (graph.Shape{}) {
		return graph.Type{}, fmt.Errorf("its shape follows from its operands")
	}
	s, err := convolution(op).result(in[0].Shape(), in[1].Shape())
	return graph.Type{DType: graph.I32, Shape: s}, err
}

func (convInteger) Grad(_, _ *graph.Node, _ int) *graph.Node       { return nil }
func (convInteger) JVP(_ *graph.Node, _ []*graph.Node) *graph.Node { return nil }

// Batch takes the examples for a batch, but where each has a kernel or a zero of its own.
func (op convInteger) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[1] && !batched[2] {
		return graph.Apply(op, in...)
	}
	if batched[2] {
		in = repeated(in, []bool{batched[0], true, true}, b)
		in[2] = unnamedAs(in[2], append([]int{b.Size}, slices.Repeat([]int{1}, y.In(0).Rank())...)...)
	}
	return exactly(in, func(x, w *graph.Node) *graph.Node {
		return conv(op).Batch(y, []*graph.Node{x, w}, []bool{batched[0] || batched[2], batched[1]}, b)
	})
}

func (op convInteger) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	convolution(op).products(in[0].Type.Shape, in[1].Type.Shape, y.Shape(), func(x, w, y int) {
		out.Data[y] += (in[0].Data[x] - in[2].Data[0]) * in[1].Data[w]
	})
	for i, v := range out.Data {
		out.Data[i] = wrapped(v)
	}
	return out
}

func (op convInteger) Kernel(y *graph.Node) kernel.Kernel {
	size := attr.IntsOf(y.In(1).Shape().Sizes()[:op.Stride.Len()]...)
	return kernel.ConvInteger{Convolution: convolution(op).kernel(), Size: pair(size, 1)}
}

// Notation is that of a convolution.
func (op convInteger) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return conv(op).Notation(y, []expr.Expr{in[0].Minus(in[2]), in[1]})
}

func (convInteger) Cases() (all []Case) {
	for i, c := range convCases(func(c convolution) graph.Op { return convInteger(c) },
		func(x, w, _ graph.Shape) (_, _, _ graph.Shape) { return x, w, graph.Shape{} }) {
		x, domain := "u8", unsigned
		if i%2 == 1 {
			x, domain = "i8", signed
		}
		for k, o := range []Operand{{x, domain}, {"i8", signed}} {
			o.Type += c.Operands[k].Type[len("float"):]
			c.Operands[k] = o
		}
		c.Operands = append(c.Operands, Operand{x + "[]", domain})
		all = append(all, c)
	}
	return all
}
