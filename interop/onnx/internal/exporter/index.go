package exporter

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

func gather(s site) value { return s.gather(s.whole(0), s.whole(1), s.axis()) }

// oneHot is OneHot where ONNX Runtime has it, and compares indices with the numbers of the places otherwise.
func oneHot(s site) value {
	index := s.whole(0)
	size := s.n.Dim(s.n.Rank() - 1)
	if s.elem() != format.Float || len(index.dims) == 0 {
		places := make([]float64, size)
		for i := range places {
			places[i] = float64(i)
		}
		at := s.reshape(index, append(slices.Clone(index.dims), 1)...)
		return s.cast(s.pointwise("Equal", format.Bool, []value{at, s.array("arange", index.elem, []int{size}, places)}), s.elem())
	}
	values := s.array("[0 1]", s.elem(), []int{2}, []float64{0, 1})
	return s.op("OneHot", s.elem(), s.sizes(), []value{s.cast(index, format.Int64), s.ints(size), values}, attrInt("axis", -1))
}

// rows brings an array to three axes: before an axis, along it, and after it.
func rows(e *emitter, v value, axis, places int) (value, int, int) {
	before, after := product(v.dims[:axis]), product(v.dims[axis+places:])
	return e.reshape(v, before, product(v.dims[axis:axis+places]), after), before, after
}

// meetRows lets values meet the slices of x, [before n after], at indices.
func (e *emitter) meetRows(x, index, values value, before, after int, how string) value {
	k := product(index.dims)
	at := e.full(e.reshape(e.cast(index, format.Int64), 1, k, 1), []int{before, k, after})
	attrs := []*format.Attr{attrInt("axis", 1)}
	if how != "none" {
		attrs = append(attrs, attrString("reduction", how))
	}
	return e.op("ScatterElements", x.elem, x.dims, []value{x, at, values}, attrs...)
}

func scatterAdd(s site) value {
	to, axis := s.sizes(), s.axis()
	index := s.whole(0)
	values, before, after := rows(s.emitter, s.whole(1), axis, len(index.dims))
	zeros := s.filled(values.elem, 0, []int{before, to[axis], after})
	return s.reshape(s.meetRows(zeros, index, values, before, after, "add"), to...)
}

// scatter lets slices meet. ONNX's operators of version 17 know sums; for the largest and the smallest
// it compares with every value in turn, and of equal indices it has the last count by itself.
func scatter(s site) value {
	how := attribute[string](s, "How")
	axis := s.axis()
	x, before, after := rows(s.emitter, s.whole(0), axis, 1)
	index := s.whole(1)
	values, _, _ := rows(s.emitter, s.whole(2), axis, len(index.dims))
	switch how {
	case "set":
		return s.reshape(s.meetRows(x, index, values, before, after, "none"), s.sizes()...)
	case "add":
		return s.reshape(s.meetRows(x, index, values, before, after, "add"), s.sizes()...)
	}
	return inOps(scatterExtreme)(s)
}

// argSort is TopK, which keeps the order of equal elements too. NaN counts as the largest.
func argSort(s site) value {
	x := s.computed("TopK", s.whole(0))[0]
	axis, count := s.axis(), s.n.Dim(s.axis())
	if x.elem.IsFloat() {
		isNaN := s.pointwise("IsNaN", format.Bool, []value{x})
		x = s.where(isNaN, s.lit(x.elem, inf), x)
	}
	largest := 0
	if s.flag("Descending") {
		largest = 1
	}
	values, indices := s.fresh("TopK"), s.fresh("TopK")
	n := s.add("TopK", []string{x.name, s.ints(count).name}, values, attrInt("axis", axis), attrInt("largest", largest), attrInt("sorted", 1))
	n.Outputs = append(n.Outputs, indices)
	s.makers[indices] = n
	return value{name: indices, elem: format.Int64, dims: s.sizes()}
}

// searchSorted counts the elements of a row that are less.
func searchSorted(s site) value {
	sorted, x := s.whole(0), s.whole(1)
	last := len(sorted.dims) - 1
	sizes := slices.Clone(sorted.dims[:last]) // the row beside each of its numbers
	sizes = append(sizes, slices.Repeat([]int{1}, len(x.dims)-last)...)
	sizes = append(sizes, sorted.dims[last])
	row := s.reshape(sorted, sizes...)
	number := s.reshape(x, append(slices.Clone(x.dims), 1)...)
	op := "Less"
	if s.flag("Right") {
		op = "LessOrEqual"
	}
	before := s.pointwise(op, format.Bool, s.computed(op, row, number))
	return s.reduce("ReduceSum", s.cast(before, format.Int32), []int{len(x.dims)}, false)
}

// places returns the indices start … start + size − 1 of an axis, for a scalar start or one of each of the
// first axes.
func (s site) places(start value, size int) value {
	count := make([]float64, size)
	for i := range count {
		count[i] = float64(i)
	}
	start = s.cast(start, format.Int64)
	return s.add2(s.reshape(start, append(slices.Clone(start.dims), 1)...), s.array("arange", format.Int64, []int{size}, count))
}

// each returns indices [b… size] as an array of the sizes to, whose axis they are of.
func (s site) each(at value, axis int, to []int) value {
	lead := len(at.dims) - 1
	sizes := slices.Clone(at.dims[:lead])
	sizes = append(sizes, slices.Repeat([]int{1}, axis-lead)...)
	sizes = append(sizes, at.dims[lead])
	sizes = append(sizes, slices.Repeat([]int{1}, len(to)-axis-1)...)
	return s.full(s.reshape(at, sizes...), to)
}

func dynamicSlice(s site) value {
	x, start, axis := s.whole(0), s.whole(1), s.axis()
	at := s.places(start, s.n.Dim(axis))
	if len(start.dims) == 0 {
		return s.gather(x, at, axis)
	}
	return s.op("GatherElements", x.elem, s.sizes(), []value{x, s.each(at, axis, s.sizes())}, attrInt("axis", axis))
}

func dynamicUpdate(s site) value {
	x, start, part, axis := s.whole(0), s.whole(1), s.whole(2), s.axis()
	at := s.each(s.places(start, part.dims[axis]), axis, part.dims)
	return s.op("ScatterElements", x.elem, x.dims, []value{x, at, part}, attrInt("axis", axis))
}

// sizesOf returns the sizes of axes as one: those before an axis, of so many axes from it, and after them.
func sizesOf(x *graph.Node, axis, count int) (before, along, after int) {
	d := x.Shape().Sizes()
	return product(d[:axis]), product(d[axis : axis+count]), product(d[axis+count:])
}

// scatterExtreme compares each element with all values, of which those for other indices do not count.
func scatterExtreme(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	axis, how := field[int](n, "Axis"), field[string](n, "How")
	before, rows, after := sizesOf(n, axis, 1)
	k := n.In(1).Shape().Len()
	x := ops.Reshape(in[0], before, 1, rows, after)
	values := ops.Reshape(in[2], before, k, 1, after)
	here := ops.Equal(ops.Reshape(ops.Cast(in[1], graph.I64), 1, k, 1, 1), ops.Reshape(ops.Arange(g, graph.I64, graph.Ax("", rows)), 1, 1, rows, 1))
	all := ops.Select(here, values, x)
	if how == "max" {
		return ops.ReshapeTo(ops.Maximum(ops.Max(all, 1), ops.Squeeze(x, 1)), n.Shape())
	}
	return ops.ReshapeTo(ops.Minimum(ops.Min(all, 1), ops.Squeeze(x, 1)), n.Shape())
}

// cumArg compares every element with all, of which those behind it do not count.
func cumArg(g *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	before, m, after := sizesOf(n, field[int](n, "Axis"), 1)
	x := ops.Reshape(in[0], before, 1, m, after)
	upTo := ops.Reshape(ops.LessEqual(ops.Reshape(ops.Arange(g, graph.I64, graph.Ax("", m)), 1, m), ops.Reshape(ops.Arange(g, graph.I64, graph.Ax("", m)), m, 1)), 1, m, m, 1)
	first := ops.Slice(x, 2, 0, 1)
	all := ops.Select(upTo, x, first) // the first counts in any case
	if field[bool](n, "Max") {
		return ops.ReshapeTo(ops.ArgMax(all, 2), n.Shape())
	}
	return ops.ReshapeTo(ops.ArgMin(all, 2), n.Shape())
}

// firstEqual compares every element with all of its example.
func firstEqual(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	from := field[int](n, "From")
	before, m, _ := sizesOf(n, from, n.Rank()-from)
	equal := ops.Equal(ops.Reshape(in[0], before, m, 1), ops.Reshape(in[0], before, 1, m))
	return ops.ReshapeTo(ops.ArgMax(ops.Cast(equal, graph.I32), 2), n.Shape())
}

// sparsemax subtracts the largest of (z₁ + … + z_k − 1)/k, for the elements z in descending order.
func sparsemax(s site) value {
	axis := s.axis()
	x := s.whole(0)
	n := x.dims[axis]
	sorted := s.fresh("TopK")
	top := s.add("TopK", []string{x.name, s.ints(n).name}, sorted, attrInt("axis", axis))
	top.Outputs = append(top.Outputs, s.fresh("order"))
	counts, sizes := make([]float64, n), slices.Repeat([]int{1}, len(x.dims)-axis)
	for i := range counts {
		counts[i] = float64(i + 1)
	}
	sizes[0] = n
	sums := s.op("CumSum", x.elem, x.dims, []value{{name: sorted, elem: x.elem, dims: x.dims}, s.array("axis", format.Int64, nil, []float64{float64(axis)})})
	means := s.div(s.sub(sums, s.lit(x.elem, 1)), s.array("counts", x.elem, sizes, counts))
	return s.unary("Relu", s.sub(x, s.reduce("ReduceMax", means, []int{axis}, true)))
}
