package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Windows slide over the spatial axes of an array: by default all axes but the last, which are the
// channels, and the batch axes before. Window i of an axis begins at element i·stride − before;
// its elements lie dilation apart. Elements outside the array count as zeros in a sum, and are
// left out of a maximum.

// Window is an option of convolutions and pooling, or several, as [Windows] joins them. All take
// the same options, along one axis, two or three. Options take one number for all spatial axes, or
// one for each; another count of numbers is a mistake. Of two that say the same the last counts.
//
//	ops.MaxPool2D(x, ops.Size(2))
//	ops.Conv2D(x, w, ops.Stride(2), ops.Same())
//	ops.AvgPool1D(x, ops.Size(3), ops.Stride(1), ops.Along("t"), ops.Channels("c"))
type Window func(*windows)

type windows struct {
	size, stride, dilation []int
	padding                padding
	groups                 int
	along                  []any
	channels               any // nil for the last axis
	excluding              bool
	given                  []string // the options that not every operation takes
}

// padding is numbers of elements, or a multiple of half of what a window reaches beyond one
// element: 1 for as many windows as elements, 2 for all that meet the array.
type padding struct {
	numbers []int
	halves  int
}

// Windows returns the options as one.
func Windows(options ...Window) Window {
	return func(w *windows) {
		for _, o := range options {
			if o != nil {
				o(w)
			}
		}
	}
}

// Size sets the numbers of elements of a window. Pooling needs it; for a convolution the kernel has
// the sizes, and others are a mistake.
func Size(n ...int) Window { return func(w *windows) { w.size = n } }

// Stride sets the distance from window to window, at least 1. By default it is 1 for convolutions
// and the size of the window for pooling.
func Stride(n ...int) Window { return func(w *windows) { w.stride = n } }

// Padding sets how many elements the windows reach out of the array at both ends; 0 by default.
func Padding(n ...int) Window { return func(w *windows) { w.padding = padding{numbers: n} } }

// Valid has windows in the array only, which is the default: Padding(0).
func Valid() Window { return Padding() }

// Same sets the padding with which a stride of 1 keeps the size of an axis, as in PyTorch, and a
// stride s makes ⌈n/s⌉ of n elements: dilation·(size − 1), half of it at each end, and if it is odd
// one more at the last.
func Same() Window { return func(w *windows) { w.padding = padding{halves: 1} } }

// Wide sets the padding with which every window counts that meets the array: dilation·(size − 1) at
// both ends, the wide convolution of the notes on text. Pooling refuses it: most windows would
// consist of padding.
func Wide() Window { return func(w *windows) { w.padding = padding{halves: 2} } }

// Dilation sets the distance between neighbouring elements of a window; 1 by default.
func Dilation(n ...int) Window { return func(w *windows) { w.dilation = n } }

// Along names the spatial axes, by name or number, in the order of the numbers of the other options
// and of the axes of a kernel. By default they are the last ones besides the channels.
func Along(axes ...any) Window { return func(w *windows) { w.along = axes } }

// Channels names the axis of the channels, by name or number; by default it is the last. The result
// has its channels, and all other axes, where the array has them.
func Channels(axis any) Window { return func(w *windows) { w.channels = axis } }

// Groups divides the channels of a convolution, before and after it, into n groups: each output
// channel reads the input channels of its own group only. n must divide both numbers of channels;
// with as many groups as channels it is a depthwise convolution. The default is 1. Pooling, which
// has no kernel, refuses it.
func Groups(n int) Window {
	return func(w *windows) { w.groups, w.given = n, append(w.given, "Groups") }
}

// ExcludePadding makes average pooling divide by the number of elements that lie in the array,
// instead of the size of the window. Other operations refuse it.
func ExcludePadding() Window {
	return func(w *windows) { w.excluding, w.given = true, append(w.given, "ExcludePadding") }
}

// Sliding says how windows slide along one axis.
type Sliding struct {
	Size, Stride, Dilation int
	Before, After          int // padding at the two ends
}

// Count returns the number of windows over an axis of n elements,
//
//	(n − Dilation·(Size−1) − 1 + Before + After)/Stride + 1, rounded down
//
// and 0 if no window fits, or if the numbers say none.
func (s Sliding) Count(n int) int {
	if room := n - s.Dilation*(s.Size-1) - 1 + s.Before + s.After; room >= 0 && s.Stride > 0 {
		return room/s.Stride + 1
	}
	return 0
}

// source returns the smallest number of elements over which so many windows fit.
func (s Sliding) source(windows int) int {
	return (windows-1)*s.Stride - s.Before - s.After + (s.Size-1)*s.Dilation + 1
}

// Sliding returns how windows slide along a spatial axis, counted from 0, by the options alone:
// with a size and a stride of 1 where they say none.
func (w Window) Sliding(axis int) Sliding {
	o, _ := windowsOf([]Window{w}, "Groups", "ExcludePadding")
	at := func(v []int, otherwise int) int {
		switch {
		case axis >= 0 && axis < len(v):
			return v[axis]
		case len(v) > 0:
			return v[0]
		}
		return otherwise
	}
	s := Sliding{Size: at(o.size, 1), Stride: at(o.stride, 1), Dilation: at(o.dilation, 1)}
	s.Before = at(o.padding.numbers, 0)
	s.After = s.Before
	if reach := s.Dilation * (s.Size - 1); o.padding.halves > 0 {
		s.Before = o.padding.halves * reach / 2
		s.After = o.padding.halves*reach - s.Before
	}
	return s
}

// Groups returns the number of groups of channels, 1 if the options say none.
func (w Window) Groups() int {
	o, _ := windowsOf([]Window{w}, "Groups", "ExcludePadding")
	return o.groups
}

// Spatial returns which axes of x the windows slide along, so many, in the order of their numbers.
func (w Window) Spatial(x *graph.Node, n int) ([]int, error) {
	o, _ := windowsOf([]Window{w}, "Groups", "ExcludePadding")
	along, _, err := o.axes(n, x)
	return along, err
}

// Channel returns which axis of x holds the channels, -1 if there is none such.
func (w Window) Channel(x *graph.Node) int {
	o, _ := windowsOf([]Window{w}, "Groups", "ExcludePadding")
	if o.channels == nil {
		return x.Rank() - 1
	}
	if list, err := x.Shape().Resolve(o.channels); err == nil && len(list) == 1 {
		return list[0]
	}
	return -1
}

// windowsOf collects the options and refuses those that the operation does not take.
func windowsOf(options []Window, takes ...string) (windows, error) {
	w := windows{groups: 1}
	Windows(options...)(&w)
	for _, name := range w.given {
		if !slices.Contains(takes, name) {
			return w, fmt.Errorf("it does not take the option %s", name)
		}
	}
	return w, nil
}

// axes returns which axes of x are spatial, so many, and which has the channels.
func (w windows) axes(spatial int, x *graph.Node) (along []int, channel int, err error) {
	r := x.Rank()
	if !x.IsValid() || r <= spatial {
		return nil, -1, fmt.Errorf("want %d spatial axes and the channels", spatial)
	}
	channel = r - 1
	if w.channels != nil {
		list, err := x.Shape().Resolve(w.channels)
		if err != nil {
			return nil, -1, err
		}
		channel = list[0]
	}
	if w.along == nil {
		for a := r - 1; len(along) < spatial; a-- {
			if a != channel {
				along = slices.Insert(along, 0, a)
			}
		}
		return along, channel, nil
	}
	along, err = x.Shape().Resolve(w.along...)
	switch {
	case err != nil:
		return nil, -1, err
	case len(along) != spatial:
		return nil, -1, fmt.Errorf("windows along %v: want %d axes", w.along, spatial)
	case slices.Contains(along, channel):
		return nil, -1, &graph.Mistake{
			Problem: fmt.Sprintf("windows along %v, which has the channels", x.Shape().Axis(channel)),
			Fix:     "ops.Channels says which axis has them",
		}
	}
	return along, channel, nil
}

// channelsLast returns x with its spatial axes and then its channels last, and the order that brings a
// result back, nil if x is so already.
func (w windows) channelsLast(spatial int, x *graph.Node) (laid *graph.Node, back []int, err error) {
	if !x.IsValid() || x.Rank() <= spatial || w.along == nil && w.channels == nil {
		return x, nil, nil
	}
	along, channel, err := w.axes(spatial, x)
	if err != nil {
		return x, nil, err
	}
	var order []int
	last := append(along, channel)
	for a := range x.Rank() {
		if !slices.Contains(last, a) {
			order = append(order, a)
		}
	}
	order = append(order, last...)
	if slices.IsSorted(order) {
		return x, nil, nil
	}
	back = make([]int, len(order))
	for to, from := range order {
		back[from] = to
	}
	return transposeTo(x, order), back, nil
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
	}
	return attr.IntsOf(slices.Repeat(v, n)...), nil
}

// around gives the padding of each axis before the first element; and after the last, if that is
// not the same.
func (w windows) around(size, dilation attr.Ints) (before, after attr.Ints, err error) {
	n := size.Len()
	if w.padding.halves == 0 {
		before, err = each("padding", w.padding.numbers, n, slices.Repeat([]int{0}, n)...)
		return before, attr.Ints{}, err
	}
	var first, last []int
	for i := range n {
		if d, k := dilation.At(i), size.At(i); d < 1 || d > maxStep || k < 1 || k > maxStep {
			return before, attr.Ints{}, fmt.Errorf("windows of %d elements, %d apart", k, d)
		}
		reach := w.padding.halves * dilation.At(i) * (size.At(i) - 1)
		first, last = append(first, reach/2), append(last, reach-reach/2)
	}
	if slices.Equal(first, last) {
		return attr.IntsOf(first...), attr.Ints{}, nil
	}
	return attr.IntsOf(first...), attr.IntsOf(last...), nil
}

// returned brings the axes of a result back to the places that they had in the array.
func returned(y *graph.Node, back []int) *graph.Node {
	if back == nil || !y.IsValid() {
		return y
	}
	return transposeTo(y, back)
}

// tail returns the numbers of the axes from one on, none if there are none.
func tail(v attr.Ints, from, to int) attr.Ints {
	if v.Len() == 0 {
		return v
	}
	return attr.IntsOf(v.List()[from:to]...)
}

// maxStep bounds strides, padding and dilation, so that places never overflow.
const maxStep = 1 << 30

// slide counts the windows of the given size that fit over an axis.
func slide(a graph.Axis, s Sliding) (int, error) {
	size, stride, padding, dilation := s.Size, s.Stride, s.Before, s.Dilation
	switch {
	case stride < 1 || stride > maxStep:
		return 0, fmt.Errorf("stride %d: want 1 to 2^30", stride)
	case padding < 0 || padding > maxStep || s.After < 0 || s.After > maxStep:
		return 0, fmt.Errorf("padding %s: want 0 to 2^30", s.padding())
	case dilation < 1 || dilation > maxStep:
		return 0, fmt.Errorf("dilation %d: want 1 to 2^30", dilation)
	case size < 1:
		return 0, fmt.Errorf("windows of size %d: want at least 1", size)
	case a.Size == 0:
		return 0, fmt.Errorf("windows over axis %v: want elements", a)
	}
	room := a.Size + padding + s.After - 1
	if size-1 > room/dilation {
		return 0, fmt.Errorf("windows of %d elements, %d apart, do not fit over axis %v with padding %s",
			size, dilation, a, s.padding())
	}
	return (room-(size-1)*dilation)/stride + 1, nil
}

// padding is the number of elements around an axis, both numbers if they differ.
func (s Sliding) padding() string {
	if s.Before != s.After {
		return fmt.Sprintf("%d and %d", s.Before, s.After)
	}
	return fmt.Sprint(s.Before)
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
	n, h, w, c = 1, 1, s.Dim(r-2), s.Dim(r-1)
	if spatial == 2 {
		h = s.Dim(r - 3)
	}
	for a := range r - 1 - spatial {
		n *= s.Dim(a)
	}
	return n, h, w, c
}

// pair gives the numbers of both axes of a plane; otherwise for the height of one
// spatial axis, and for both if there are none.
func pair(v attr.Ints, otherwise int) [2]int {
	switch v.Len() {
	case 0:
		return [2]int{otherwise, otherwise}
	case 1:
		return [2]int{otherwise, v.At(0)}
	}
	return [2]int{v.At(0), v.At(1)}
}
