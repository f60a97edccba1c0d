package gorgonia

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// For a change of layout along one axis, the array is reshaped to three axes: all before it, the
// axis, and all after it. Gorgonia's operations differ by rank and drop axes of size 1.

func (b *builder) reshape(x *G.Node, sizes ...int) *G.Node {
	if slices.Equal(x.Shape(), sizes) {
		return x
	}
	return b.one(func(x *G.Node) (*G.Node, error) { return G.Reshape(x, tensor.Shape(slices.Clone(sizes))) }, x)
}

// like reshapes x to the shape of a source node.
func (b *builder) like(n *graph.Node, x *G.Node) *G.Node { return b.reshape(x, n.Shape().Sizes()...) }

func reshape(s site, x []*G.Node) *G.Node { return s.like(s.y, x[0]) }

// around reshapes x to three axes: those before an axis, the axis, and those after.
func (b *builder) around(x *G.Node, axis int) *G.Node {
	sizes := x.Shape()
	return b.reshape(x, product(sizes[:axis]), sizes[axis], product(sizes[axis+1:]))
}

func product(sizes []int) int {
	p := 1
	for _, n := range sizes {
		p *= n
	}
	return p
}

// repeat repeats an array of the given sizes, 1 on axes from to to−1, n times there.
func (b *builder) repeat(x *G.Node, sizes []int, from, to, n int) *G.Node {
	before, after := product(sizes[:from]), product(sizes[to:])
	x = b.reshape(x, before, 1, after)
	if n == 1 {
		return x
	}
	return b.apply(func(in []*G.Node) (*G.Node, error) {
		partner := placeholder(in[0].Graph(), "partner", in[0].Dtype(), []int{before, n, after})
		y, _, err := G.Broadcast(in[0], partner, G.NewBroadcastPattern([]byte{1}, nil))
		return y, err
	}, x, b.number(x, float64(n)))
}

// laidOut repeats an array of the given sizes to the sizes to, which are as many.
func (b *builder) laidOut(x *G.Node, sizes, to []int) *G.Node {
	now := slices.Clone(sizes)
	for i := 0; i < len(to); i++ {
		from := i
		for i < len(to) && now[i] == 1 {
			i++
		}
		if n := product(to[from:i]); n > 1 {
			x = b.repeat(x, now, from, i, n)
			copy(now[from:i], to[from:i])
		}
	}
	return b.reshape(x, to...)
}

func broadcast(s site, x []*G.Node) *G.Node {
	to := s.y.Shape().Sizes()
	sizes := s.y.In(0).Shape().Sizes()
	for len(sizes) < len(to) {
		sizes = slices.Insert(sizes, 0, 1)
	}
	return s.laidOut(x[0], sizes, to)
}

func transpose(s site, x []*G.Node) *G.Node {
	order, _ := match.Permuted(s.y)
	return s.one(func(x *G.Node) (*G.Node, error) { return G.Transpose(x, order...) }, x[0])
}

func (b *builder) concat(axis int, x ...*G.Node) *G.Node {
	if len(x) == 1 {
		return x[0]
	}
	return b.apply(func(in []*G.Node) (*G.Node, error) { return G.Concat(axis, in...) }, x...)
}

func concat(s site, x []*G.Node) *G.Node {
	parts := make([]*G.Node, len(x))
	for i, p := range x {
		parts[i] = s.around(p, s.along())
	}
	return s.like(s.y, s.concat(1, parts...))
}

// cut returns n elements of axis 1 of three, beginning at from.
func (b *builder) cut(x *G.Node, from, n int) *G.Node {
	sizes := x.Shape()
	if n == sizes[1] {
		return x
	}
	y := b.one(func(x *G.Node) (*G.Node, error) { return G.Slice(x, nil, G.S(from, from+n)) }, x)
	return b.reshape(y, sizes[0], n, sizes[2])
}

// slice joins single elements if they are not neighbours, as gorgonia's slices only go forwards.
func slice(s site, x []*G.Node) *G.Node {
	start, step, _ := match.Strided(s.y)
	sizes := s.y.In(0).Shape().Sizes()
	y := x[0]
	for a, from := range start {
		y = s.around(s.reshape(y, sizes...), a)
		sizes[a] = s.y.Dim(a)
		if step[a] == 1 {
			y = s.cut(y, from, sizes[a])
			continue
		}
		parts := make([]*G.Node, sizes[a])
		for k := range parts {
			parts[k] = s.cut(y, from+k*step[a], 1)
		}
		y = s.concat(1, parts...)
	}
	return s.like(s.y, y)
}

// place joins the elements and zeros in order, axis by axis.
func place(s site, x []*G.Node) *G.Node {
	start, step, _ := match.Strided(s.y)
	sizes := s.y.In(0).Shape().Sizes()
	y := x[0]
	for a, from := range start {
		y = s.around(s.reshape(y, sizes...), a)
		n, to := sizes[a], s.y.Dim(a)
		zeros := func(n int) *G.Node { return s.zeros(y.Shape()[0], n, y.Shape()[2]) }
		var parts []*G.Node
		if step[a] == 1 {
			parts = append(parts, zeros(from), y, zeros(to-from-n))
		} else {
			for range to {
				parts = append(parts, zeros(1))
			}
			for k := range n {
				parts[from+k*step[a]] = s.cut(y, k, 1)
			}
		}
		parts = slices.DeleteFunc(parts, func(p *G.Node) bool { return p == nil })
		y = s.concat(1, parts...)
		sizes[a] = to
	}
	return s.like(s.y, y)
}

// zeros returns a constant of the given sizes, nil if it has no elements.
func (s site) zeros(sizes ...int) *G.Node {
	if product(sizes) == 0 {
		return nil
	}
	shape, err := graph.NewShape(graph.Dims(sizes...)...)
	s.must(err)
	return s.constant(graph.NewValue(graph.Type{DType: s.dt, Shape: shape}))
}
