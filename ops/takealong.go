package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// TakeAlong takes, at every place of the other axes, the elements of x at the indices along one
// axis: y[i k] = x[i index[i k]] along the second. It is NumPy's take_along_axis and PyTorch's
// gather. x holds floats, the indices are i32 or i64 and have x's shape but for the size, and the
// name, of that axis; the result has the shape of the indices. An index outside the axis is a
// [trait.IndexError] when the program runs, and a mistake if it is a constant. Where an index
// occurs twice, the derivative adds up; see [AddAlong].
func TakeAlong(x, index *graph.Node, axis any) *graph.Node {
	defer calling("TakeAlong", x, index)()
	if !x.IsValid() || !index.IsValid() || x.Graph() != index.Graph() {
		return graph.Apply(gather{}, x, index) // records the mistake, or stays silent
	}
	return withAxes("TakeAlong", x, []any{axis}, func(list []int) *graph.Node {
		a := list[0]
		to, err := alongside(index, x.Shape(), a)
		if err != nil {
			return x.Graph().Fail("TakeAlong", err, x, index)
		}
		flat := reshapeAxes("TakeAlong", x, graph.Dims(x.Shape().Len()))
		return ReshapeTo(graph.Apply(gather{0}, flat, flatPlaces(index, x.Shape(), a)), to)
	})
}

// AddAlong adds values to zeros at the indices along one axis, at every place of the other axes; it
// is the transpose of [TakeAlong], and PyTorch's scatter_add. The values are floats, the indices
// are i32 or i64 and have the same sizes. The result has the axis to in place of the given one.
// Values with equal indices add up, in their order in the array. An index outside the axis is a
// [trait.IndexError] when the program runs, and a mistake if it is a constant.
func AddAlong(index, values *graph.Node, axis any, to graph.Axis) *graph.Node {
	defer calling("AddAlong", index, values)()
	if !index.IsValid() || !values.IsValid() || index.Graph() != values.Graph() {
		return graph.Apply(scatterAdd{}, index, values) // records the mistake, or stays silent
	}
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
	if _, err = alongside(index, values.Shape(), list[0]); err == nil && !index.Shape().SameSizes(values.Shape()) {
		err = fmt.Errorf("indices of shape %v: want %v", index.Shape(), values.Shape())
	}
	if err == nil && !values.DType().IsFloat() {
		err = fmt.Errorf("values of type %v: want f32 or f64", values.DType())
	}
	if err != nil {
		return fail(err)
	}
	flat, _ := graph.NewShape(graph.Dims(s.Len())...)
	places := flatPlaces(index, s, list[0])
	return ReshapeTo(graph.Apply(scatterAdd{0, flat}, places, ReshapeTo(values, places.Shape())), s)
}

// alongside is the shape of what indices along axis a of an array take of it: that of the array,
// with the indices' axis for a.
func alongside(index *graph.Node, s graph.Shape, a int) (graph.Shape, error) {
	if !index.DType().IsInt() {
		return graph.Shape{}, fmt.Errorf("indices of type %v: want i32 or i64", index.DType())
	}
	axes, own := s.Axes(), index.Shape().Axes()
	fits := len(axes) == len(own)
	for i := range axes {
		if fits && i != a {
			fits = axes[i].Size == own[i].Size && (axes[i].Name == own[i].Name || axes[i].Name == "" || own[i].Name == "")
		}
	}
	if !fits {
		return graph.Shape{}, fmt.Errorf("indices of shape %v: want that of %v but for axis %v", index.Shape(), s, s.Axis(a))
	}
	axes[a] = own[a]
	return graph.NewShape(axes...)
}

// flatPlaces turns indices along axis a of an array into places in row-major order.
func flatPlaces(index *graph.Node, s graph.Shape, a int) *graph.Node {
	places := Cast(placed(graph.Apply(inRange{Size: s.Dim(a)}, index)), graph.I64)
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
