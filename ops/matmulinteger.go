package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type matMulInteger struct{ flat }

// MatMulInteger returns the product of rows x[… m k] of bytes and a matrix w[k n] of i8 as i32[… m
// n], as ONNX's operator of this name computes it:
//
//	y_mn = Σ_k (x_mk − zero)·w_kn
//
// x is u8 or i8; zero, a number of the type of x, is the one that stands for 0. The result is exact,
// and wraps around beyond i32, as it does not for fewer than 65 000 terms. With scales for x and for
// the columns of w it is a product of floats. No derivative flows through
// it.
func MatMulInteger(x, w, zero *graph.Node) *graph.Node {
	g, in := graph.Join(x, w, zero)
	return g.Apply(matMulInteger{}, in...)
}

// Integer returns [MatMulInteger].
func (matMul) Integer() graph.Op { return matMulInteger{} }

func (matMulInteger) Name() string     { return "MatMulInteger" }
func (matMulInteger) Kind() match.Kind { return match.MatMulInteger }
func (matMulInteger) Doc() string      { return "product of rows of bytes and a matrix of i8, in i32" }

func (matMulInteger) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	if err := wantBytes(in); err != nil {
		return graph.Type{}, err
	}
	x, w := in[0].Shape(), in[1].Shape()
	if x.Rank() < 1 || w.Rank() != 2 {
		return graph.Type{}, fmt.Errorf("operands of %d and %d axes: want rows [… k] and a matrix [k n]", x.Rank(), w.Rank())
	}
	axes, last := x.Axes(), x.Rank()-1
	switch k, l := x.Axis(last), w.Axis(0); {
	case k.Size != l.Size:
		return graph.Type{}, fmt.Errorf("inner axes differ (%d ≠ %d)", k.Size, l.Size)
	case unprimed(k.Name) != unprimed(l.Name) && k.Name != "" && l.Name != "":
		return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("inner axes are called %q and %q", k.Name, l.Name), Fix: "rename one axis"}
	}
	axes[last] = w.Axis(1)
	s, err := graph.NewShape(graph.Primed(axes...)...)
	return graph.Type{DType: graph.I32, Shape: s}, err
}

// wantBytes refuses other operands of a product of integers than x of bytes, w of i8, and a number of
// the type of x.
func wantBytes(in []*graph.Node) error {
	x, w, zero := in[0], in[1], in[2]
	switch {
	case x.DType() != graph.U8 && x.DType() != graph.I8:
		return &graph.Mistake{Problem: fmt.Sprintf("a first operand of type %v: want u8 or i8", x.DType()), Fix: "convert with ops.Cast"}
	case w.DType() != graph.I8:
		return &graph.Mistake{Problem: fmt.Sprintf("a second operand of type %v: want i8", w.DType()), Fix: "convert with ops.Cast"}
	case zero.DType() != x.DType() || zero.Rank() != 0:
		return fmt.Errorf("a zero of type %v: want a number of type %v, as the first operand has it", zero.Type(), x.DType())
	}
	return nil
}

// exactly is a product of what floats hold exactly, in i32, beyond which it wraps around: the way to
// compute what no product of integers does at once.
func exactly(in []*graph.Node, product func(x, w *graph.Node) *graph.Node) *graph.Node {
	wide := func(n *graph.Node) *graph.Node { return Cast(n, graph.F64) }
	return Cast(Cast(product(Sub(wide(in[0]), wide(in[2])), wide(in[1])), graph.I64), graph.I32)
}

// Batch takes the examples for rows, but where each has a matrix or a zero of its own.
func (op matMulInteger) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[1] && !batched[2] {
		return graph.Apply(op, in...)
	}
	in = repeated(in, batched, b)
	rows := max(1, y.Shape().Len()/max(1, y.Dim(y.Rank()-1)))
	x := unnamedAs(in[0], b.Size, rows, y.In(0).Dim(y.Rank()-1))
	zero := unnamedAs(in[2], b.Size, 1, 1)
	return ReshapeTo(exactly([]*graph.Node{x, unnamed(in[1]), zero}, MatMul), inFront(b, y.Shape()))
}

// unnamedAs is x with axes of the given sizes.
func unnamedAs(x *graph.Node, sizes ...int) *graph.Node {
	return reshapeAxes("Batch", x, graph.Dims(sizes...))
}

func (matMulInteger) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	k, n := in[1].Type.Shape.Dim(0), in[1].Type.Shape.Dim(1)
	for p := range out.Data {
		for q := range k {
			out.Data[p] += (in[0].Data[p/n*k+q] - in[2].Data[0]) * in[1].Data[q*n+p%n]
		}
		out.Data[p] = wrapped(out.Data[p])
	}
	return out
}

// wrapped is an integer as i32 has it.
func wrapped(v float64) float64 { return float64(graph.I32.Wrap(int64(v))) }

func (matMulInteger) Kernel(*graph.Node) kernel.Kernel { return kernel.MatMulInteger{} }

// Notation is that of a product of matrices.
func (matMulInteger) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("matmul", in[0].Minus(in[2]), in[1])
}

var (
	unsigned = Domain{Lo: 0, Hi: 255}
	signed   = Domain{Lo: -128, Hi: 127}
)

func (matMulInteger) Cases() []Case {
	mul := func(in []*graph.Node) *graph.Node { return MatMulInteger(in[0], in[1], in[2]) }
	return []Case{
		{[]Operand{{"u8[i=3 k=5]", unsigned}, {"i8[k=5 j=2]", signed}, {"u8[]", unsigned}}, mul},
		{[]Operand{{"i8[b=2 i=3 k=4]", signed}, {"i8[k=4 j=3]", signed}, {"i8[]", signed}}, mul},
		{[]Operand{{"u8[k=3]", unsigned}, {"i8[j=2 k=3]", signed}, {"u8[]", unsigned}},
			func(in []*graph.Node) *graph.Node { return MatMulInteger(in[0], Transpose(in[1]), in[2]) }},
	}
}
