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

type transpose struct{ Perm attr.Ints }

// Transpose returns x with its axes in the given order, which must have all of them; without any,
// it reverses their order. x is of any element type. It costs nothing where the operation that
// reads it takes strides, as [MatMul] does.
func Transpose(x *graph.Node, order ...any) *graph.Node {
	if x.IsValid() && len(order) == 0 {
		for i := range x.Rank() {
			order = append(order, x.Rank()-1-i)
		}
	}
	return withAxes("Transpose", x, order, func(list []int) *graph.Node {
		if len(list) != x.Rank() {
			return x.Graph().Fail("Transpose", fmt.Errorf("%d axes given, the operand has %d", len(list), x.Rank()), x)
		}
		return transposeTo(x, list)
	})
}

// swapLast exchanges the last two axes.
func swapLast(x *graph.Node) *graph.Node {
	order := make([]int, x.Rank())
	for i := range order {
		order[i] = i
	}
	n := len(order)
	order[n-1], order[n-2] = n-2, n-1
	return transposeTo(x, order)
}

func transposeTo(x *graph.Node, order []int) *graph.Node {
	for i, a := range order {
		if a != i {
			return graph.Apply(transpose{attr.IntsOf(order...)}, x)
		}
	}
	return x
}

func (transpose) Name() string     { return "Transpose" }
func (transpose) Kind() match.Kind { return match.Transpose }
func (op transpose) Order() []int  { return op.Perm.List() }
func (transpose) Doc() string      { return "axes in another order" }

// Rule returns the name of the rule of its derivative.
func (transpose) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the same elements in another order")
}

func (op transpose) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	axes := make([]graph.Axis, s.Rank())
	for i := range axes {
		if op.Perm.Len() != s.Rank() || !slices.Contains(op.Perm.List(), i) {
			return graph.Type{}, fmt.Errorf("%v is not an order of %d axes", op.Perm, s.Rank())
		}
		axes[i] = s.Axis(op.Perm.At(i))
	}
	to, err := graph.NewShape(axes...)
	return graph.Type{DType: in[0].DType(), Shape: to}, err
}

func (op transpose) Grad(_, dy *graph.Node, _ int) *graph.Node {
	back := make([]int, op.Perm.Len())
	for i, a := range op.Perm.List() {
		back[a] = i
	}
	return transposeTo(dy, back)
}

func (transpose) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (op transpose) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	order := []int{0}
	for _, a := range op.Perm.List() {
		order = append(order, a+1)
	}
	return transposeTo(in[0], order)
}

func (op transpose) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	from := make([]int, op.Perm.Len())
	return gatherEach(y, in[0], func(ix []int) int {
		for i, a := range op.Perm.List() {
			from[a] = ix[i]
		}
		return at(in[0].Type.Shape, from)
	})
}

func (op transpose) View(*graph.Node) kernel.View {
	var p [8]uint8
	for i, a := range op.Perm.List() {
		p[i] = uint8(a)
	}
	return kernel.Transpose{Perm: p}
}

// Notation is the operand's where all axes are named: subscripts have no order.
func (op transpose) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	for _, a := range y.Shape().Axes() {
		if a.Name == "" && a.Size > 1 {
			return in[0].Pow(expr.Sym("⊤"))
		}
	}
	return in[0]
}

func (transpose) Cases() []Case {
	return []Case{
		{[]Operand{{"float[i=3 d=4]", Reals}}, func(in []*graph.Node) *graph.Node { return Transpose(in[0]) }},
		{[]Operand{{"float[a=2 b=3 c=4]", Reals}}, func(in []*graph.Node) *graph.Node { return Transpose(in[0], "c", "a", "b") }},
	}
}
