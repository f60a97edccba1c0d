package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// TakeAlong takes, at every place of the other axes, the elements of x at the indices along one
// axis: y[i k] = x[i index[i k]] along the second. It is NumPy's take_along_axis and PyTorch's
// gather. x is of any element type, the indices are i32 or i64 and have x's shape but for the size, and
// the name, of that axis; the result has the shape of the indices. An index outside the axis is a
// [trait.IndexError] when the program runs, and a mistake if it is a constant. Where an index
// occurs twice, the derivative adds up; see [AddAlong]. With one index at each place, it is [Pick].
func TakeAlong(x, index *graph.Node, axis any) *graph.Node {
	defer calling("TakeAlong", x, index)()
	in, ok := joined(x, index)
	if !ok {
		return graph.Apply(gather{}, in...) // records the mistake, or stays silent
	}
	x, index = in[0], in[1]
	return withAxes("TakeAlong", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		err := wantIndex(index)
		var to graph.Shape
		if err == nil {
			if to, err = alongside(index.Shape(), x.Shape(), a); err != nil {
				err = fmt.Errorf("indices %w", err)
			}
		}
		if err != nil {
			return x.Graph().Fail("TakeAlong", err, x, index)
		}
		return takeAt(x, checked(index, x.Dim(a)), a, to)
	})
}

// takeAt is TakeAlong of indices that are checked.
func takeAt(x, index *graph.Node, a int, to graph.Shape) *graph.Node {
	return ReshapeTo(graph.Apply(gather{0}, Flatten(x), flatPlaces(index, x.Shape(), a)), to)
}

// Pick takes, at every place of the other axes, the element of x at an index along one axis, which it
// removes: y[i] = x[i index[i]] along the second, such as the log-probability of each example's class.
// It is [TakeAlong] with one index at each place, as NumPy and PyTorch write it with an axis of size 1
// that is squeezed afterwards. x is of any element type, the indices are i32 or i64 and have x's shape
// without the axis. An index outside the axis is a mistake, or an error, as in TakeAlong.
func Pick(x, index *graph.Node, axis any) *graph.Node {
	defer calling("Pick", x, index)()
	in, ok := joined(x, index)
	if !ok {
		return graph.Apply(gather{}, in...) // records the mistake, or stays silent
	}
	x, index = in[0], in[1]
	return withAxes("Pick", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		left, own := slices.Delete(x.Shape().Axes(), a, a+1), index.Shape().Axes()
		fits := slices.EqualFunc(left, own, func(l, o graph.Axis) bool {
			return l.Size == o.Size && (l.Name == o.Name || l.Name == "" || o.Name == "")
		})
		to, err := graph.NewShape(left...)
		switch {
		case err != nil:
		case !fits:
			err = fmt.Errorf("indices of shape %v: want that of %v without axis %v", index.Shape(), x.Shape(), x.Shape().Axis(a))
		default:
			err = wantIndex(index)
		}
		if err != nil {
			return x.Graph().Fail("Pick", err, x, index)
		}
		return takeAt(x, Expand(checked(index, x.Dim(a)), a, ""), a, to)
	})
}

// AddAlong adds values to zeros at the indices along one axis, at every place of the other axes; it
// is the transpose of [TakeAlong], and PyTorch's scatter_add. The values are floats, the indices
// are i32 or i64 and have the same sizes. The result has the axis to in place of the given one.
// Values with equal indices add up, in their order in the array. An index outside the axis is a
// [trait.IndexError] when the program runs, and a mistake if it is a constant.
func AddAlong(index, values *graph.Node, axis any, to graph.Axis) *graph.Node {
	defer calling("AddAlong", index, values)()
	in, ok := joined(index, values)
	if !ok {
		return graph.Apply(scatterAdd{}, in...) // records the mistake, or stays silent
	}
	index, values = in[0], in[1]
	fail := func(err error) *graph.Node { return values.Graph().Fail("AddAlong", err, index, values) }
	list, err := values.Shape().Resolve(axis)
	if err != nil {
		return fail(err)
	}
	axes := values.Shape().Axes()
	axes[list[0]] = to
	s, err := graph.NewShape(axes...)
	if err != nil {
		return fail(err)
	}
	if err = wantIndex(index); err == nil {
		if _, bad := alongside(index.Shape(), values.Shape(), list[0]); bad != nil {
			err = fmt.Errorf("indices %w", bad)
		} else if !index.Shape().SameSizes(values.Shape()) {
			err = fmt.Errorf("indices of shape %v: want %v", index.Shape(), values.Shape())
		}
	}
	if err == nil && !values.DType().IsFloat() {
		err = fmt.Errorf("values of type %v: want %s", values.DType(), anyFloat)
	}
	if err != nil {
		return fail(err)
	}
	flat, _ := graph.NewShape(graph.Dims(s.Len())...)
	places := flatPlaces(checked(index, to.Size), s, list[0])
	return ReshapeTo(graph.Apply(scatterAdd{0, flat}, places, ReshapeTo(values, places.Shape())), s)
}

// joined returns operands in the graph in which they meet; ok is false where one is a mistake or they
// do not meet, which [graph.Apply] records.
func joined(nodes ...*graph.Node) (in []*graph.Node, ok bool) {
	g, in := graph.Join(nodes...)
	return in, !slices.ContainsFunc(in, func(n *graph.Node) bool { return !n.IsValid() || n.Graph() != g })
}

func wantIndex(index *graph.Node) error {
	if !index.DType().IsInt() {
		return fmt.Errorf("indices of type %v: want i32 or i64", index.DType())
	}
	return nil
}

// alongside is the shape s with the axis a of another shape, which must be like s but for that axis.
func alongside(other, s graph.Shape, a int) (graph.Shape, error) {
	axes, own := s.Axes(), other.Axes()
	fits := len(axes) == len(own)
	for i := range axes {
		if fits && i != a {
			fits = axes[i].Size == own[i].Size && (axes[i].Name == own[i].Name || axes[i].Name == "" || own[i].Name == "")
		}
	}
	if !fits {
		return graph.Shape{}, fmt.Errorf("of shape %v: want that of %v but for axis %v", other, s, s.Axis(a))
	}
	axes[a] = own[a]
	return graph.NewShape(axes...)
}

// checked is an index that is checked to be one of so many places.
func checked(index *graph.Node, size int) *graph.Node {
	return placed(graph.Apply(inRange{Size: size}, index))
}

// flatPlaces turns checked indices along axis a of an array into places in row-major order.
func flatPlaces(index *graph.Node, s graph.Shape, a int) *graph.Node {
	places := Cast(index, graph.I64)
	if !places.IsValid() {
		return places
	}
	strides := make([]int, s.Rank())
	for i, stride := s.Rank()-1, 1; i >= 0; i-- {
		strides[i] = stride
		stride *= s.Dim(i)
	}
	if strides[a] > 1 {
		places = Scale(places, float64(strides[a]))
	}
	for i, stride := range strides {
		if i == a || s.Dim(i) == 1 {
			continue
		}
		sizes := slices.Repeat([]int{1}, s.Rank())
		sizes[i] = s.Dim(i)
		places = Add(places, index.Graph().ConstantFunc(graph.I64, func(first []float64) {
			for e := range first {
				first[e] = float64(e * stride)
			}
		}, graph.Dims(sizes...)...))
	}
	return places
}
