package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Three operations share the products of a convolution,
//
//	Σ y[q o]·w[k c o]·x[q·stride + k·dilation − padding, c]
//
// each the derivative of that sum by one of the three:
//
//	Conv        y from x and w
//	ConvInput   x from y and wᵀ
//	ConvKernel  w from x and y
//
// So they are closed under differentiation, to any order. Batch axes come first
// and channels last: x[… h w c], w[kh kw c o], y[… h w o], with one spatial axis
// or two; wᵀ is [kh kw o c]. In groups, w holds the channels c of one group, and
// the o of all.

// convolution holds the attributes of all three. Padding is that before the first elements; After is
// that after the last ones, if it is not the same. To is the shape of the result of ConvInput and
// ConvKernel.
type convolution struct {
	Stride, Padding, Dilation attr.Ints
	Groups                    int
	To                        graph.Shape
	After                     attr.Ints
}

type (
	conv       convolution
	convInput  convolution
	convKernel convolution
)

// Conv1D returns the cross-correlation y[… u o] of x[… t c] with the kernel w[k c o], which neural
// networks call convolution:
//
//	y_uo = Σ_kc x_{u+k,c}·w_kco
//
// It takes the options of [Window]; in n groups, the kernel is w[k c/n o]. Operands are floats.
// [Sliding.Count] says how many windows there are; it is a mistake if none fits.
func Conv1D(x, w *graph.Node, options ...Window) *graph.Node {
	defer calling("Conv1D", x, w)()
	return convolve(1, x, w, options)
}

// Conv2D returns the cross-correlation y[… h′ w′ o] of x[… h w c] with the kernel w[kh kw c o],
// which neural networks call convolution. It takes the options of [Conv1D], and counts windows in
// the same way along h and w; in n groups, the kernel is w[kh kw c/n o].
func Conv2D(x, w *graph.Node, options ...Window) *graph.Node {
	defer calling("Conv2D", x, w)()
	return convolve(2, x, w, options)
}

// Conv3D returns the cross-correlation y[… d′ h′ w′ o] of x[… d h w c] with the kernel w[kd kh kw c
// o]. It takes the options of [Conv1D], and is a sum of kd two-dimensional convolutions.
func Conv3D(x, w *graph.Node, options ...Window) *graph.Node {
	defer calling("Conv3D", x, w)()
	return convolve(3, x, w, options)
}

func convolve(spatial int, x, w *graph.Node, options []Window) *graph.Node {
	c, laid, back, err := convolutionOf(spatial, x, w, options)
	switch {
	case err != nil:
		return graph.Of(x, w).Fail("Conv", err, x, w)
	case spatial == 3:
		return returned(c.deep(laid, w), back)
	}
	return returned(graph.Apply(conv(c), laid, w), back)
}

// ConvTranspose1D is [ConvTranspose2D] along one axis: y[… t o] and v[k o c] give [… u c].
func ConvTranspose1D(y, v *graph.Node, options ...Window) *graph.Node {
	defer calling("ConvTranspose1D", y, v)()
	return convolveBack(1, y, v, options)
}

// ConvTranspose2D adds up windows, one for each element of y[… h w o], weighted by the kernel v[kh
// kw o c], and returns x[… h′ w′ c]. It is the transpose of [Conv2D] with the same options and with
// the last two axes of v exchanged. Its result is the smallest array from which Conv2D makes the
// shape of y: along each axis (h−1)·stride − 2·padding + dilation·(kh−1) + 1 elements. In n groups,
// v is [kh kw o c/n]. Operands are floats.
func ConvTranspose2D(y, v *graph.Node, options ...Window) *graph.Node {
	defer calling("ConvTranspose2D", y, v)()
	return convolveBack(2, y, v, options)
}

// ConvTranspose3D is [ConvTranspose2D] along three axes: y[… d h w o] and v[kd kh kw o c] give [… d′
// h′ w′ c].
func ConvTranspose3D(y, v *graph.Node, options ...Window) *graph.Node {
	defer calling("ConvTranspose3D", y, v)()
	return convolveBack(3, y, v, options)
}

func convolveBack(spatial int, y, v *graph.Node, options []Window) *graph.Node {
	c, laid, back, err := convolutionOf(spatial, y, v, options)
	if err == nil && spatial == 3 {
		return returned(c.deepBack(laid, v), back)
	}
	if err == nil && y.IsValid() && v.IsValid() {
		c.To, err = c.source(laid.Shape(), v.Shape())
	}
	if err != nil {
		return graph.Of(y, v).Fail("ConvTranspose", err, y, v)
	}
	return returned(graph.Apply(convInput(c), laid, v), back)
}

// convolutionOf returns the attributes of a convolution with a kernel, and the array as it takes it,
// with the order of axes that brings a result back.
func convolutionOf(spatial int, x, kernel *graph.Node, options []Window) (c convolution, laid *graph.Node, back []int, err error) {
	o, err := windowsOf(options, "Groups")
	if err != nil {
		return c, x, nil, err
	}
	size := attr.IntsOf(slices.Repeat([]int{1}, spatial)...)
	if kernel.IsValid() && kernel.Rank() == spatial+2 {
		size = attr.IntsOf(kernel.Shape().Sizes()[:spatial]...)
		if given, err := each("size", o.size, spatial, size.List()...); err != nil || given != size {
			return c, x, nil, fmt.Errorf("windows of size %v: the kernel has %v", o.size, size)
		}
	}
	if c, err = o.convolution(size); err != nil {
		return c, x, nil, err
	}
	laid, back, err = o.channelsLast(spatial, x)
	return c, laid, back, err
}

// convolution returns the attributes of a convolution with windows of the given size.
func (w windows) convolution(size attr.Ints) (c convolution, err error) {
	c.Groups = w.groups
	if c.Stride, err = each("stride", w.stride, size.Len(), slices.Repeat([]int{1}, size.Len())...); err != nil {
		return c, err
	}
	if c.Dilation, err = each("dilation", w.dilation, size.Len(), slices.Repeat([]int{1}, size.Len())...); err != nil {
		return c, err
	}
	c.Padding, c.After, err = w.around(size, c.Dilation)
	return c, err
}

// sliding says how windows of a size slide along spatial axis i.
func (c convolution) sliding(i, size int) Sliding {
	s := Sliding{size, c.Stride.At(i), c.Dilation.At(i), c.Padding.At(i), c.Padding.At(i)}
	if c.After.Len() > 0 {
		s.After = c.After.At(i)
	}
	return s
}

// flat returns the attributes along the last two of three axes.
func (c convolution) flat() convolution {
	return convolution{tail(c.Stride, 1, 3), tail(c.Padding, 1, 3), tail(c.Dilation, 1, 3), c.Groups, graph.Shape{}, tail(c.After, 1, 3)}
}

// result is the shape of y, for x and w.
func (c convolution) result(x, w graph.Shape) (graph.Shape, error) {
	n := c.Stride.Len()
	if n < 1 || n > 2 || c.Padding.Len() != n || c.Dilation.Len() != n || c.After.Len() != 0 && c.After.Len() != n {
		return graph.Shape{}, fmt.Errorf("want stride, padding and dilation for one axis or two")
	}
	if x.Rank() <= n || w.Rank() != n+2 {
		return graph.Shape{}, fmt.Errorf("want arrays %s", []string{"[… t c] and [k c o]", "[… h w c] and [kh kw c o]"}[n-1])
	}
	axes, last := x.Axes(), x.Rank()-1
	// Channels first: what lacks an axis has others in their place.
	in, own, out := x.Axis(last), w.Axis(n), w.Axis(n+1)
	switch {
	case c.Groups < 1:
		return graph.Shape{}, fmt.Errorf("%d groups: want at least 1", c.Groups)
	case in.Size%c.Groups != 0 || out.Size%c.Groups != 0:
		return graph.Shape{}, fmt.Errorf("channels %v and %v do not divide into %d groups", in, out, c.Groups)
	case own.Size != in.Size/c.Groups:
		m := &graph.Mistake{Problem: fmt.Sprintf("weights for channels %v: want %d", own, in.Size/c.Groups)}
		if c.Groups == 1 {
			m.Fix = "channels come last: " + []string{"[… t c]", "[… h w c]"}[n-1] + "; ops.Channels says another axis"
		}
		return graph.Shape{}, m
	case in.Name != "" && own.Name != "" && in.Name != own.Name:
		return graph.Shape{}, channelsDiffer(in, own)
	}
	for i := range n {
		a := &axes[last-n+i]
		size, err := slide(*a, c.sliding(i, w.Dim(i)))
		if err != nil {
			return graph.Shape{}, err
		}
		a.Size = size
	}
	axes[last] = out
	return graph.NewShape(axes...)
}

// source is the shape of the smallest x that gives y with the transpose of v.
func (c convolution) source(y, v graph.Shape) (graph.Shape, error) {
	n := c.Stride.Len()
	if y.Rank() <= n || v.Rank() != n+2 {
		return graph.Shape{}, fmt.Errorf("want arrays %s", []string{"[… t o] and [k o c]", "[… h w o] and [kh kw o c]"}[n-1])
	}
	axes, last := y.Axes(), y.Rank()-1
	for i := range n {
		a := &axes[last-n+i]
		s := c.sliding(i, v.Dim(i))
		if step := max(s.Stride, s.Before, s.After, s.Dilation, s.Size, a.Size, c.Groups); step > maxStep {
			return graph.Shape{}, fmt.Errorf("%d is too large", step)
		}
		a.Size = s.source(a.Size)
	}
	own, out := v.Axis(n), v.Axis(n+1)
	switch {
	case own.Size != axes[last].Size:
		return graph.Shape{}, fmt.Errorf("weights for channels %v: want %v", own, axes[last])
	case own.Name != "" && axes[last].Name != "" && own.Name != axes[last].Name:
		return graph.Shape{}, channelsDiffer(axes[last], own)
	}
	axes[last] = graph.Axis{Name: out.Name, Size: out.Size * c.Groups}
	return graph.NewShape(axes...)
}

func channelsDiffer(a, b graph.Axis) error {
	return &graph.Mistake{Problem: fmt.Sprintf("channels are called %q and %q", a.Name, b.Name), Fix: "rename one axis"}
}

// exchanged is a shape with its last two axes exchanged.
func exchanged(s graph.Shape) graph.Shape {
	axes := s.Axes()
	if n := len(axes); n > 1 {
		axes[n-2], axes[n-1] = axes[n-1], axes[n-2]
	}
	t, _ := graph.NewShape(axes...)
	return t
}

// infer checks the operands of the two transposes: of x, w and y, one is the result.
func (c convolution) infer(in []*graph.Node, x, w, y graph.Shape) (graph.Type, error) {
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	want, err := c.result(x, w)
	if err == nil && !want.SameSizes(y) {
		err = fmt.Errorf("%v and %v give %v, not %v", x, w, want, y)
	}
	return graph.Type{DType: in[0].DType(), Shape: c.To}, err
}

// products calls f with the places in x, w and y of the factors of every product.
func (c convolution) products(x, w, y graph.Shape, f func(x, w, y int)) {
	n := c.Stride.Len()
	stride, padding, dilation := pair(c.Stride, 1), pair(c.Padding, 0), pair(c.Dilation, 1)
	batch, xh, xw, xc := planes(x, n)
	_, yh, yw, yc := planes(y, n)
	size := pair(attr.IntsOf(w.Sizes()[:n]...), 1)
	wc, each := xc/c.Groups, yc/c.Groups
	for b := range batch {
		for q := range yh * yw {
			for k := range size[0] * size[1] {
				i := q/yw*stride[0] + k/size[1]*dilation[0] - padding[0]
				j := q%yw*stride[1] + k%size[1]*dilation[1] - padding[1]
				if i < 0 || i >= xh || j < 0 || j >= xw {
					continue
				}
				for o := range yc {
					for ch := range wc {
						f(((b*xh+i)*xw+j)*xc+o/each*wc+ch, (k*wc+ch)*yc+o, (b*yh*yw+q)*yc+o)
					}
				}
			}
		}
	}
}

func (c convolution) kernel() kernel.Convolution {
	return kernel.Convolution{
		Spatial: c.Stride.Len(), Groups: c.Groups,
		Stride: pair(c.Stride, 1), Padding: pair(c.Padding, 0), Dilation: pair(c.Dilation, 1),
	}
}

func (conv) Name() string                   { return "Conv" }
func (conv) Kind() match.Kind               { return match.Conv }
func (conv) Linear(i int) bool              { return i < 2 }
func (conv) Magnifies() trait.Magnification { return trait.Cancellation }
func (conv) Doc() string                    { return "sums of windows of an array weighted by a kernel" }

// Rule returns the name of the rule of its derivative.
func (conv) Rule(_ []bool) (name string, law expr.Expr) {
	return named("convolution: a sum of products over its windows")
}

// Kernel computes y, of two axes of places or one.
func (op conv) Kernel(y *graph.Node) kernel.Kernel {
	k, w := kernel.Conv{Convolution: convolution(op).kernel(), Size: [2]int{1, 1}}, y.In(1).Shape()
	for a := range k.Spatial {
		k.Size[2-k.Spatial+a] = w.Dim(a)
	}
	return k
}

func (op conv) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	if op.To != (graph.Shape{}) {
		return graph.Type{}, fmt.Errorf("its shape follows from its operands")
	}
	s, err := convolution(op).result(in[0].Shape(), in[1].Shape())
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// Grad is dx = ConvInput(dy, wᵀ), dw = ConvKernel(x, dy).
func (op conv) Grad(y, dy *graph.Node, i int) *graph.Node {
	x, w := y.In(0), y.In(1)
	op.To = y.In(i).Shape()
	if i == 0 {
		return graph.Apply(convInput(op), dy, swapLast(w))
	}
	return graph.Apply(convKernel(op), x, dy)
}

func (conv) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return multilinearly(y, dx) }

// Batch takes the examples for a batch as it is, but where each has a kernel of its
// own: then their channels lie side by side, in groups that do not see each other.
func (op conv) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[1] {
		return graph.Apply(op, in...)
	}
	x, w, last := in[0], beside(in[1], op.Stride.Len()+1), y.Rank()-1
	if batched[0] || op.Groups > 1 {
		x = beside(repeated(in, batched, b)[0], last)
		op.Groups *= b.Size
	}
	return parted(graph.Apply(op, x, w), last, b, y.Shape().Axis(last))
}

func (op conv) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	convolution(op).products(in[0].Type.Shape, in[1].Type.Shape, y.Shape(), func(x, w, y int) {
		out.Data[y] += in[0].Data[x] * in[1].Data[w]
	})
	return out
}

func (op conv) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	x := y.In(0).Shape()
	return alongPlanes(inGroups(op.Groups, x.Dim(x.Rank()-1))+"conv", y, op.Stride.Len(), in)
}

// inGroups returns the word before the name of a convolution in groups: depthwise if each of the
// channels is a group of its own.
func inGroups(groups, channels int) string {
	switch {
	case groups == 1:
		return ""
	case groups == channels:
		return "depthwise "
	}
	return "grouped "
}

func (conv) Cases() []Case {
	return convCases(func(c convolution) graph.Op { return conv(c) },
		func(x, w, _ graph.Shape) (_, _, _ graph.Shape) { return x, w, graph.Shape{} })
}
