package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// A SortOrder is the order of [ArgSort] and [Sort].
type SortOrder uint8

// The smallest first, or the largest.
const (
	Ascending SortOrder = iota
	Descending
)

// argSort gives the first Count indices in the order of the elements.
type argSort struct {
	flat
	Axis, Count int
	Descending  bool
}

// ArgSort returns the indices (i64) along an axis that put x, of any element type, in order there, in
// the shape of x: the smallest first, or the last order that is given; false comes before true. The sort
// is stable: equal elements, among them 0 and −0, keep their order, in either direction. NaN counts as
// the largest, as in NumPy and PyTorch. No derivative flows through it; [TakeAlong] takes the elements at the indices, as [Sort]
// does.
func ArgSort(x *graph.Node, axis any, order ...SortOrder) *graph.Node {
	defer calling("ArgSort", x)()
	return withAxes("ArgSort", x, []any{axis}, func(list []int) *graph.Node {
		if len(order) > 0 && order[len(order)-1] > Descending {
			return x.Graph().Fail("ArgSort", fmt.Errorf("order %d: want ops.Ascending or ops.Descending", order[len(order)-1]), x)
		}
		down := len(order) > 0 && order[len(order)-1] == Descending
		return graph.Apply(argSort{Axis: list[0], Count: x.Dim(list[0]), Descending: down}, x)
	})
}

// Sort returns the elements of x, of any element type, in order along an axis, as [ArgSort] puts them.
// The derivative of floats goes to the places that the elements come from.
func Sort(x *graph.Node, axis any, order ...SortOrder) *graph.Node {
	defer calling("Sort", x)()
	index := ArgSort(x, axis, order...)
	if !index.IsValid() {
		return index
	}
	return TakeAlong(x, index, axis)
}

// TopK returns the k largest elements of x, of any element type, along an axis, the largest first, and
// their indices (i64) there. Of equal elements the first come first; NaN counts as the largest, as in
// [ArgMax]. The axis keeps its name, and has the size k, from 0 to the size that it has in x. The
// derivative of floats goes to the elements that are taken. It sorts no more than it needs.
func TopK(x *graph.Node, k int, axis any) (values, indices *graph.Node) {
	defer calling("TopK", x)()
	indices = withAxes("TopK", x, []any{axis}, func(list []int) *graph.Node {
		if n := x.Dim(list[0]); k < 1 || k > n {
			return x.Graph().Fail("TopK", fmt.Errorf("%d of axis %v: want from 1 to %d", k, x.Shape().Axis(list[0]), n), x)
		}
		return graph.Apply(argSort{Axis: list[0], Count: k, Descending: true}, x)
	})
	if !indices.IsValid() {
		return indices, indices
	}
	return TakeAlong(x, indices, axis), indices
}

func (argSort) Name() string     { return "ArgSort" }
func (argSort) Kind() match.Kind { return match.ArgSort }
func (argSort) Doc() string      { return "indices along an axis in the order of the elements" }

func (op argSort) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	if op.Axis < 0 || op.Axis >= s.Rank() {
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, s)
	}
	axes := s.Axes()
	if op.Count < 0 || op.Count > axes[op.Axis].Size {
		return graph.Type{}, fmt.Errorf("%d of axis %v", op.Count, axes[op.Axis])
	}
	axes[op.Axis].Size = op.Count
	s, err := graph.NewShape(axes...)
	return graph.Type{DType: graph.I64, Shape: s}, err
}

func (op argSort) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	op.Axis++
	return graph.Apply(op, in[0])
}

func (op argSort) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachRow(in[0].Type.Shape, op.Axis, func(p []int) {
		order := slices.Clone(p)
		slices.SortStableFunc(order, func(i, j int) int {
			a, b := in[0].Data[i], in[0].Data[j]
			sign := 0
			switch {
			case a < b || a == a && b != b:
				sign = -1
			case a > b || a != a && b == b:
				sign = 1
			}
			if op.Descending {
				return -sign
			}
			return sign
		})
		stride := 1
		if len(p) > 1 {
			stride = p[1] - p[0]
		}
		first := p[0]/(stride*len(p))*(stride*op.Count) + p[0]%stride
		for k := range op.Count {
			out.Data[first+k*stride] = float64((order[k] - p[0]) / stride)
		}
	})
	return out
}

// eachRow calls f with the places of the elements of each row along an axis of an array.
func eachRow(s graph.Shape, axis int, f func(places []int)) {
	stride := 1
	for a := axis + 1; a < s.Rank(); a++ {
		stride *= s.Dim(a)
	}
	n := s.Dim(axis)
	places := make([]int, n)
	for row := range s.Len() / n {
		for i := range places {
			places[i] = row/stride*stride*n + row%stride + i*stride
		}
		f(places)
	}
}

func (op argSort) Kernel(*graph.Node) kernel.Kernel {
	return kernel.ArgSort{Axis: op.Axis, Descending: op.Descending}
}

func (op argSort) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	name := "argsort"
	if op.Descending {
		name += "↓"
	}
	call := functionAlong(name, y, op.Axis, in[0])
	if op.Count < y.In(0).Dim(op.Axis) {
		call.Args = append(call.Args, expr.Num(float64(op.Count)))
	}
	return call
}

func (argSort) Cases() []Case {
	top := func(x *graph.Node, axis any) *graph.Node {
		return withAxes("ArgSort", x, []any{axis}, func(list []int) *graph.Node {
			return graph.Apply(argSort{Axis: list[0], Count: 2, Descending: true}, x)
		})
	}
	down := func(x *graph.Node, axis any) *graph.Node { return ArgSort(x, axis, Descending) }
	up := func(x *graph.Node, axis any) *graph.Node { return ArgSort(x, axis) }
	return slices.Concat(argCases(up), argCases(down), argCases(top))
}
