package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

var errNil = errors.New("operand is nil")

type reshape struct{ To graph.Shape }

// ReshapeTo gives the elements of x, in row-major order, another shape with as many elements. x is
// of any element type.
func ReshapeTo(x *graph.Node, to graph.Shape) *graph.Node {
	defer calling("ReshapeTo", x)()
	if x.IsValid() && x.Shape() == to {
		return x
	}
	return graph.Apply(reshape{to}, x)
}

// Reshape gives the elements of x, in row-major order, axes of the given sizes. One size may be -1,
// for the size that uses up all elements. Axes that stay as they are keep their names; [Split],
// [Merge] and [Rename] name the others. x is of any element type. Sizes with another number of
// elements than x are a mistake, as is a -1 beside a 0, which any size would do for.
func Reshape(x *graph.Node, sizes ...int) *graph.Node {
	defer calling("Reshape", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Reshape", errNil, x)
	}
	sizes = slices.Clone(sizes)
	known, open := 1, -1
	for i, n := range sizes {
		switch {
		case n == -1 && open < 0:
			open = i
		case n < 0 || n > min(1<<40, math.MaxInt)/max(1, known):
			return x.Graph().Fail("Reshape", fmt.Errorf("sizes %v: want sizes of at least 0, and at most one -1", sizes), x)
		default:
			known *= n
		}
	}
	switch {
	case open >= 0 && known == 0:
		return x.Graph().Fail("Reshape", fmt.Errorf("sizes %v: -1 may be any size beside a 0", sizes), x)
	case open >= 0:
		sizes[open] = x.Shape().Len() / known
	}
	axes := graph.Dims(sizes...)
	nameUntouched(x.Shape(), axes)
	to, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail("Reshape", err, x)
	}
	return ReshapeTo(x, to)
}

// nameUntouched gives the new axes the names of those that come through whole:
// same size, with the same number of elements before and after them.
func nameUntouched(s graph.Shape, axes []graph.Axis) {
	before, from := 1, 0
	for k := range axes {
		b := 1
		for i := from; i < s.Rank(); i++ {
			if i == from {
				b = 1
				for j := range i {
					b *= s.Dim(j)
				}
			}
			if b == before && s.Dim(i) == axes[k].Size {
				axes[k].Name = s.Axis(i).Name
				from = i + 1
				break
			}
			b *= s.Dim(i)
		}
		before *= axes[k].Size
	}
}

// Expand inserts an axis of size 1, with a name or "", before axis number at of x; negative numbers
// count from the end, and -1 makes it the last. x is of any element type.
func Expand(x *graph.Node, at int, name string) *graph.Node {
	defer calling("Expand", x)()
	if !x.IsValid() {
		return graph.Of(x).Fail("Expand", errNil, x)
	}
	if at < 0 {
		at += x.Rank() + 1
	}
	if at < 0 || at > x.Rank() {
		return x.Graph().Fail("Expand", fmt.Errorf("place %d among %d axes", at, x.Rank()), x)
	}
	return reshapeAxes("Expand", x, slices.Insert(x.Shape().Axes(), at, graph.Axis{Name: name, Size: 1}))
}

// Squeeze removes the given axes of x; without any, all axes of size 1, as in NumPy and PyTorch. x
// is of any element type. To remove an axis of another size is a mistake.
func Squeeze(x *graph.Node, axes ...any) *graph.Node {
	defer calling("Squeeze", x)()
	return withAxes("Squeeze", x, axes, func(list []int) *graph.Node {
		var left []graph.Axis
		for i, a := range x.Shape().Axes() {
			switch {
			case len(axes) == 0 && a.Size == 1:
			case !slices.Contains(list, i):
				left = append(left, a)
			case a.Size != 1:
				return x.Graph().Fail("Squeeze", fmt.Errorf("axis %v has not size 1", a), x)
			}
		}
		return reshapeAxes("Squeeze", x, left)
	})
}

// Flatten makes one vector, with one axis without a name, of all elements of its operands, each in
// row-major order and one after the other: ops.Flatten(grad.Of(loss, g.Params()...)...) is the whole
// gradient. For neighbouring axes of one array there is [Merge]. The operands have one element type,
// which may be any; otherwise, or without any operand, it records a mistake.
func Flatten(xs ...*graph.Node) *graph.Node {
	defer calling("Flatten", xs...)()
	flat := make([]*graph.Node, len(xs))
	for i, x := range xs {
		if flat[i] = x; x.IsValid() {
			flat[i] = reshapeAxes("Flatten", x, graph.Dims(x.Shape().Len()))
		}
	}
	if len(flat) == 1 && flat[0].IsValid() {
		return flat[0]
	}
	return Concat(0, flat...)
}

// Split replaces one axis of x by several, the last of which runs fastest:
//
//	ops.Split(x, "f", graph.Ax("head", 4), graph.Ax("e", 8))   // [b f=32] to [b head=4 e=8]
//
// x is of any element type. Sizes whose product is not that of the axis are a mistake.
func Split(x *graph.Node, axis any, into ...graph.Axis) *graph.Node {
	defer calling("Split", x)()
	return withAxes("Split", x, []any{axis}, func(list []int) *graph.Node {
		return reshapeAxes("Split", x, slices.Replace(x.Shape().Axes(), list[0], list[0]+1, into...))
	})
}

// Merge replaces neighbouring axes of x, given in their order, by one called name; it is the
// reverse of [Split]. x is of any element type. Axes that are not neighbours in this order are a
// mistake: bring them together with [Transpose].
func Merge(x *graph.Node, name string, axes ...any) *graph.Node {
	defer calling("Merge", x)()
	return withAxes("Merge", x, axes, func(list []int) *graph.Node {
		size := 1
		for k, a := range list {
			if a != list[0]+k {
				return x.Graph().Fail("Merge", &graph.Mistake{Problem: fmt.Sprintf("axes %v are not neighbours in this order", axes), Fix: "bring them together with ops.Transpose"}, x)
			}
			size *= x.Dim(a)
		}
		if len(list) == 0 {
			return x.Graph().Fail("Merge", fmt.Errorf("want at least one axis"), x)
		}
		return reshapeAxes("Merge", x, slices.Replace(x.Shape().Axes(), list[0], list[0]+len(list), graph.Axis{Name: name, Size: size}))
	})
}

// Rename gives one axis of x another name, or none with "". x is of any element type.
func Rename(x *graph.Node, axis any, name string) *graph.Node {
	defer calling("Rename", x)()
	return withAxes("Rename", x, []any{axis}, func(list []int) *graph.Node {
		s := x.Shape().Axes()
		s[list[0]].Name = name
		return reshapeAxes("Rename", x, s)
	})
}

func reshapeAxes(what string, x *graph.Node, axes []graph.Axis) *graph.Node {
	to, err := graph.NewShape(axes...)
	if err != nil {
		return x.Graph().Fail(what, err, x)
	}
	if to.Len() != x.Shape().Len() {
		return x.Graph().Fail(what, fmt.Errorf("%d elements cannot fill %v", x.Shape().Len(), to), x)
	}
	return ReshapeTo(x, to)
}

// withAxes resolves axis references and goes on with their indices.
func withAxes(what string, x *graph.Node, refs []any, f func(list []int) *graph.Node) *graph.Node {
	if !x.IsValid() {
		return graph.Of(x).Fail(what, errNil, x)
	}
	list, err := x.Shape().Resolve(refs...)
	if err != nil {
		return x.Graph().Fail(what, err, x)
	}
	return f(list)
}

func (reshape) Name() string     { return "Reshape" }
func (reshape) Kind() match.Kind { return match.Reshape }
func (reshape) Doc() string      { return "the same elements in another shape" }

// Rule returns the name of the rule of its derivative.
func (reshape) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the same elements in another shape")
}

func (op reshape) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if in[0].Shape().Len() != op.To.Len() {
		return graph.Type{}, fmt.Errorf("%d elements cannot fill %v of %d", in[0].Shape().Len(), op.To, op.To.Len())
	}
	return graph.Type{DType: in[0].DType(), Shape: op.To}, nil
}

func (reshape) Grad(y, dy *graph.Node, _ int) *graph.Node { return ReshapeTo(dy, y.In(0).Shape()) }

func (reshape) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op reshape) Batch(_ *graph.Node, in []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	return ReshapeTo(in[0], inFront(b, op.To))
}

func (reshape) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return graph.Value{Type: y.Type(), Data: in[0].Data}
}

func (op reshape) View(*graph.Node) kernel.View {
	return kernel.Reshape{Rank: op.To.Rank(), Dims: sizes8(op.To)}
}

// Notation renames subscripts where axes are only renamed or have size 1.
func (op reshape) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	if _, ok := resultOf(y.In(0)); ok { // in the shape that it has in a step
		return in[0]
	}
	long := func(s graph.Shape) (out []graph.Axis) {
		for _, a := range s.Axes() {
			if a.Size > 1 {
				out = append(out, a)
			}
		}
		return out
	}
	from, to := long(y.In(0).Shape()), long(op.To)
	var f, t []string
	for i, a := range from {
		if len(from) != len(to) || a.Size != to[i].Size {
			return expr.Call("reshape", in[0])
		}
		if a.Name != to[i].Name && a.Name != "" {
			f, t = append(f, a.Name), append(t, to[i].Name)
		}
	}
	return in[0].Subst(f, t)
}

func (reshape) Cases() []Case {
	one := func(typ string, f func(x *graph.Node) *graph.Node) Case {
		return Case{[]Operand{{typ, Reals}}, func(in []*graph.Node) *graph.Node { return f(in[0]) }}
	}
	return []Case{
		one("float[i=3 d=4]", func(x *graph.Node) *graph.Node { return Reshape(x, 2, -1) }),
		one("float[i=3 d=4]", func(x *graph.Node) *graph.Node { return Split(x, "d", graph.Ax("h", 2), graph.Ax("e", 2)) }),
		one("float[i=3 d=4]", func(x *graph.Node) *graph.Node { return Merge(x, "n", "i", "d") }),
		one("float[i=3 d=4]", func(x *graph.Node) *graph.Node { return Reshape(Transpose(x), 2, 6) }),
		one("float[i=3 1]", func(x *graph.Node) *graph.Node { return Squeeze(x, 1) }),
	}
}
