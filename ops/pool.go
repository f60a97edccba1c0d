package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Pooling reduces windows over the spatial axes of x[… h w c], channel by channel:
//
//	MaxPool    the largest element of every window of x
//	MaxPick    the element of u where the window of x has its largest
//	MaxUnpool  zeros, but the given elements where the windows of x have their largest
//	SumPool    the sum of every window
//	SumUnpool  an element for every window, added to all of the window
//
// MaxUnpool is the derivative of MaxPool, and MaxPick and MaxUnpool are each
// other's in their last operand; SumPool and SumUnpool are each other's. So all
// are closed under differentiation. Of equal elements the first in row-major
// order counts, and in a window with a NaN the first of all.

// pooling holds the attributes of all of them. Padding is that before the first elements; After is
// that after the last ones, if it is not the same. Dilation is none where all are 1. To is the shape
// of SumUnpool's result.
type pooling struct {
	Size, Stride, Padding attr.Ints
	To                    graph.Shape
	Dilation, After       attr.Ints
}

// pooling returns the attributes of windows along so many axes.
func (w windows) pooling(spatial int) (p pooling, err error) {
	if len(w.size) == 0 {
		return p, &graph.Mistake{Problem: "windows without a size", Fix: "give it: ops.Size(2)"}
	}
	if p.Size, err = each("size", w.size, spatial); err != nil {
		return p, err
	}
	if p.Stride, err = each("stride", w.stride, spatial, p.Size.List()...); err != nil {
		return p, err
	}
	ones := attr.IntsOf(slices.Repeat([]int{1}, spatial)...)
	if p.Dilation, err = each("dilation", w.dilation, spatial, ones.List()...); err != nil {
		return p, err
	}
	if p.Padding, p.After, err = w.around(p.Size, p.Dilation); p.Dilation == ones {
		p.Dilation = attr.Ints{}
	}
	return p, err
}

// pooled returns windows over x along so many axes, each of which f makes of x as it lies with its
// spatial axes and then its channels last.
func pooled(spatial int, x *graph.Node, options []Window, f func(o windows, p pooling, x *graph.Node) *graph.Node, takes ...string) *graph.Node {
	o, err := windowsOf(options, takes...)
	var p pooling
	if err == nil {
		p, err = o.pooling(spatial)
	}
	laid, back := x, []int(nil)
	if err == nil {
		laid, back, err = o.channelsLast(spatial, x)
	}
	if err != nil {
		return graph.Of(x).Fail("pool", err, x)
	}
	return returned(f(o, p, laid), back)
}

// inParts applies an operation to x. Along three axes, it applies it along the last two and, the
// elements of a plane being channels, along the first.
func (p pooling) inParts(op func(pooling) graph.Op, x *graph.Node) *graph.Node {
	if p.Size.Len() < 3 || !x.IsValid() {
		return graph.Apply(op(p), x)
	}
	if x.Rank() <= 3 {
		return x.Graph().Fail("pool", errors.New("want an array [… d h w c]"), x)
	}
	y := graph.Apply(op(p.over(1, 3)), x)
	if !y.IsValid() {
		return y
	}
	axes, d := y.Shape().Axes(), y.Rank()-4
	plane, err := graph.NewShape(append(y.Shape().Axes()[:d+1], graph.Axis{Size: axes[d+1].Size * axes[d+2].Size * axes[d+3].Size})...)
	if err != nil {
		return x.Graph().Fail("pool", err, x)
	}
	z := graph.Apply(op(p.over(0, 1)), ReshapeTo(y, plane))
	if !z.IsValid() {
		return z
	}
	axes[d].Size = z.Dim(d)
	to, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail("pool", err, x)
	}
	return ReshapeTo(z, to)
}

// over returns the attributes along some of the axes.
func (p pooling) over(from, to int) pooling {
	return pooling{tail(p.Size, from, to), tail(p.Stride, from, to), tail(p.Padding, from, to), graph.Shape{}, tail(p.Dilation, from, to), tail(p.After, from, to)}
}

// sliding says how the windows slide along spatial axis i.
func (p pooling) sliding(i int) Sliding {
	s := Sliding{p.Size.At(i), p.Stride.At(i), 1, p.Padding.At(i), p.Padding.At(i)}
	if p.Dilation.Len() > 0 {
		s.Dilation = p.Dilation.At(i)
	}
	if p.After.Len() > 0 {
		s.After = p.After.At(i)
	}
	return s
}

// meets is an error if a window over n elements has none of them.
func (s Sliding) meets(n int) error {
	reach := s.Dilation*(s.Size-1) + 1
	if most := max(s.Before, s.After); 2*most > reach {
		return fmt.Errorf("padding %d: want at most half the size of the windows, %d", most, reach)
	}
	for first := -s.Before; first < 0; first += s.Stride {
		if at := (-first + s.Dilation - 1) / s.Dilation; at >= s.Size || first+at*s.Dilation >= n {
			return fmt.Errorf("a window of %d elements, %d apart, with padding %s has none of %d elements", s.Size, s.Dilation, s.padding(), n)
		}
	}
	if first := (s.Count(n)-1)*s.Stride - s.Before; first >= n {
		return fmt.Errorf("the last window begins at element %d of %d", first, n)
	}
	return nil
}

// result is the shape of the windows over x.
func (p pooling) result(x graph.Shape) (graph.Shape, error) {
	n := p.Size.Len()
	if n < 1 || n > 2 || p.Stride.Len() != n || p.Padding.Len() != n ||
		p.Dilation.Len() != 0 && p.Dilation.Len() != n || p.After.Len() != 0 && p.After.Len() != n {
		return graph.Shape{}, fmt.Errorf("want size, stride and padding for one axis or two")
	}
	if x.Rank() <= n {
		return graph.Shape{}, fmt.Errorf("want an array %s", []string{"[… t c]", "[… h w c]"}[n-1])
	}
	axes := x.Axes()
	for i := range n {
		a := &axes[len(axes)-1-n+i]
		size, err := slide(*a, p.sliding(i))
		if err == nil {
			err = p.sliding(i).meets(a.Size)
		}
		if err != nil {
			return graph.Shape{}, err
		}
		a.Size = size
	}
	return graph.NewShape(axes...)
}

// infer gives the type of windows over x, one of the n operands.
func (p pooling) infer(in []*graph.Node, n int) (graph.Type, error) {
	if err := arity(in, n); err != nil {
		return graph.Type{}, err
	}
	if err := wantFloat(in...); err != nil {
		return graph.Type{}, err
	}
	if p.To != (graph.Shape{}) {
		return graph.Type{}, fmt.Errorf("its shape follows from its operands")
	}
	s, err := p.result(in[0].Shape())
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// windows calls f with the places in x and y of every element of every window, in
// row-major order of the elements for each window.
func (p pooling) windows(x, y graph.Shape, f func(x, y int)) {
	n := p.Size.Len()
	size, stride, padding, dilation := pair(p.Size, 1), pair(p.Stride, 1), pair(p.Padding, 0), pair(p.Dilation, 1)
	batch, xh, xw, c := planes(x, n)
	_, yh, yw, _ := planes(y, n)
	for b := range batch {
		for q := range yh * yw {
			for k := range size[0] * size[1] {
				i := q/yw*stride[0] + k/size[1]*dilation[0] - padding[0]
				j := q%yw*stride[1] + k%size[1]*dilation[1] - padding[1]
				if i < 0 || i >= xh || j < 0 || j >= xw {
					continue
				}
				for ch := range c {
					f(((b*xh+i)*xw+j)*c+ch, (b*yh*yw+q)*c+ch)
				}
			}
		}
	}
}

func (p pooling) kernel() kernel.Pooling {
	return kernel.Pooling{
		Spatial: p.Size.Len(),
		Size:    pair(p.Size, 1), Stride: pair(p.Stride, 1), Padding: pair(p.Padding, 0), Dilation: pair(p.Dilation, 1),
	}
}

// poolCase is an example: types of x and of its windows without the element type,
// and the call.
type poolCase struct {
	x, y    string
	options []Window
}

// poolCases makes a case of each example, with operands like x or y, as the letters
// say.
func poolCases(d Domain, like string, op func(p pooling, x graph.Shape) graph.Op) []Case {
	var out []Case
	for _, c := range []poolCase{
		{"[b=2 h=4 w=6 c=2]", "[b=2 h=2 w=3 c=2]", []Window{Size(2)}},
		{"[h=5 w=5 c=3]", "[h=3 w=3 c=3]", []Window{Size(3), Stride(2), Padding(1)}},
		{"[h=3 w=5 c=1]", "[h=3 w=4 c=1]", []Window{Size(1, 2), Stride(1)}},
		{"[b=2 t=7 c=2]", "[b=2 t=3 c=2]", []Window{Size(2)}},
		{"[t=7 2]", "[t=4 2]", []Window{Size(3), Stride(2), Padding(1)}},
		{"[h=4 w=6 c=2]", "[h=2 w=5 c=2]", []Window{Size(3, 2), Stride(2, 1), Dilation(1, 3), Padding(1)}},
		{"[t=5 c=2]", "[t=5 c=2]", []Window{Size(2), Stride(1), Same()}},
	} {
		var operands []Operand
		for _, letter := range like {
			operands = append(operands, Operand{"float" + map[rune]string{'x': c.x, 'y': c.y}[letter], d})
		}
		out = append(out, Case{operands, func(in []*graph.Node) *graph.Node {
			var x graph.Type
			o, err := windowsOf(c.options)
			var p pooling
			if err == nil {
				p, err = o.pooling(strings.Count(c.x, "t=") + 2*strings.Count(c.x, "h="))
			}
			if err == nil {
				err = x.UnmarshalText([]byte("f32" + c.x))
			}
			if err != nil {
				return graph.Of(in...).Fail("pool", err, in...)
			}
			return graph.Apply(op(p, x.Shape), in...)
		}})
	}
	return out
}
