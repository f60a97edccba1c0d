package ops

import (
	"fmt"

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

// pooling holds the attributes of all of them. To is the shape of SumUnpool's result.
type pooling struct {
	Size, Stride, Padding attr.Ints
	To                    graph.Shape
}

func poolingOf(options []Window, size []int, takes ...string) (p pooling, excluding bool, err error) {
	o, err := windowsOf(options, takes...)
	p.Size = attr.IntsOf(size...)
	if err == nil {
		p.Stride, err = each("stride", o.stride, len(size), size...)
	}
	if err == nil {
		p.Padding, err = each("padding", o.padding, len(size), 0)
	}
	return p, o.excluding, err
}

// result is the shape of the windows over x.
func (p pooling) result(x graph.Shape) (graph.Shape, error) {
	n := p.Size.Len()
	if n < 1 || n > 2 || p.Stride.Len() != n || p.Padding.Len() != n {
		return graph.Shape{}, fmt.Errorf("want size, stride and padding for one axis or two")
	}
	if x.Rank() <= n {
		return graph.Shape{}, fmt.Errorf("want an array %s", []string{"[… t c]", "[… h w c]"}[n-1])
	}
	axes := x.Axes()
	for i := range n {
		a := &axes[len(axes)-1-n+i]
		size, err := slide(*a, p.Size.At(i), p.Stride.At(i), p.Padding.At(i), 1)
		if err == nil && 2*p.Padding.At(i) > p.Size.At(i) {
			err = fmt.Errorf("padding %d: want at most half the size of the windows, %d", p.Padding.At(i), p.Size.At(i))
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
	size, stride, padding := pair(p.Size, 1), pair(p.Stride, 1), pair(p.Padding, 0)
	batch, xh, xw, c := planes(x, n)
	_, yh, yw, _ := planes(y, n)
	for b := range batch {
		for q := range yh * yw {
			for k := range size[0] * size[1] {
				i, j := q/yw*stride[0]+k/size[1]-padding[0], q%yw*stride[1]+k%size[1]-padding[1]
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
	return kernel.Pooling{Spatial: p.Size.Len(), Size: pair(p.Size, 1), Stride: pair(p.Stride, 1), Padding: pair(p.Padding, 0)}
}

// poolCase is an example: types of x and of its windows without the element type,
// and the call.
type poolCase struct {
	x, y    string
	size    []int
	options []Window
}

// poolCases makes a case of each example, with operands like x or y, as the letters
// say.
func poolCases(d Domain, like string, op func(p pooling, x graph.Shape) graph.Op) []Case {
	var out []Case
	for _, c := range []poolCase{
		{"[b=2 h=4 w=6 c=2]", "[b=2 h=2 w=3 c=2]", []int{2, 2}, nil},
		{"[h=5 w=5 c=3]", "[h=3 w=3 c=3]", []int{3, 3}, []Window{Stride(2), Padding(1)}},
		{"[h=3 w=5 c=1]", "[h=3 w=4 c=1]", []int{1, 2}, []Window{Stride(1)}},
		{"[b=2 t=7 c=2]", "[b=2 t=3 c=2]", []int{2}, nil},
		{"[t=7 2]", "[t=4 2]", []int{3}, []Window{Stride(2), Padding(1)}},
	} {
		var operands []Operand
		for _, letter := range like {
			operands = append(operands, Operand{"float" + map[rune]string{'x': c.x, 'y': c.y}[letter], d})
		}
		out = append(out, Case{operands, func(in []*graph.Node) *graph.Node {
			var x graph.Type
			p, _, err := poolingOf(c.options, c.size)
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
