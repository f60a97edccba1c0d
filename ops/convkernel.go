package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

func (convKernel) Name() string      { return "ConvKernel" }
func (convKernel) Kind() match.Kind  { return match.ConvKernel }
func (convKernel) Linear(i int) bool { return i < 2 }
func (convKernel) Doc() string {
	return "products of windows with elements, summed over all windows: Conv's transpose in its kernel"
}

// Rule returns the name of the rule of its derivative.
func (convKernel) Rule(_ []bool) (name string, law expr.Expr) {
	return named("convolution, transposed in its kernel")
}

func (op convKernel) Kernel(*graph.Node) kernel.Kernel {
	return kernel.ConvKernel{Convolution: convolution(op).kernel()}
}

func (op convKernel) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	return convolution(op).infer(in, in[0].Shape(), op.To, in[1].Shape())
}

// Grad is dx = ConvInput(y, dwᵀ), dy = Conv(x, dw).
func (op convKernel) Grad(w, dw *graph.Node, i int) *graph.Node {
	x, y := w.In(0), w.In(1)
	if i == 0 {
		op.To = x.Shape()
		return graph.Apply(convInput(op), y, swapLast(dw))
	}
	op.To = graph.Shape{}
	return graph.Apply(conv(op), x, dw)
}

func (convKernel) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return multilinearly(y, dx) }

// Batch is like [conv]'s: a kernel for each example needs them apart.
func (op convKernel) Batch(w *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	x, y := in[0], in[1]
	at, last := op.Stride.Len()+1, w.In(0).Rank()-1
	switch {
	case batched[0] && batched[1] || op.Groups > 1:
		both := repeated(in, batched, b)
		x, y = beside(both[0], last), beside(both[1], last)
		op.Groups *= b.Size
	case batched[1]:
		y = beside(y, last)
	default:
		x, at = beside(x, last), at-1
	}
	op.To = widened(op.To, at, b.Size)
	return parted(graph.Apply(op, x, y), at, b, w.Shape().Axis(at))
}

func (op convKernel) Eval(_ trait.Env, w *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(w.Type())
	convolution(op).products(in[0].Type.Shape, w.Shape(), in[1].Type.Shape, func(x, w, y int) {
		out.Data[w] += in[0].Data[x] * in[1].Data[y]
	})
	return out
}

func (op convKernel) Notation(w *graph.Node, in []expr.Expr) expr.Expr {
	x, y := w.In(0), w.In(1)
	in = slices.Clone(in)
	for k, n := range []*graph.Node{x, y} {
		// The channels of x and y are different axes, also where both have one name.
		name := n.Shape().Axis(n.Rank() - 1).Name
		if at := op.To.Rank() - 2 + k; op.To.Index(name) >= 0 && op.To.Axis(at).Name != name {
			in[k] = in[k].Subst([]string{name}, []string{""})
		}
	}
	return alongPlanes("convkernel", x, op.Stride.Len(), in)
}

func (convKernel) Cases() []Case {
	return convCases(func(c convolution) graph.Op { return convKernel(c) },
		func(x, w, y graph.Shape) (_, _, _ graph.Shape) { return x, y, w })
}
