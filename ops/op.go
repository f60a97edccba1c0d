package ops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Op is the interface of every operation of this package. Package trait lists the methods that an
// operation may have besides, and who calls them: its definition in float64, its kernel, and its
// properties.
type Op interface {
	graph.Op
	trait.Differentiable
	trait.Forward
	trait.Batched
	trait.Notated
	// Doc returns one line: what the operation computes.
	Doc() string
	// Cases returns small examples over the domain, for tests and reference pages.
	Cases() []Case
}

// Case is an example of an operation: its operands, and the call.
type Case struct {
	Operands []Operand
	Make     func(in []*graph.Node) *graph.Node
}

// Operand is an operand of a [Case]: its type, where "float[i=3 d=4]" stands for f32 and f64 in
// turn, and where its values may lie.
type Operand struct {
	Type   string
	Domain Domain
}

// Domain says where the values of an operand may lie: from Lo to Hi. Distinct values keep away from
// each other and from 0 by more than the step of a difference quotient, so that the derivative
// exists.
type Domain struct {
	Lo, Hi   float64
	Distinct bool
}

// Common domains: all signs; away from 0; distinct values of all signs; masks.
var (
	Reals    = Domain{Lo: -2, Hi: 2}
	Positive = Domain{Lo: 0.2, Hi: 3}
	Apart    = Domain{Lo: -2, Hi: 2, Distinct: true}
	Truth    = Domain{Lo: 0, Hi: 1}
)

// Index returns the domain of indices from 0 to n − 1.
func Index(n int) Domain { return Domain{Lo: 0, Hi: float64(n - 1)} }

// case1 gives the cases of a function of one array.
func case1(f func(*graph.Node) *graph.Node, d Domain) []Case {
	return []Case{
		{[]Operand{{"float[i=3 d=5]", d}}, func(in []*graph.Node) *graph.Node { return f(in[0]) }},
		{[]Operand{{"float[]", d}}, func(in []*graph.Node) *graph.Node { return f(in[0]) }},
	}
}

// two is a function of any number of arrays as one of two.
func two(f func(...*graph.Node) *graph.Node) func(a, b *graph.Node) *graph.Node {
	return func(a, b *graph.Node) *graph.Node { return f(a, b) }
}

// case2 gives the cases of a function of two arrays: equal shapes and broadcast ones.
func case2(f func(a, b *graph.Node) *graph.Node, a, b Domain) []Case {
	call := func(in []*graph.Node) *graph.Node { return f(in[0], in[1]) }
	return []Case{
		{[]Operand{{"float[i=3 d=4]", a}, {"float[i=3 d=4]", b}}, call},
		{[]Operand{{"float[i=3 d=4]", a}, {"float[d=4]", b}}, call},
		{[]Operand{{"float[i=3 d=1]", a}, {"float[1 4]", b}}, call},
		{[]Operand{{"float[]", a}, {"float[2]", b}}, call},
	}
}

// Elementwise adds an operation that is defined element by element, such as one from outside this
// package, after broadcasting the operands to one shape. Shapes that do not meet are a mistake.
func Elementwise(op graph.Op, in ...*graph.Node) *graph.Node { return elementwise(op, in...) }

// elementwise applies op after broadcasting the operands to the shape they share.
func elementwise(op graph.Op, in ...*graph.Node) *graph.Node {
	g, in := graph.Join(in...)
	shapes := make([]graph.Shape, len(in))
	for i, x := range in {
		if x == nil || x.Graph() != g || !x.IsValid() {
			return g.Apply(op, in...) // records the mistake, or stays silent
		}
		shapes[i] = x.Shape()
	}
	s, err := graph.Align(shapes...)
	if err != nil {
		if same := primesApart(in); same != nil {
			return elementwise(op, same...)
		}
		return g.Fail(op.Name(), err, in...)
	}
	args, repeated := make([]*graph.Node, len(in)), false
	for i, x := range in {
		args[i] = x
		if !x.Shape().SameSizes(s) {
			args[i], repeated = BroadcastTo(x, s), true
		}
	}
	if repeated { // a mistake names the operands that were given, not their repetitions
		if _, err := op.Infer(args); err != nil {
			return g.Fail(op.Name(), err, in...)
		}
	}
	return g.Apply(op, args...)
}

// primesApart returns operands whose axes differ in primes alone, as those of a matrix K[n n′] and of its
// transpose do, with the names of the first of the highest rank; nil if they differ otherwise.
func primesApart(in []*graph.Node) []*graph.Node {
	like := slices.MaxFunc(in, func(a, b *graph.Node) int { return cmp.Compare(a.Rank(), b.Rank()) }).Shape()
	out, renamed := slices.Clone(in), false
	for i, x := range in {
		axes := x.Shape().Axes()
		if len(axes) != like.Rank() {
			continue
		}
		for k, a := range axes {
			want := like.Axis(k).Name
			if a.Name == "" || want == "" || a.Name == want {
				continue
			}
			if unprimed(a.Name) != unprimed(want) {
				return nil
			}
			axes[k].Name, renamed = want, true
		}
		to, err := graph.NewShape(axes...)
		if err != nil {
			return nil
		}
		out[i] = ReshapeTo(x, to)
	}
	if !renamed {
		return nil
	}
	return out
}

// meet says why operands that must have one element type cannot meet element by element, in the
// order in which they are given: for operations made of others that take them in another order.
// Of operands that are themselves mistakes it says nothing.
func meet(in ...*graph.Node) error {
	_, in = graph.Join(in...)
	shapes := make([]graph.Shape, len(in))
	for i, x := range in {
		if !x.IsValid() || x.Graph() != in[0].Graph() {
			return nil
		}
		shapes[i] = x.Shape()
	}
	if _, err := graph.Align(shapes...); err != nil && primesApart(in) == nil {
		return err
	}
	for _, x := range in[1:] {
		if x.DType() != in[0].DType() {
			return dtypesDiffer(in[0], x)
		}
	}
	return nil
}

// sameShape gives the shape that elementwise operands have in common.
func sameShape(in []*graph.Node) (graph.Shape, error) {
	shapes := make([]graph.Shape, len(in))
	for i, x := range in {
		shapes[i] = x.Shape()
		if !shapes[i].SameSizes(shapes[0]) {
			return graph.Shape{}, fmt.Errorf("sizes differ: %v and %v", shapes[0], shapes[i])
		}
	}
	return graph.Align(shapes...)
}

func arity(in []*graph.Node, n int) error {
	if len(in) != n {
		return fmt.Errorf("%d operands: want %d", len(in), n)
	}
	return nil
}

// anyFloat are the types of floats, as a mistake names what is wanted.
const anyFloat = "f32, f64, f16 or bf16"

func wantFloat(in ...*graph.Node) error {
	for _, x := range in {
		if !x.DType().IsFloat() {
			return &graph.Mistake{Problem: fmt.Sprintf("an operand of type %v: want %s", x.DType(), anyFloat), Fix: "convert with ops.Cast"}
		}
		if x.DType() != in[0].DType() {
			return dtypesDiffer(in[0], x)
		}
	}
	return nil
}

func wantNumber(in ...*graph.Node) error {
	for _, x := range in {
		if x.DType() == graph.Bool {
			return &graph.Mistake{Problem: "an operand of type bool: want numbers", Fix: "convert with ops.Cast"}
		}
		if x.DType() != in[0].DType() {
			return dtypesDiffer(in[0], x)
		}
	}
	return nil
}

func dtypesDiffer(a, b *graph.Node) error {
	return &graph.Mistake{Problem: fmt.Sprintf("element types differ: %v and %v", a.DType(), b.DType()), Fix: "convert one with ops.Cast"}
}

// floats1 and floats2 are embedded by elementwise operations on floats of one type.
type floats1 struct {
	diagonal
	pointwise
}

func (floats1) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 1, wantFloat) }

type floats2 struct {
	diagonal
	pointwise
}

func (floats2) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 2, wantFloat) }

// numbers1 and numbers2 are embedded by elementwise operations that integers have too.
type numbers1 struct {
	diagonal
	pointwise
}

func (numbers1) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 1, wantNumber) }

type numbers2 struct {
	diagonal
	pointwise
}

func (numbers2) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 2, wantNumber) }

func inferEach(in []*graph.Node, n int, want func(...*graph.Node) error) (graph.Type, error) {
	if err := arity(in, n); err != nil {
		return graph.Type{}, err
	}
	if err := want(in...); err != nil {
		return graph.Type{}, err
	}
	s, err := sameShape(in)
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// calling makes mistakes name the function that the user called, instead of those that it is made
// of; see graph.Graph.Calling.
func calling(what string, operands ...*graph.Node) (end func()) {
	return graph.Of(operands...).Calling(what, operands...)
}

// Lit returns the number v as a scalar constant of x's element type, for use together with x. A
// number that the type does not hold is a mistake: integers do not hold 0.5, and f32 does not hold
// 1e39, though it holds infinities.
func Lit(x *graph.Node, v float64) *graph.Node {
	defer calling("Lit", x)()
	if x == nil || !x.IsValid() {
		return graph.Of(x).Fail("Lit", fmt.Errorf("operand is nil"), x)
	}
	return x.Graph().Constant(x.DType(), []float64{v})
}

// Scale returns c·x, element by element, for numbers x. The number c must be a value of x's type;
// see [Lit].
func Scale(x *graph.Node, c float64) *graph.Node {
	defer calling("Scale", x)()
	return Mul(Lit(x, c), x)
}

// Shift returns x + c, element by element, for numbers x. The number c must be a value of x's type;
// see [Lit].
func Shift(x *graph.Node, c float64) *graph.Node {
	defer calling("Shift", x)()
	return Add(x, Lit(x, c))
}

// OneMinus returns 1 − x, element by element, for numbers x.
func OneMinus(x *graph.Node) *graph.Node {
	defer calling("OneMinus", x)()
	return Sub(Lit(x, 1), x)
}
