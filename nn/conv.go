package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Conv is a convolution along one spatial axis or two, the same weights at every place (the notes
// on weight sharing). As usual in neural networks, it is the cross-correlation
//
//	y_q = Σ_k x_{q·S + k·D − P}·W_k + b
//
// with stride S, dilation D and padding P. Batch axes come first and channels last: x[… t c] or x[…
// h w c]. The size of the window is that of the weights. A Conv can also be made of weights from
// elsewhere: Conv{W: w, B: b, Window: Window{Stride: 2}}.
type Conv struct {
	Name string
	W    *graph.Node // w[k c o] or w[kh kw c o]; in groups, c are the channels of one
	B    *graph.Node // b[o]; nil for none
	Window
	Groups  int  // channels are divided into that many; 0 stands for 1
	Reflect bool // pad with reflections instead of zeros
}

// NewConv1D adds the parameters NAME/w[k c o] and NAME/b[o] of a convolution along one axis. The
// weights start as in He et al. (2015), the bias at zero.
func NewConv1D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, w Window) Conv {
	return newConv(g, name, dt, 1, in, out, w, 1, true)
}

// NewConv2D adds the parameters NAME/w[kh kw c o] and NAME/b[o] of a convolution of images with
// square windows. The weights start as in He et al. (2015), the bias at zero.
func NewConv2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, w Window) Conv {
	return newConv(g, name, dt, 2, in, out, w, 1, true)
}

// NewGroupedConv2D is like [NewConv2D], with the channels divided into groups: each output channel
// reads the input channels of its own group only. groups must divide both numbers of channels, or
// Of records a mistake.
func NewGroupedConv2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, w Window, groups int) Conv {
	return newConv(g, name, dt, 2, in, out, w, groups, true)
}

// NewDepthwise2D returns a convolution with one window for each channel: as many groups as channels
// (the notes on weight sharing and on ConvNeXt).
func NewDepthwise2D(g *graph.Graph, name string, dt graph.DType, c graph.Axis, w Window) Conv {
	return newConv(g, name, dt, 2, c, c, w, c.Size, true)
}

// NewFilter2D is like [NewConv2D] without a bias. Use it before a norm, which subtracts any bias
// with the mean.
func NewFilter2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, w Window) Conv {
	return newConv(g, name, dt, 2, in, out, w, 1, false)
}

func newConv(g *graph.Graph, name string, dt graph.DType, spatial int, in, out graph.Axis, w Window, groups int, bias bool) Conv {
	defer g.Scope(name)()
	l := Conv{Name: name, Window: w, Groups: groups}
	if groups > 1 { // the weights know the channels of one group; Conv says if they do not divide
		in = graph.Axis{Size: max(1, in.Size/groups)}
	}
	l.W = g.Param("w", dt, kernelAxes(spatial, w.Size, in, out)...).Init(initial.He())
	if bias {
		l.B = g.Param("b", dt, out)
	}
	return l
}

// kernelAxes returns [kw in out] or [kh kw in out]. Where both channels have one name,
// the input's go without.
func kernelAxes(spatial, size int, in, out graph.Axis) []graph.Axis {
	axes := append([]graph.Axis{graph.Ax("kh", size), graph.Ax("kw", size)}, build.Apart(in, out)...)
	return axes[2-spatial:]
}

// Of returns the convolution y[… h w o] of x[… h w c], or y[… t o] of x[… t c], depending on the
// weights. Other channels than those of the weights, and windows that do not fit, are mistakes.
func (l Conv) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.W)()
	w := l.Sliding()
	if l.Reflect {
		x = mirrored(x, spatialOf(l.W), w.Padding)
		w.Padding = 0
	}
	f := ops.Conv2D
	if spatialOf(l.W) == 1 {
		f = ops.Conv1D
	}
	return build.Affine(f(x, l.W, ops.Stride(w.Stride), ops.Padding(w.Padding), ops.Dilation(w.Dilation), ops.Groups(max(l.Groups, 1))), nil, l.B)
}

// Sliding returns the window with the size that the weights have, for [ReceptiveField].
func (l Conv) Sliding() Window {
	w := l.Window
	if l.W.IsValid() {
		w.Size = l.W.Dim(0)
	}
	return Window{max(w.Size, 1), unless0(w.Stride), w.Padding, unless0(w.Dilation)}
}

// unless0 returns n, or 1 in place of 0. Negative numbers stay, for the operation to
// refuse.
func unless0(n int) int {
	if n == 0 {
		return 1
	}
	return n
}

// spatialOf returns the number of axes that weights [… c o] slide along.
func spatialOf(w *graph.Node) int {
	if w.IsValid() && w.Rank() == 3 {
		return 1
	}
	return 2
}

// mirrored lays n reflected elements around each of the spatial axes of x[… h w c]
// (mirror padding in the notes).
func mirrored(x *graph.Node, spatial, n int) *graph.Node {
	if !x.IsValid() || x.Rank() <= spatial {
		return x // the convolution will refuse it
	}
	for i := range spatial {
		x = ops.ReflectPad(x, x.Rank()-1-spatial+i, n, n)
	}
	return x
}

// ConvTransposed is the transpose of [Conv] with the same window: it adds up a window for every
// element, and goes from coarse to fine. From n elements of an axis it makes (n−1)·S − 2P + D·(K−1)
// + 1.
type ConvTransposed struct {
	Name string
	W    *graph.Node // w[k o c] or w[kh kw o c]: from channels o to channels c
	B    *graph.Node // b[c]; nil for none
	Window
}

// NewConvTransposed2D adds the parameters NAME/w[kh kw in out] and NAME/b[out].
func NewConvTransposed2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, w Window) ConvTransposed {
	l := newConv(g, name, dt, 2, in, out, w, 1, true)
	return ConvTransposed{l.Name, l.W, l.B, l.Window}
}

// Of returns the transposed convolution of y[… h w o]: x[… h w c], or of y[… t o]: x[… t c].
func (l ConvTransposed) Of(y *graph.Node) *graph.Node {
	defer build.Within(l.Name, y, l.W)()
	w := Conv{W: l.W, Window: l.Window}.Sliding()
	f := ops.ConvTranspose2D
	if spatialOf(l.W) == 1 {
		f = ops.ConvTranspose1D
	}
	return build.Affine(f(y, l.W, ops.Stride(w.Stride), ops.Padding(w.Padding), ops.Dilation(w.Dilation)), nil, l.B)
}
