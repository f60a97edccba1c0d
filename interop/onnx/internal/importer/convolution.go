package importer

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// convolutions has convolutions. Arrays are [n c …] and kernels [out in …] in the file; ours name
// the axes.
var convolutions = map[string]rule{
	"Conv":          convolution,
	"ConvTranspose": transposed,
}

// window is how windows slide over the last axes of [n c …].
type window struct {
	size, stride, dilation []int
	before, after          []int // padding
}

// window reads the attributes of windows of the given size over x.
func (c *call) window(x *graph.Node, size []int) window {
	k := x.Rank() - 2
	if k < 1 || k > 3 || len(size) != k {
		c.fail("windows of %d axes over an array with %d axes: want 1 to 3 besides the batch and the channels", len(size), x.Rank())
	}
	w := window{size: size, stride: c.each("strides", k, 1), dilation: c.each("dilations", k, 1)}
	pads := c.each("pads", 2*k, 0)
	w.before, w.after = slices.Clone(pads[:k]), slices.Clone(pads[k:])
	for i := range k {
		if size[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 {
			c.fail("windows of %d with strides %d and dilations %d", size, w.stride, w.dilation)
		}
	}
	switch auto := c.text("auto_pad", "NOTSET"); auto {
	case "NOTSET", "":
	case "VALID":
		w.before, w.after = make([]int, k), make([]int, k)
	case "SAME_UPPER", "SAME_LOWER":
		for i := range k {
			n := x.Dim(2 + i)
			out := (n + w.stride[i] - 1) / w.stride[i]
			w.share(i, max(0, (out-1)*w.stride[i]+w.reach(i)-n), auto == "SAME_LOWER")
		}
	default:
		c.fail("auto_pad %q", auto)
	}
	return w
}

// reach returns how many elements a window spans.
func (w *window) reach(i int) int { return (w.size[i]-1)*w.dilation[i] + 1 }

// share divides a padding between the two ends; the odd one is at the end, or at the beginning.
func (w *window) share(i, pad int, lower bool) {
	w.before[i], w.after[i] = pad/2, pad-pad/2
	if lower {
		w.before[i], w.after[i] = pad-pad/2, pad/2
	}
}

// each returns an attribute of k integers.
func (c *call) each(name string, k, otherwise int) []int {
	v := c.list(name)
	if v == nil {
		return slices.Repeat([]int{otherwise}, k)
	}
	if len(v) != k {
		c.fail("%s has %d numbers: want %d", name, len(v), k)
	}
	return v
}

// options returns the options of operations over windows, and x with the padding that they do not
// have: one that differs between the ends.
func (w *window) options(x *graph.Node, v float64) (*graph.Node, []ops.Window) {
	options := w.strides(x)
	if v == 0 && w.even() {
		return x, append(options, ops.Padding(w.before...))
	}
	return w.padded(x, v), options
}

// even reports whether operations over windows have the padding as an option.
func (w *window) even() bool {
	return slices.Equal(w.before, w.after) && !slices.ContainsFunc(w.before, negative)
}

// strides returns the options without padding.
func (w *window) strides(x *graph.Node) []ops.Window {
	return []ops.Window{ops.Channels(1), ops.Along(places(2, x.Rank())...), ops.Stride(w.stride...), ops.Dilation(w.dilation...)}
}

func negative(n int) bool { return n < 0 }

// padded returns x[n c …] with the padding; a negative one takes elements away.
func (w *window) padded(x *graph.Node, v float64) *graph.Node {
	for i := range w.size {
		if b, a := w.before[i], w.after[i]; b < 0 || a < 0 {
			x = ops.Slice(x, 2+i, max(0, -b), x.Dim(2+i)-max(0, -a))
		}
		if b, a := max(0, w.before[i]), max(0, w.after[i]); b+a > 0 {
			x = ops.Pad(x, 2+i, b, a, v)
		}
	}
	return x
}

func convolution(c *call) []value { return []value{c.is(0, c.biased(c.convolved(c.x(0), c.x(1))))} }

// convolved returns the convolution of x[n c …] with a kernel [out in …].
func (c *call) convolved(x, kernel *graph.Node) *graph.Node {
	return c.convolvedBy(convolve, x, kernel, 0)
}

// convolvedBy returns what f gives of x[n c …], which goes on as around at its ends, and a kernel
// [out in …].
func (c *call) convolvedBy(f convolving, x, kernel *graph.Node, around float64) *graph.Node {
	if x.Rank() < 3 {
		c.fail("an array with %d axes: want [n c …]", x.Rank())
	}
	if kernel.Rank() != x.Rank() {
		c.fail("a kernel with %d axes over an array with %d", kernel.Rank(), x.Rank())
	}
	w := c.window(x, kernel.Shape().Sizes()[2:])
	groups := c.int("group", 1)
	if size := c.list("kernel_shape"); size != nil && !slices.Equal(size, w.size) {
		c.fail("kernel_shape %d does not fit a kernel %v", size, kernel.Shape())
	}
	if groups < 1 || x.Dim(1) != groups*kernel.Dim(1) || kernel.Dim(0)%groups != 0 {
		c.fail("a kernel %v in %d groups over %v", kernel.Shape(), groups, x.Shape())
	}
	x, options := w.options(x, around)
	order := append(upTo(kernel.Rank())[2:], 1, 0)
	return f(x, relaid(kernel, order...), append(options, ops.Groups(groups))...)
}

type convolving func(x, w *graph.Node, options ...ops.Window) *graph.Node

// convolve is a convolution along 1 to 3 axes.
func convolve(x, w *graph.Node, options ...ops.Window) *graph.Node {
	return []convolving{ops.Conv1D, ops.Conv2D, ops.Conv3D}[w.Rank()-3](x, w, options...)
}

// biased returns y[n c …] plus operand 2, a number for each channel.
func (c *call) biased(y *graph.Node) *graph.Node {
	if !c.has(2) {
		return y
	}
	return ops.Add(y, perChannel(c.x(2), y))
}

// perChannel lays numbers for the channels out for y[n c …].
func perChannel(v, y *graph.Node) *graph.Node {
	v = bare(v)
	for range y.Rank() - 2 {
		v = ops.Expand(v, -1, "")
	}
	return v
}

// transposed is the transpose of a convolution. Its result may have more elements at the end
// (output_padding), or a size that is given (output_shape).
func transposed(c *call) []value {
	x, kernel := c.x(0), c.x(1)
	if x.Rank() < 3 {
		c.fail("an array with %d axes: want [n c …]", x.Rank())
	}
	if kernel.Rank() != x.Rank() {
		c.fail("a kernel with %d axes over an array with %d", kernel.Rank(), x.Rank())
	}
	auto := c.text("auto_pad", "NOTSET")
	w := c.window(x, kernel.Shape().Sizes()[2:])
	k := len(w.size)
	more := c.each("output_padding", k, 0)
	for i := range k {
		whole := (x.Dim(2+i)-1)*w.stride[i] + w.reach(i) + more[i]
		size := x.Dim(2+i) * w.stride[i] // of auto_pad
		if to := c.list("output_shape"); to != nil {
			size = to[len(to)-k+i]
		} else if auto != "SAME_UPPER" && auto != "SAME_LOWER" {
			continue
		}
		w.share(i, max(0, whole-size), auto != "SAME_UPPER")
		if c.list("output_shape") != nil && whole < size {
			more[i] += size - whole
		}
	}
	groups := c.int("group", 1)
	if groups < 1 || x.Dim(1)%groups != 0 || kernel.Dim(0) != x.Dim(1) {
		c.fail("a kernel %v in %d groups over %v", kernel.Shape(), groups, x.Shape())
	}
	order := append(upTo(kernel.Rank())[2:], 0, 1)
	options := []ops.Window{ops.Channels(1), ops.Along(places(2, x.Rank())...), ops.Stride(w.stride...), ops.Dilation(w.dilation...), ops.Groups(groups)}
	f := []func(x, w *graph.Node, options ...ops.Window) *graph.Node{ops.ConvTranspose1D, ops.ConvTranspose2D, ops.ConvTranspose3D}[k-1]
	y := f(x, relaid(kernel, order...), options...)
	for i := range k { // the padding takes away
		w.before[i], w.after[i] = -w.before[i], more[i]-w.after[i]
	}
	return []value{c.is(0, c.biased(w.padded(y, 0)))}
}
