package exporter

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// Images are [… h w c] here and [n c h w] in ONNX. What comes out of a window's operator lies as
// ONNX has it, with the order of axes that we have as its layout.

// spatial returns how many axes the windows slide along.
func (s site) spatial() int { return attribute[attr.Ints](s, "Stride").Len() }

// images brings [… h w c] to [n c h w].
func (s site) images(v value) value {
	k := s.spatial()
	rank := len(v.dims)
	if rank != k+2 {
		sizes := append([]int{product(v.dims[:rank-k-1])}, v.dims[rank-k-1:]...)
		v = s.reshape(v, sizes...)
	}
	order := append([]int{0, k + 1}, identity(k + 1)[1:]...)
	return s.flat(v.turned(order))
}

// back returns what an operator made, [n c h w], as the node has it.
func (s site) back(v value) value {
	k := s.spatial()
	order := append([]int{0}, identity(k + 2)[2:]...)
	v = v.turned(append(order, 1))
	if s.n.Rank() != k+2 {
		return s.reshape(v, s.sizes()...)
	}
	return v
}

// pads returns the padding as ONNX has it: all before, then all after.
func (s site) pads() (before, after []int) {
	before, after = s.list("Padding"), s.list("After")
	if len(after) == 0 {
		after = before
	}
	return before, after
}

func (s site) dilation() []int {
	if d := s.list("Dilation"); len(d) > 0 {
		return d
	}
	return slices.Repeat([]int{1}, s.spatial())
}

func (s site) window() []*format.Attr {
	before, after := s.pads()
	return []*format.Attr{attrInts("strides", s.list("Stride")...), attrInts("pads", slices.Concat(before, after)...), attrInts("dilations", s.dilation()...)}
}

// kernel brings [kh kw a b] to the order of channels that an operator has.
func (s site) kernel(i int, order ...int) value {
	k := s.spatial()
	return s.flat(s.spread(i).turned(append([]int{k + order[0], k + order[1]}, identity(k)...)))
}

func conv(s site) value { return s.convolved("Conv", s.images(s.spread(0)), s.kernel(1, 1, 0)) }

// convInteger writes all of it in uint8, the type for which ONNX Runtime has this operator: bytes
// of i8 are 128 more, and so are their zeros.
func convInteger(s site) value {
	x, zero := s.unsigned(0, s.images(s.spread(0))), s.unsigned(2, s.flat(s.in(2)))
	return s.convolved("ConvInteger", x, s.unsigned(1, s.kernel(1, 1, 0)), zero, s.lit(format.Uint8, 128))
}

// unsigned returns the bytes of operand i as uint8, those of i8 with 128 added.
func (s site) unsigned(i int, v value) value {
	if s.n.In(i).DType() == graph.I8 {
		v = s.cast(v, format.Int32)
		v = s.add2(v, s.lit(format.Int32, 128))
	}
	return s.cast(v, format.Uint8)
}

// own returns the value of operand i in the operand's type, which may be one for storage.
func (s site) own(i int, v value) value { return s.cast(v, elemOf(s.n.In(i).DType())) }

// convolved writes a convolution of x with w, with further operands.
func (s site) convolved(operator string, x, w value, more ...value) value {
	groups := attribute[int](s, "Groups")
	attrs := append(s.window(), attrInts("kernel_shape", w.dims[2:]...))
	if groups > 1 {
		attrs = append(attrs, attrInt("group", groups))
	}
	return s.back(s.op(operator, s.elem(), s.channelsFirst(x.dims[0], s.sizes()), append([]value{x, w}, more...), attrs...))
}

// biased puts a parameter that is added to each channel of a convolution into the convolution.
func (s site) biased() (v value, ok bool) {
	for i := range 2 {
		x, bias := s.n.In(i), s.in(1-i)
		v := s.in(i)
		maker := s.makers[v.name]
		c := x.Dim(x.Rank() - 1)
		if !match.Is(x, match.Conv) || maker == nil || maker.Op != "Conv" || len(maker.Inputs) != 2 || len(s.users[x]) != 1 || s.roots[x] ||
			len(bias.dims) != 1 || bias.dims[0] != c || s.makers[bias.name] != nil || s.outer != nil {
			continue
		}
		maker.Inputs = append(maker.Inputs, bias.name)
		if s.n.Name() != "" {
			s.called[v.name] = s.base
		}
		return v, true
	}
	return value{}, false
}

func add(s site) value {
	if v, ok := s.biased(); ok {
		return v
	}
	return one("Add")(s)
}

// channelsFirst returns the sizes of an array of the last axes of sizes as ONNX has it.
func (s site) channelsFirst(n int, sizes []int) []int {
	k, r := s.spatial(), len(sizes)
	return append([]int{n, sizes[r-1]}, sizes[r-1-k:r-1]...)
}

func convInput(s site) value {
	y, w := s.images(s.spread(0)), s.kernel(1, 0, 1)
	groups := attribute[int](s, "Groups")
	return s.back(s.transposedConv(y, w, groups))
}

// transposedConv adds up windows; y and w lie as ONNX has them.
func (s site) transposedConv(y, w value, groups int) value {
	k := s.spatial()
	stride, dilation := s.list("Stride"), s.dilation()
	before, after := s.pads()
	to := s.channelsFirst(y.dims[0], s.sizes())
	to[1] = w.dims[1] * groups
	extra, some := make([]int, k), false
	for i := range extra {
		extra[i] = to[2+i] - ((y.dims[2+i]-1)*stride[i] - before[i] - after[i] + dilation[i]*(w.dims[2+i]-1) + 1)
		some = some || extra[i] != 0
	}
	attrs := append(s.window(), attrInts("kernel_shape", w.dims[2:]...))
	if groups > 1 {
		attrs = append(attrs, attrInt("group", groups))
	}
	if some {
		attrs = append(attrs, attrInts("output_padding", extra...))
	}
	return s.op("ConvTranspose", y.elem, to, []value{y, w}, attrs...)
}

// convKernel is a convolution of x by y with batch and channels exchanged; stride and dilation
// change their places.
func convKernel(s site) value {
	k, groups := s.spatial(), attribute[int](s, "Groups")
	x, y := s.images(s.spread(0)), s.images(s.spread(1)) // [n g·c h w], [n g·o h w]
	n, c := x.dims[0], x.dims[1]/groups
	rest := identity(k + 2)[2:]
	if groups == 1 {
		x = s.flat(x.turned(append([]int{1, 0}, rest...)))
	} else { // [n g c h w] → [c g·n h w]
		x = s.reshape(x, append([]int{n, groups, c}, x.dims[2:]...)...)
		x = s.flat(x.turned(append([]int{2, 1, 0}, identity(k + 3)[3:]...)))
		x = s.reshape(x, append([]int{c, groups * n}, x.dims[3:]...)...)
	}
	y = s.flat(y.turned(append([]int{1, 0}, rest...))) // [g·o n h w]
	before, after := s.pads()
	stride, dilation := s.list("Stride"), s.dilation()
	dims := []int{c, y.dims[0]}
	for i := range k {
		dims = append(dims, (x.dims[2+i]+before[i]+after[i]-stride[i]*(y.dims[2+i]-1)-1)/dilation[i]+1)
	}
	attrs := []*format.Attr{attrInts("strides", dilation...), attrInts("pads", slices.Concat(before, after)...), attrInts("dilations", stride...), attrInts("kernel_shape", y.dims[2:]...)}
	if groups > 1 {
		attrs = append(attrs, attrInt("group", groups))
	}
	w := s.op("Conv", s.elem(), dims, []value{x, y}, attrs...)
	size := append([]int{c, y.dims[0]}, s.sizes()[:k]...)
	w = s.slice(w, make([]int, k+2), slices.Repeat([]int{1}, k+2), size)
	return w.turned(append(rest, 0, 1))
}

// single brings [n c h w] to one channel, so that a kernel of one channel serves all.
func (s site) single(v value) value {
	return s.reshape(v, append([]int{v.dims[0] * v.dims[1], 1}, v.dims[2:]...)...)
}

// ones is a kernel that adds up windows.
func (s site) ones() value {
	return s.filled(format.Float, 1, append([]int{1, 1}, s.list("Size")...))
}

func sumPool(s site) value {
	x := s.images(s.spread(0))
	size := s.list("Size")
	to := s.channelsFirst(x.dims[0], s.sizes())
	if len(s.list("Dilation")) == 0 {
		before, after := s.pads()
		mean := s.op("AveragePool", x.elem, to, []value{x}, attrInts("kernel_shape", size...), attrInts("strides", s.list("Stride")...),
			attrInts("pads", slices.Concat(before, after)...), attrInt("count_include_pad", 1))
		return s.back(s.mul(mean, s.lit(x.elem, float64(product(size)))))
	}
	y := s.op("Conv", x.elem, append([]int{to[0] * to[1], 1}, to[2:]...), []value{s.single(x), s.ones()}, append(s.window(), attrInts("kernel_shape", size...))...)
	return s.back(s.reshape(y, to...))
}

func sumUnpool(s site) value {
	y := s.images(s.spread(0))
	to := s.channelsFirst(y.dims[0], s.sizes())
	return s.back(s.reshape(s.transposedConv(s.single(y), s.ones(), 1), to...))
}

// largest returns the largest of each window and where it is, as a place among all elements.
func (s site) largest(x value, to []int) (most, at value) {
	values, indices := s.fresh("MaxPool"), s.fresh("Indices")
	n := s.add("MaxPool", []string{x.name}, values, append(s.window(), attrInts("kernel_shape", s.list("Size")...))...)
	n.Outputs = append(n.Outputs, indices)
	s.makers[indices] = n
	return value{name: values, elem: x.elem, dims: to}, value{name: indices, elem: format.Int64, dims: to}
}

func maxPool(s site) value {
	x := s.images(s.spread(0))
	to := s.channelsFirst(x.dims[0], s.sizes())
	return s.back(s.op("MaxPool", x.elem, to, []value{x}, append(s.window(), attrInts("kernel_shape", s.list("Size")...))...))
}

func maxPick(s site) value {
	x, v := s.images(s.spread(0)), s.images(s.spread(1))
	to := s.channelsFirst(x.dims[0], s.sizes())
	_, at := s.largest(x, to)
	return s.back(s.gather(s.reshape(v, product(v.dims)), at, 0))
}

func maxUnpool(s site) value {
	x, y := s.images(s.spread(0)), s.images(s.spread(1))
	_, at := s.largest(x, y.dims)
	zeros := s.filled(y.elem, 0, []int{product(x.dims)})
	flat := s.op("ScatterElements", y.elem, zeros.dims, []value{zeros, s.reshape(at, product(y.dims)), s.reshape(y, product(y.dims))},
		attrInt("axis", 0), attrString("reduction", "add"))
	return s.back(s.reshape(flat, x.dims...))
}
