package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Conv is a convolution along one spatial axis, two or three, the same weights at every place (the
// notes on weight sharing). As usual in neural networks, it is the cross-correlation
//
//	y_q = Σ_k x_{q·S + k·D − P}·W_k + b
//
// with stride S, dilation D and padding P: the options of [ops.Window]. By default batch axes come
// first and channels last: x[… t c], x[… h w c] or x[… d h w c]. The size of the window is that of
// the weights. A Conv can also be made of weights from elsewhere: Conv{W: w, B: b, Window:
// ops.Stride(2)}.
type Conv struct {
	Name    string
	W       *graph.Node // w[k c o], w[kh kw c o] or w[kd kh kw c o]; in groups, c are the channels of one
	B       *graph.Node // b[o]; nil for none
	Window  ops.Window  // nil for windows side by side in the array
	Reflect bool        // pad with reflections instead of zeros
}

// NewConv1D adds the parameters NAME/w[k c o] and NAME/b[o] of a convolution along one axis. Of the
// options [ops.Size] says k, 1 by default. The weights start as in He et al. (2015), the bias at
// zero.
func NewConv1D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) Conv {
	return newConv(g, name, dt, 1, in, out, options, true)
}

// NewConv2D adds the parameters NAME/w[kh kw c o] and NAME/b[o] of a convolution of images. It is
// otherwise like [NewConv1D].
func NewConv2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) Conv {
	return newConv(g, name, dt, 2, in, out, options, true)
}

// NewConv3D adds the parameters NAME/w[kd kh kw c o] and NAME/b[o] of a convolution of volumes. It
// is otherwise like [NewConv1D].
func NewConv3D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) Conv {
	return newConv(g, name, dt, 3, in, out, options, true)
}

// NewDepthwise2D returns a convolution with one window for each channel: as many groups as channels
// (the notes on weight sharing and on ConvNeXt).
func NewDepthwise2D(g *graph.Graph, name string, dt graph.DType, c graph.Axis, options ...ops.Window) Conv {
	return newConv(g, name, dt, 2, c, c, append(options[:len(options):len(options)], ops.Groups(c.Size)), true)
}

// NewFilter2D is like [NewConv2D] without a bias. Use it before a norm, which subtracts any bias
// with the mean.
func NewFilter2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) Conv {
	return newConv(g, name, dt, 2, in, out, options, false)
}

func newConv(g *graph.Graph, name string, dt graph.DType, spatial int, in, out graph.Axis, options []ops.Window, bias bool) Conv {
	defer g.Scope(name)()
	l := Conv{Name: name, Window: ops.Windows(options...)}
	if groups := l.Window.Groups(); groups > 1 { // the weights know the channels of one group; Conv says if they do not divide
		in = graph.Axis{Size: max(1, in.Size/groups)}
	}
	l.W = g.Param("w", dt, kernelAxes(spatial, l.Window, in, out)...).Init(initial.He())
	if bias {
		l.B = g.Param("b", dt, out)
	}
	return l
}

// kernelAxes returns [kw in out], [kh kw in out] or [kd kh kw in out]. Where both channels have one
// name, the input's go without.
func kernelAxes(spatial int, w ops.Window, in, out graph.Axis) []graph.Axis {
	var axes []graph.Axis
	for i, name := range []string{"kd", "kh", "kw"}[3-spatial:] {
		axes = append(axes, graph.Ax(name, w.Sliding(i).Size))
	}
	return append(axes, build.Apart(in, out)...)
}

// Of returns the convolution y[… h w o] of x[… h w c], or y[… t o] of x[… t c], or y[… d h w o] of x[…
// d h w c], depending on the weights. Other channels than those of the weights, and windows that do
// not fit, are mistakes.
func (l Conv) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.W)()
	w := l.Sliding()
	if l.Reflect {
		x = mirrored(x, w, spatialOf(l.W))
		w = ops.Windows(w, ops.Valid())
	}
	f := []func(x, w *graph.Node, options ...ops.Window) *graph.Node{ops.Conv1D, ops.Conv2D, ops.Conv3D}[spatialOf(l.W)-1]
	return biased(f(x, l.W, w), w, l.B)
}

// biased adds b[o] to y, whose channels are where the window says.
func biased(y *graph.Node, w ops.Window, b *graph.Node) *graph.Node {
	if at := w.Channel(y); b.IsValid() && y.IsValid() && b.Rank() == 1 && at >= 0 {
		for range y.Rank() - 1 - at {
			b = ops.Expand(b, -1, "")
		}
	}
	return build.Affine(y, nil, b)
}

// Sliding returns the window with the sizes that the weights have, for [ReceptiveField].
func (l Conv) Sliding() ops.Window {
	if l.W.IsValid() && l.W.Rank() > 2 {
		return ops.Windows(l.Window, ops.Size(l.W.Shape().Sizes()[:l.W.Rank()-2]...))
	}
	return ops.Windows(l.Window)
}

// spatialOf returns the number of axes that weights [… c o] slide along.
func spatialOf(w *graph.Node) int {
	if w.IsValid() {
		switch w.Rank() {
		case 3:
			return 1
		case 5:
			return 3
		}
	}
	return 2
}

// mirrored lays as many reflected elements around each of the spatial axes of x as the window has
// padding (mirror padding in the notes).
func mirrored(x *graph.Node, w ops.Window, spatial int) *graph.Node {
	axes, err := w.Spatial(x, spatial)
	if err != nil {
		return x // the convolution will refuse it
	}
	for i, a := range axes {
		s := w.Sliding(i)
		x = ops.ReflectPad(x, a, s.Before, s.After)
	}
	return x
}

// ConvTransposed is the transpose of [Conv] with the same window: it adds up a window for every
// element, and goes from coarse to fine. From n elements of an axis it makes (n−1)·S − 2P + D·(K−1)
// + 1.
type ConvTransposed struct {
	Name string
	W    *graph.Node // w[k o c], w[kh kw o c] or w[kd kh kw o c]: from channels o to channels c
	B    *graph.Node // b[c]; nil for none

	Window ops.Window // as of a [Conv]
}

// NewConvTransposed1D adds the parameters NAME/w[k in out] and NAME/b[out].
func NewConvTransposed1D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) ConvTransposed {
	return newConvTransposed(g, name, dt, 1, in, out, options)
}

// NewConvTransposed2D adds the parameters NAME/w[kh kw in out] and NAME/b[out].
func NewConvTransposed2D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) ConvTransposed {
	return newConvTransposed(g, name, dt, 2, in, out, options)
}

// NewConvTransposed3D adds the parameters NAME/w[kd kh kw in out] and NAME/b[out].
func NewConvTransposed3D(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, options ...ops.Window) ConvTransposed {
	return newConvTransposed(g, name, dt, 3, in, out, options)
}

func newConvTransposed(g *graph.Graph, name string, dt graph.DType, spatial int, in, out graph.Axis, options []ops.Window) ConvTransposed {
	l := newConv(g, name, dt, spatial, in, out, options, true)
	return ConvTransposed{l.Name, l.W, l.B, l.Window}
}

// Of returns the transposed convolution of y[… h w o]: x[… h w c], or of y[… t o]: x[… t c], or of
// y[… d h w o]: x[… d h w c].
func (l ConvTransposed) Of(y *graph.Node) *graph.Node {
	defer build.Within(l.Name, y, l.W)()
	w := Conv{W: l.W, Window: l.Window}.Sliding()
	f := []func(y, v *graph.Node, options ...ops.Window) *graph.Node{ops.ConvTranspose1D, ops.ConvTranspose2D, ops.ConvTranspose3D}[spatialOf(l.W)-1]
	return biased(f(y, l.W, w), w, l.B)
}
