package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Windows slide over the spatial axes of an array: all axes but the last, which
// are the channels, and the batch axes before. Window i of an axis begins at
// element i·stride − padding; its elements lie dilation apart. Elements
// outside the array count as zeros in a sum, and are left out of a maximum.

// Window is an option of convolutions and pooling. Options take one number for all spatial axes, or
// one for each; another count of numbers is a mistake.
type Window func(*windows)

type windows struct {
	stride, padding, dilation []int
	groups                    int
	excluding                 bool
	given                     []string // the options that not every operation takes
}

// Stride sets the distance from window to window, at least 1. By default it is 1 for convolutions
// and the size of the window for pooling.
func Stride(n ...int) Window { return func(w *windows) { w.stride = n } }

// Padding sets how many elements the windows reach out of the array at both ends; 0 by default.
func Padding(n ...int) Window { return func(w *windows) { w.padding = n } }

// Dilation sets the distance between neighbouring elements of a window, for convolutions only; 1 by
// default.
func Dilation(n ...int) Window {
	return func(w *windows) { w.dilation, w.given = n, append(w.given, "Dilation") }
}

// Groups divides the channels of a convolution, before and after it, into n groups: each output
// channel reads the input channels of its own group only. n must divide both numbers of channels;
// with as many groups as channels it is a depthwise convolution. The default is 1.
func Groups(n int) Window {
	return func(w *windows) { w.groups, w.given = n, append(w.given, "Groups") }
}

// ExcludePadding makes average pooling divide by the number of elements that lie in the array,
// instead of the size of the window.
func ExcludePadding() Window {
	return func(w *windows) { w.excluding, w.given = true, append(w.given, "ExcludePadding") }
}

// windowsOf collects the options and refuses those that the operation does not take.
func windowsOf(options []Window, takes ...string) (windows, error) {
	w := windows{groups: 1}
	for _, o := range options {
		if o != nil {
			o(&w)
		}
	}
	for _, name := range w.given {
		ok := false
		for _, t := range takes {
			ok = ok || t == name
		}
		if !ok {
			return w, fmt.Errorf("it does not take the option %s", name)
		}
	}
	return w, nil
}

// each gives one number for each of n axes.
func each(what string, v []int, n int, otherwise ...int) (attr.Ints, error) {
	if len(v) == 0 {
		v = otherwise
	}
	switch {
	case len(v) == n:
		return attr.IntsOf(v...), nil
	case len(v) != 1:
		return attr.Ints{}, fmt.Errorf("%s %v: want one number, or %d", what, v, n)
	case n == 1:
		return attr.IntsOf(v[0]), nil
	}
	return attr.IntsOf(v[0], v[0]), nil
}

// maxStep bounds strides, padding and dilation, so that places never overflow.
const maxStep = 1 << 30

// slide counts the windows of the given size that fit over an axis.
func slide(a graph.Axis, size, stride, padding, dilation int) (int, error) {
	switch {
	case stride < 1 || stride > maxStep:
		return 0, fmt.Errorf("stride %d: want 1 to 2^30", stride)
	case padding < 0 || padding > maxStep:
		return 0, fmt.Errorf("padding %d: want 0 to 2^30", padding)
	case dilation < 1 || dilation > maxStep:
		return 0, fmt.Errorf("dilation %d: want 1 to 2^30", dilation)
	case size < 1:
		return 0, fmt.Errorf("windows of size %d: want at least 1", size)
	}
	room := a.Size + 2*padding - 1
	if size-1 > room/dilation {
		return 0, fmt.Errorf("windows of %d elements, %d apart, do not fit over axis %v with padding %d",
			size, dilation, a, padding)
	}
	return (room-(size-1)*dilation)/stride + 1, nil
}

// alongPlanes is f_hw(…): a function along the spatial axes of x, as far as they are named.
func alongPlanes(f string, x *graph.Node, spatial int, in []expr.Expr) expr.Expr {
	var axes []int
	for i := range spatial {
		axes = append(axes, x.Rank()-1-spatial+i)
	}
	return expr.Expr{Kind: expr.KindCall, Text: f, Subs: indices(x, attr.AxesOf(axes...)), Args: in}
}

// planes are the sizes of an array seen as [batch h w c]: one spatial axis is a
// plane of height 1.
func planes(s graph.Shape, spatial int) (n, h, w, c int) {
	r := s.Rank()
	n, h, w, c = s.Len(), 1, s.Dim(r-2), s.Dim(r-1)
	if spatial == 2 {
		h = s.Dim(r - 3)
	}
	return n / (h * w * c), h, w, c
}

// pair gives the numbers of both axes of a plane; otherwise for the height of one
// spatial axis.
func pair(v attr.Ints, otherwise int) [2]int {
	if v.Len() == 1 {
		return [2]int{otherwise, v.At(0)}
	}
	return [2]int{v.At(0), v.At(1)}
}
