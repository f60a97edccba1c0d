package ops

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
)

// A convolution along three axes is a sum of convolutions along the last two, one for each place of
// the kernel along the first, whose axis is one of batches to them. So it has no operation, kernel or
// derivative of its own.

// deep returns the convolution y[… d′ h′ w′ o] of x[… d h w c] with w[kd kh kw c o].
func (c convolution) deep(x, w *graph.Node) *graph.Node {
	if !x.IsValid() || !w.IsValid() || x.Graph() != w.Graph() {
		return graph.Apply(conv(c), x, w) // records the mistake, or stays silent
	}
	if x.Rank() <= 3 || w.Rank() != 5 {
		return x.Graph().Fail("Conv3D", errors.New("want arrays [… d h w c] and [kd kh kw c o]"), x, w)
	}
	d, s := x.Rank()-4, c.sliding(0, w.Dim(0))
	n, err := slide(x.Shape().Axis(d), s)
	if err != nil {
		return x.Graph().Fail("Conv3D", err, x, w)
	}
	x = Pad(x, d, s.Before, s.After, 0)
	var terms []*graph.Node
	for k := range s.Size {
		at := k * s.Dilation
		y := graph.Apply(conv(c.flat()), SliceStep(x, d, at, at+(n-1)*s.Stride+1, s.Stride), At(w, 0, k))
		if !y.IsValid() {
			return y
		}
		terms = append(terms, y)
	}
	return Add(terms...)
}

// deepBack returns the transpose of deep: x[… d′ h′ w′ c] of y[… d h w o] and v[kd kh kw o c].
func (c convolution) deepBack(y, v *graph.Node) *graph.Node {
	if !y.IsValid() || !v.IsValid() || y.Graph() != v.Graph() {
		return graph.Apply(convInput(c), y, v) // records the mistake, or stays silent
	}
	if y.Rank() <= 3 || v.Rank() != 5 {
		return y.Graph().Fail("ConvTranspose3D", errors.New("want arrays [… d h w o] and [kd kh kw o c]"), y, v)
	}
	d, s := y.Rank()-4, c.sliding(0, v.Dim(0))
	a := y.Shape().Axis(d)
	if _, err := slide(graph.Axis{Name: a.Name, Size: max(1, s.source(a.Size))}, s); err != nil {
		return y.Graph().Fail("ConvTranspose3D", err, y, v)
	}
	flat := c.flat()
	var terms []*graph.Node
	for k := range s.Size {
		w := At(v, 0, k)
		to, err := flat.source(y.Shape(), w.Shape())
		if err != nil {
			return y.Graph().Fail("ConvTranspose3D", err, y, v)
		}
		flat.To = to
		x := graph.Apply(convInput(flat), y, w)
		if !x.IsValid() {
			return x
		}
		terms = append(terms, Pad(spaced(x, d, s.Stride), d, k*s.Dilation, (s.Size-1-k)*s.Dilation, 0))
	}
	x := Add(terms...)
	return Slice(x, d, s.Before, x.Dim(d)-s.After)
}

// spaced returns the elements of x along an axis with zeros between them, each n from the next.
func spaced(x *graph.Node, axis, n int) *graph.Node {
	if n == 1 || x.Dim(axis) == 1 {
		return x
	}
	axes := x.Shape().Axes()
	size := axes[axis].Size
	axes[axis].Size = size * n
	to, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail("ConvTranspose3D", err, x)
	}
	wide := Pad(Expand(x, axis+1, ""), axis+1, 0, n-1, 0)
	return Slice(ReshapeTo(wide, to), axis, 0, (size-1)*n+1)
}
