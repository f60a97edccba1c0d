package exporter

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// identity returns the order of axes that changes nothing.
func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func isIdentity(p []int) bool {
	for i, a := range p {
		if i != a {
			return false
		}
	}
	return true
}

// stored returns the sizes of the array that has the name.
func (v value) stored() []int {
	if v.perm == nil {
		return v.dims
	}
	out := make([]int, len(v.dims))
	for a, p := range v.perm {
		out[p] = v.dims[a]
	}
	return out
}

// turned returns v with axis a of the result being axis order[a] of v. Nothing is written.
func (v value) turned(order []int) value {
	perm, dims := make([]int, len(order)), make([]int, len(order))
	for a, from := range order {
		perm[a], dims[a] = from, v.dims[from]
		if v.perm != nil {
			perm[a] = v.perm[from]
		}
	}
	if isIdentity(perm) {
		perm = nil
	}
	return value{name: v.name, elem: v.elem, dims: dims, perm: perm}
}

// flat returns v with its axes in their order.
func (e *emitter) flat(v value) value {
	if v.pack != nil {
		return e.laid(v)
	}
	if v.perm == nil {
		return v
	}
	return e.once(v, fmt.Sprint("transpose", v.perm), func() value {
		return e.raw("Transpose", v.elem, v.dims, []string{v.name}, attrInts("perm", v.perm...))
	})
}

// full returns v as an array of the given sizes.
func (e *emitter) full(v value, sizes []int) value {
	v = e.flat(v)
	if slices.Equal(v.dims, sizes) {
		return v
	}
	return e.once(v, fmt.Sprint("expand", sizes), func() value {
		return e.op("Expand", v.elem, sizes, []value{v, e.ints(sizes...)})
	})
}

// whole is full of the sizes that a node has.
func (s site) whole(i int) value { return s.full(s.in(i), s.n.In(i).Shape().Sizes()) }

// reshape returns v with other sizes. Axes of size 1 are put in and taken out as such, so that the
// sizes of the others do not stand in the model.
func (e *emitter) reshape(v value, sizes ...int) value {
	v = e.flat(v)
	if from, ok := e.reshaped[v.name]; ok {
		v = from
	}
	if slices.Equal(v.dims, sizes) {
		return v
	}
	out := e.shaped(v, sizes)
	e.reshaped[out.name] = v
	return out
}

func (e *emitter) shaped(v value, sizes []int) value {
	how := fmt.Sprint("reshape", sizes)
	if at, ok := inserted(v.dims, sizes); ok {
		return e.once(v, how, func() value { return e.op("Unsqueeze", v.elem, sizes, []value{v, e.ints(at...)}) })
	}
	if at, ok := inserted(sizes, v.dims); ok {
		return e.once(v, how, func() value { return e.op("Squeeze", v.elem, sizes, []value{v, e.ints(at...)}) })
	}
	return e.once(v, how, func() value {
		var attrs []*format.Attr
		if slices.Contains(sizes, 0) {
			attrs = append(attrs, attrInt("allowzero", 1))
		}
		return e.op("Reshape", v.elem, sizes, []value{v, e.ints(sizes...)}, attrs...)
	})
}

// inserted returns where the longer sizes have a 1 that the others lack; ok is false if they differ by
// anything else.
func inserted(from, to []int) (at []int, ok bool) {
	if len(to) <= len(from) {
		return nil, false
	}
	k := 0
	for i, d := range to {
		if k < len(from) && from[k] == d && len(to)-i-1 >= len(from)-k-1 && (d != 1 || len(to)-i == len(from)-k) {
			k++
		} else if d == 1 {
			at = append(at, i)
		} else {
			return nil, false
		}
	}
	return at, k == len(from) && len(at) == len(to)-len(from)
}

// cast converts to an element type.
func (e *emitter) cast(v value, to format.DataType) value {
	if v.elem == to {
		return v
	}
	perm, dims := v.perm, v.dims
	v.perm, v.dims = nil, v.stored()
	out := e.once(v, fmt.Sprint("cast", to), func() value {
		return e.op("Cast", to, v.dims, []value{v}, attrInt("to", int(to)))
	})
	out.perm, out.dims = perm, dims
	return out
}

// meet returns the sizes of an elementwise operation on arrays.
func meet(in ...value) []int {
	rank := 0
	for _, x := range in {
		rank = max(rank, len(x.dims))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, x := range in {
		for i, d := range x.dims {
			if d != 1 {
				out[rank-len(x.dims)+i] = d
			}
		}
	}
	return out
}

// pointwise adds an elementwise operation. Its result lies in memory as most of the operands do.
func (e *emitter) pointwise(op string, elem format.DataType, in []value, attrs ...*format.Attr) value {
	dims := meet(in...)
	perm := e.prevailing(len(dims), in)
	names := make([]string, len(in))
	for i, x := range in {
		names[i] = e.along(x, perm).name
	}
	out := value{elem: elem, dims: dims, perm: perm}
	out.name = e.raw(op, elem, out.stored(), names, attrs...).name
	return out
}

// prevailing returns the layout of most of the operands of full rank; nil for axes in their order.
func (e *emitter) prevailing(rank int, in []value) []int {
	var best []int
	count := map[string]int{}
	for _, x := range in {
		if len(x.dims) != rank || x.pack != nil || e.isConstant[x.name] {
			continue
		}
		key := fmt.Sprint(x.perm)
		if count[key]++; x.perm != nil && (best == nil || count[key] > count[fmt.Sprint(best)]) {
			best = x.perm
		}
	}
	if best == nil || count[fmt.Sprint([]int(nil))] > count[fmt.Sprint(best)] {
		return nil
	}
	return best
}

// along returns x as an operand beside arrays that lie as perm says: what is stored under its name has axis a
// at perm[a].
func (e *emitter) along(x value, perm []int) value {
	if perm == nil {
		return e.flat(x)
	}
	if slices.Equal(x.perm, perm) && x.pack == nil || len(x.dims) == 0 {
		return value{name: x.name, elem: x.elem, dims: x.stored()}
	}
	rank := len(perm)
	sizes := append(slices.Repeat([]int{1}, rank-len(x.dims)), x.dims...)
	if product(sizes) == slices.Max(sizes) { // one axis alone: its place is all there is to say
		to := make([]int, rank)
		for a, p := range perm {
			to[p] = sizes[a]
		}
		for len(to) > 1 && to[0] == 1 {
			to = to[1:]
		}
		return e.reshape(x, to...)
	}
	x = e.flat(x)
	if len(x.dims) < rank {
		x = e.reshape(x, sizes...)
	}
	order := make([]int, rank) // from where an axis of the memory comes
	for a, p := range perm {
		order[p] = a
	}
	return e.flat(x.turned(order))
}

func product(sizes []int) int {
	n := 1
	for _, d := range sizes {
		n *= d
	}
	return n
}

// The operations that compositions are made of.

func (e *emitter) add2(a, b value) value { return e.pointwise("Add", a.elem, []value{a, b}) }
func (e *emitter) sub(a, b value) value  { return e.pointwise("Sub", a.elem, []value{a, b}) }
func (e *emitter) mul(a, b value) value  { return e.pointwise("Mul", a.elem, []value{a, b}) }
func (e *emitter) div(a, b value) value  { return e.pointwise("Div", a.elem, []value{a, b}) }
func (e *emitter) where(m, a, b value) value {
	return e.pointwise("Where", a.elem, []value{m, a, b})
}
func (e *emitter) unary(op string, a value) value {
	return e.pointwise(op, a.elem, []value{a})
}
func (e *emitter) less(a, b value) value {
	return e.pointwise("Less", format.Bool, []value{a, b})
}

// reduce reduces v along axes. Layouts are looked through.
func (e *emitter) reduce(op string, v value, axes []int, keep bool) value {
	at := slices.Clone(axes)
	rank := len(v.dims)
	perm := v.perm
	if perm == nil {
		perm = identity(rank)
	}
	for i, a := range at {
		at[i] = perm[a]
	}
	slices.Sort(at)
	out := value{elem: v.elem}
	var left []int // the axes of the memory that stay
	for a := range rank {
		switch {
		case !slices.Contains(axes, a):
			out.dims = append(out.dims, v.dims[a])
			left = append(left, perm[a])
		case keep:
			out.dims = append(out.dims, 1)
			left = append(left, perm[a])
		}
	}
	if v.perm != nil {
		sorted := slices.Sorted(slices.Values(left))
		for i, p := range left {
			left[i] = slices.Index(sorted, p)
		}
		if !isIdentity(left) {
			out.perm = left
		}
	}
	keeps := attrInt("keepdims", 0)
	if keep {
		keeps.Int = 1
	}
	if op == "ReduceSum" {
		out.name = e.raw(op, v.elem, nil, []string{v.name, e.ints(at...).name}, keeps).name
	} else {
		out.name = e.raw(op, v.elem, nil, []string{v.name}, attrInts("axes", at...), keeps).name
	}
	return out
}

// slice takes, along each axis, size elements from start by step.
func (e *emitter) slice(v value, start, step, size []int) value {
	v = e.flat(v)
	var from, to, axes, by []int
	strided := false
	for i := range v.dims {
		if start[i] == 0 && step[i] == 1 && size[i] == v.dims[i] {
			continue
		}
		end := start[i] + step[i]*size[i]
		if end < 0 {
			end = -1 << 31 // before the first element, which −1 would not say
		}
		from, to, axes, by = append(from, start[i]), append(to, end), append(axes, i), append(by, step[i])
		strided = strided || step[i] != 1
	}
	if len(axes) == 0 {
		return v
	}
	in := []value{v, e.ints(from...), e.ints(to...), e.ints(axes...)}
	if strided {
		in = append(in, e.ints(by...))
	}
	return e.once(v, fmt.Sprint("slice", from, to, axes, by), func() value { return e.op("Slice", v.elem, slices.Clone(size), in) })
}

// part takes size elements from start along one axis.
func (e *emitter) part(v value, axis, start, size int) value {
	starts, steps, sizes := make([]int, len(v.dims)), slices.Repeat([]int{1}, len(v.dims)), slices.Clone(v.dims)
	starts[axis], sizes[axis] = start, size
	return e.slice(v, starts, steps, sizes)
}

// concat joins arrays along an axis.
func (e *emitter) concat(axis int, in ...value) value {
	if len(in) == 1 {
		return in[0]
	}
	dims := slices.Clone(in[0].dims)
	dims[axis] = 0
	for _, x := range in {
		dims[axis] += x.dims[axis]
	}
	return e.op("Concat", in[0].elem, dims, in, attrInt("axis", axis))
}

// pad puts zeros around v.
func (e *emitter) pad(v value, before, after []int) value {
	v = e.flat(v)
	dims, some := slices.Clone(v.dims), false
	for i := range dims {
		dims[i] += before[i] + after[i]
		some = some || before[i]+after[i] != 0
	}
	if !some {
		return v
	}
	if v.elem == format.Bool {
		return e.cast(e.pad(e.cast(v, format.Int32), before, after), format.Bool)
	}
	return e.op("Pad", v.elem, dims, []value{v, e.ints(append(slices.Clone(before), after...)...)})
}

// filled returns an array of equal elements.
func (e *emitter) filled(elem format.DataType, x float64, sizes []int) value {
	return e.full(e.lit(elem, x), sizes)
}

// gather takes the slices of v at indices along an axis.
func (e *emitter) gather(v, index value, axis int) value {
	v, index = e.flat(v), e.flat(index)
	dims := slices.Concat(v.dims[:axis], index.dims, v.dims[axis+1:])
	return e.op("Gather", v.elem, dims, []value{v, index}, attrInt("axis", axis))
}
