package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type (
	maxPool   pooling
	maxPick   pooling
	maxUnpool pooling
)

// MaxPool1D returns the largest element of each window over floats x[… t c], channel by channel: […
// u c]. It is NaN if any element is. It takes the options of [Window], of which [Size] is needed,
// and a [Stride] is the size by default. Padding is never the largest, and at most half of a window.
// Of equal elements, the first takes the derivative.
func MaxPool1D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("MaxPool1D", x)()
	return maxPooled(1, x, options)
}

// MaxPool2D is [MaxPool1D] over x[… h w c]: [… h′ w′ c].
func MaxPool2D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("MaxPool2D", x)()
	return maxPooled(2, x, options)
}

// MaxPool3D is [MaxPool1D] over x[… d h w c]: [… d′ h′ w′ c].
func MaxPool3D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("MaxPool3D", x)()
	return maxPooled(3, x, options)
}

func maxPooled(spatial int, x *graph.Node, options []Window) *graph.Node {
	return pooled(spatial, x, options, func(_ windows, p pooling, x *graph.Node) *graph.Node {
		return p.inParts(func(p pooling) graph.Op { return maxPool(p) }, x)
	})
}

// chosen gives, for each window over x, the place of the element that counts.
func (p pooling) chosen(x graph.Value, y graph.Shape) []int {
	most, at := p.largest(x, y), make([]int, y.Len())
	for q := range at {
		at[q] = -1
	}
	p.windows(x.Type.Shape, y, func(x0, q int) {
		if at[q] < 0 && !(x.Data[x0] < most[q]) {
			at[q] = x0
		}
	})
	return at
}

func (p pooling) largest(x graph.Value, y graph.Shape) []float64 {
	most := make([]float64, y.Len())
	for q := range most {
		most[q] = math.Inf(-1)
	}
	p.windows(x.Type.Shape, y, func(x0, q int) { most[q] = max(most[q], x.Data[x0]) })
	return most
}

func (maxPool) Name() string     { return "MaxPool" }
func (maxPool) Kind() match.Kind { return match.MaxPool }
func (maxPool) Doc() string      { return "largest element of every window" }

// Rule returns the name of the rule of its derivative.
func (maxPool) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the largest of each window counts")
}

func (maxPool) Convention() string {
	return "of equal largest elements of a window the first takes the whole derivative, as in PyTorch"
}
func (op maxPool) Infer(in []*graph.Node) (graph.Type, error) { return pooling(op).infer(in, 1) }
func (op maxPool) Kernel(*graph.Node) kernel.Kernel           { return kernel.MaxPool(pooling(op).kernel()) }
func (op maxPool) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return alongPlanes("maxpool", y, op.Size.Len(), in)
}

func (op maxPool) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return graph.Apply(maxUnpool(op), y.In(0), dy)
}

func (op maxPool) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	return graph.Apply(maxPick(op), y.In(0), dx[0])
}

func (op maxPool) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (op maxPool) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return graph.Value{Type: y.Type(), Data: pooling(op).largest(in[0], y.Shape())}
}

func (maxPool) Cases() []Case {
	return poolCases(Apart, "x", func(p pooling, _ graph.Shape) graph.Op { return maxPool(p) })
}

func (maxPick) Name() string     { return "MaxPick" }
func (maxPick) Kind() match.Kind { return match.MaxPick }
func (maxPick) Doc() string      { return "elements where the windows of another array have their largest" }

// Rule returns the name of the rule of its derivative.
func (maxPick) Rule(_ []bool) (name string, law expr.Expr) {
	return named("what was picked counts where it stood")
}

func (op maxPick) Kernel(*graph.Node) kernel.Kernel { return kernel.MaxPick(pooling(op).kernel()) }
func (op maxPick) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := pooling(op).infer(in, 2)
	if err == nil && !in[0].Shape().SameSizes(in[1].Shape()) {
		err = fmt.Errorf("sizes differ: %v and %v", in[0].Shape(), in[1].Shape())
	}
	return t, err
}

// Grad is nothing for the array that is searched.
func (op maxPick) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return nil
	}
	return graph.Apply(maxUnpool(op), y.In(0), dy)
}

// JVP is linear in the last operand, and nothing for the array that is searched.
func (op maxPick) JVP(y *graph.Node, d []*graph.Node) *graph.Node {
	if d[1] == nil {
		return nil
	}
	return graph.Apply(op, y.In(0), d[1])
}

func (op maxPick) Batch(_ *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return graph.Apply(op, repeated(in, batched, b)...)
}

func (op maxPick) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	for q, x := range pooling(op).chosen(in[0], y.Shape()) {
		out.Data[q] = in[1].Data[x]
	}
	return out
}

func (op maxPick) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return alongPlanes("maxpick", y, op.Size.Len(), in)
}

func (maxPick) Cases() []Case {
	return poolCases(Apart, "xx", func(p pooling, _ graph.Shape) graph.Op { return maxPick(p) })
}

func (maxUnpool) Name() string     { return "MaxUnpool" }
func (maxUnpool) Kind() match.Kind { return match.MaxUnpool }
func (maxUnpool) Doc() string {
	return "zeros, with elements where the windows of another array have their largest: MaxPool's derivative"
}

// Rule returns the name of the rule of its derivative.
func (maxUnpool) Rule(_ []bool) (name string, law expr.Expr) {
	return named("what is put back counts where it stands")
}

func (op maxUnpool) Kernel(*graph.Node) kernel.Kernel { return kernel.MaxUnpool(pooling(op).kernel()) }
func (op maxUnpool) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := pooling(op).infer(in, 2)
	if err == nil && !t.Shape.SameSizes(in[1].Shape()) {
		err = fmt.Errorf("windows over %v give %v, not %v", in[0].Shape(), t.Shape, in[1].Shape())
	}
	if err != nil {
		return graph.Type{}, err
	}
	return in[0].Type(), nil
}

// Grad is nothing for the array that is searched.
func (op maxUnpool) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return nil
	}
	return graph.Apply(maxPick(op), y.In(0), dy)
}

// JVP is linear in the last operand, and nothing for the array that is searched.
func (op maxUnpool) JVP(y *graph.Node, d []*graph.Node) *graph.Node {
	if d[1] == nil {
		return nil
	}
	return graph.Apply(op, y.In(0), d[1])
}

func (op maxUnpool) Batch(_ *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return graph.Apply(op, repeated(in, batched, b)...)
}

func (op maxUnpool) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	for q, x := range pooling(op).chosen(in[0], in[1].Type.Shape) {
		out.Data[x] += in[1].Data[q]
	}
	return out
}

func (op maxUnpool) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return alongPlanes("maxunpool", y, op.Size.Len(), in)
}

func (maxUnpool) Cases() []Case {
	return poolCases(Apart, "xy", func(p pooling, _ graph.Shape) graph.Op { return maxUnpool(p) })
}
