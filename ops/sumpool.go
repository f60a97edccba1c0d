package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type (
	sumPool   pooling
	sumUnpool pooling
)

// AvgPool1D returns the average of each window over floats x[… t c], channel by channel: [… u c]. It
// takes the options of [Window], of which [Size] is needed, and a [Stride] is the size by default.
// Padding, at most half of a window, counts as zeros, unless [ExcludePadding] is among them.
func AvgPool1D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("AvgPool1D", x)()
	return averaged(1, x, options)
}

// AvgPool2D is [AvgPool1D] over x[… h w c]: [… h′ w′ c].
func AvgPool2D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("AvgPool2D", x)()
	return averaged(2, x, options)
}

// AvgPool3D is [AvgPool1D] over x[… d h w c]: [… d′ h′ w′ c].
func AvgPool3D(x *graph.Node, options ...Window) *graph.Node {
	defer calling("AvgPool3D", x)()
	return averaged(3, x, options)
}

func averaged(spatial int, x *graph.Node, options []Window) *graph.Node {
	return pooled(spatial, x, options, func(o windows, p pooling, x *graph.Node) *graph.Node {
		y := p.inParts(func(p pooling) graph.Op { return sumPool(p) }, x)
		switch {
		case !y.IsValid():
			return y
		case o.excluding:
			return Div(y, p.counts(x, y))
		}
		count := 1.0
		for i := range p.Size.Len() {
			count *= float64(p.Size.At(i))
		}
		return Div(y, Lit(y, count))
	}, "ExcludePadding")
}

// counts are the numbers of elements of x in the windows of y, which are the same
// for all batches and channels: products of the numbers along each axis.
func (p pooling) counts(x, y *graph.Node) *graph.Node {
	n, r := p.Size.Len(), y.Rank()
	axes := graph.Dims(append(y.Shape().Sizes()[r-1-n:r-1], 1)...)
	return y.Graph().ConstantFunc(y.DType(), func(v []float64) {
		for q := range v {
			v[q] = 1
			for i, at := n-1, q; i >= 0; i-- {
				s, size := p.sliding(i), x.Dim(r-1-n+i)
				begin := at%axes[i].Size*s.Stride - s.Before
				from := (max(0, -begin) + s.Dilation - 1) / s.Dilation
				to := min(s.Size, (max(0, size-begin)+s.Dilation-1)/s.Dilation)
				v[q] *= float64(max(0, to-from))
				at /= axes[i].Size
			}
		}
	}, axes...)
}

func (sumPool) Name() string      { return "SumPool" }
func (sumPool) Kind() match.Kind  { return match.SumPool }
func (sumPool) Linear(i int) bool { return i == 0 }
func (sumPool) Doc() string       { return "sum of every window" }

// Rule returns the name of the rule of its derivative.
func (sumPool) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum over windows")
}

func (op sumPool) Infer(in []*graph.Node) (graph.Type, error) { return pooling(op).infer(in, 1) }
func (op sumPool) Kernel(*graph.Node) kernel.Kernel           { return kernel.SumPool(pooling(op).kernel()) }
func (op sumPool) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return alongPlanes("sumpool", y, op.Size.Len(), in)
}

func (op sumPool) Grad(y, dy *graph.Node, _ int) *graph.Node {
	op.To = y.In(0).Shape()
	return graph.Apply(sumUnpool(op), dy)
}

func (sumPool) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }
func (op sumPool) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (op sumPool) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	pooling(op).windows(in[0].Type.Shape, y.Shape(), func(x, y int) { out.Data[y] += in[0].Data[x] })
	return out
}

func (sumPool) Cases() []Case {
	return poolCases(Reals, "x", func(p pooling, _ graph.Shape) graph.Op { return sumPool(p) })
}

func (sumUnpool) Name() string      { return "SumUnpool" }
func (sumUnpool) Kind() match.Kind  { return match.SumUnpool }
func (sumUnpool) Linear(i int) bool { return i == 0 }
func (sumUnpool) Doc() string {
	return "elements added to all of their windows: SumPool's derivative"
}

// Rule returns the name of the rule of its derivative.
func (sumUnpool) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum over the windows around each element")
}

func (op sumUnpool) Kernel(*graph.Node) kernel.Kernel { return kernel.SumUnpool(pooling(op).kernel()) }

func (op sumUnpool) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	want, err := pooling(op).result(op.To)
	if err == nil && !want.SameSizes(in[0].Shape()) {
		err = fmt.Errorf("windows over %v give %v, not %v", op.To, want, in[0].Shape())
	}
	return graph.Type{DType: in[0].DType(), Shape: op.To}, err
}

func (op sumUnpool) Grad(_, dy *graph.Node, _ int) *graph.Node {
	op.To = graph.Shape{}
	return graph.Apply(sumPool(op), dy)
}

func (sumUnpool) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op sumUnpool) Batch(_ *graph.Node, in []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	op.To = inFront(b, op.To)
	return graph.Apply(op, in[0])
}

func (op sumUnpool) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	pooling(op).windows(op.To, in[0].Type.Shape, func(x, y int) { out.Data[x] += in[0].Data[y] })
	return out
}

func (op sumUnpool) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return alongPlanes("sumunpool", y, op.Size.Len(), in)
}

func (sumUnpool) Cases() []Case {
	return poolCases(Reals, "y", func(p pooling, x graph.Shape) graph.Op {
		p.To = x
		return sumUnpool(p)
	})
}
