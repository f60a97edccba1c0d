package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

func (convInput) Name() string      { return "ConvInput" }
func (convInput) Kind() match.Kind  { return match.ConvInput }
func (convInput) Linear(i int) bool { return i < 2 }
func (convInput) Doc() string {
	return "elements spread over windows, weighted by a kernel: Conv's transpose in its array"
}

// Rule returns the name of the rule of its derivative.
func (convInput) Rule(_ []bool) (name string, law expr.Expr) {
	return named("convolution, transposed in its input")
}

func (op convInput) Kernel(*graph.Node) kernel.Kernel {
	return kernel.ConvInput(convolution(op).kernel())
}

func (op convInput) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	return convolution(op).infer(in, op.To, exchanged(in[1].Shape()), in[0].Shape())
}

// Grad is dy = Conv(dx, w), dwᵀ = ConvKernel(dx, y)ᵀ.
func (op convInput) Grad(x, dx *graph.Node, i int) *graph.Node {
	y, v := x.In(0), x.In(1)
	if i == 0 {
		op.To = graph.Shape{}
		return graph.Apply(conv(op), dx, swapLast(v))
	}
	op.To = exchanged(v.Shape())
	return swapLast(graph.Apply(convKernel(op), dx, y))
}

func (convInput) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return multilinearly(y, dx) }

// Batch is like [conv]'s.
func (op convInput) Batch(x *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[1] {
		op.To = inFront(b, op.To)
		return graph.Apply(op, in...)
	}
	y, v, last := in[0], in[1], x.Rank()-1
	if batched[0] || op.Groups > 1 {
		y, v = beside(repeated(in, batched, b)[0], last), beside(v, op.Stride.Len())
		op.Groups *= b.Size
	} else {
		v = beside(v, op.Stride.Len()+1)
	}
	op.To = widened(op.To, last, b.Size)
	return parted(graph.Apply(op, y, v), last, b, x.Shape().Axis(last))
}

func (op convInput) Eval(_ trait.Env, x *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(x.Type())
	w := exchanged(in[1].Type.Shape)
	c, o := w.Dim(w.Rank()-2), w.Dim(w.Rank()-1)
	convolution(op).products(x.Shape(), w, in[0].Type.Shape, func(x, w, y int) {
		out.Data[x] += in[0].Data[y] * in[1].Data[w-w%(c*o)+w%o*c+w/o%c]
	})
	return out
}

// Notation leaves out the channels that are summed over: x may have its own under
// the same name.
func (op convInput) Notation(x *graph.Node, in []expr.Expr) expr.Expr {
	y := x.In(0).Shape()
	if op.Groups == 1 {
		in = []expr.Expr{in[0].Subst([]string{y.Axis(y.Rank() - 1).Name}, []string{""}), in[1]}
	}
	return alongPlanes(inGroups(op.Groups, y.Dim(y.Rank()-1))+"transposed conv", x, op.Stride.Len(), in)
}

func (convInput) Cases() []Case {
	return convCases(func(c convolution) graph.Op { return convInput(c) },
		func(x, w, y graph.Shape) (_, _, _ graph.Shape) { return y, exchanged(w), x })
}
