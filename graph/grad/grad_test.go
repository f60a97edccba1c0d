package grad_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

type node = *graph.Node

// TestText: the nodes that a derivative adds, as the text form prints them,
// with their positions left out.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(g *graph.Graph)
		want  string
	}{
		{"square", func(g *graph.Graph) {
			x := g.Input("x", graph.F32)
			grad.Of(ops.Square(x).As("loss"), x)
		}, `
%2 = constant{f32[]: 1} : f32[] ; grad %1 %1 | "∂loss/∂loss" adjoint %1 %1
%3 = constant{f32[]: 2} : f32[] ; grad %1 %1
%4 = Mul %3 %0 : f32[] ; grad %1 %1
%5 = Mul %4 %2 : f32[] ; grad %1 %1 | "∂loss/∂x" adjoint %0 %1
gradient %1 wrt %0 = %5 from %2
`},
		{"two paths add up", func(g *graph.Graph) {
			x := g.Input("x", graph.F32)
			y := ops.Exp(x).As("y")
			grad.Of(ops.Mul(y, x).As("loss"), x)
		}, `
%3 = constant{f32[]: 1} : f32[] ; grad %2 %2 | "∂loss/∂loss" adjoint %2 %2
%4 = Mul %3 %0 : f32[] ; grad %2 %2 | "∂loss/∂y" adjoint %1 %2
%5 = Mul %3 %1 : f32[] ; grad %2 %2
%6 = Mul %4 %1 : f32[] ; grad %1 %2
%7 = Add %5 %6 : f32[] ; grad %0 %2 | "∂loss/∂x" adjoint %0 %2
gradient %2 wrt %0 = %7 from %3
`},
		{"only what lies between is differentiated", func(g *graph.Graph) {
			x, w := g.Input("x", graph.F32, graph.Ax("i", 3)), g.Param("w", graph.F32, graph.Ax("i", 3))
			grad.Of(ops.Sum(ops.Add(ops.Tanh(x), w)).As("loss"), w)
		}, `
%5 = constant{f32[]: 1} : f32[] ; grad %4 %4 | "∂loss/∂loss" adjoint %4 %4
%6 = Reshape{to=[i=1]} %5 : f32[i=1] ; grad %4 %4
%7 = Broadcast{to=[i=3]} %6 : f32[i=3] ; grad %4 %4 | adjoint %3 %4 | "∂loss/∂w" adjoint %1 %4
gradient %4 wrt %1 = %7 from %5
`},
		{"the loss itself", func(g *graph.Graph) {
			x := g.Input("x", graph.F32)
			y := ops.Exp(x)
			grad.Of(y, y)
		}, `
%2 = constant{f32[]: 1} : f32[] ; grad %1 %1 | adjoint %1 %1
gradient %1 wrt %1 = %2 from %2
`},
		{"an intermediate node", func(g *graph.Graph) {
			x := g.Input("x", graph.F32)
			y := ops.Exp(x).As("y")
			grad.Of(ops.Neg(y).As("loss"), y)
		}, `
%3 = constant{f32[]: 1} : f32[] ; grad %2 %2 | "∂loss/∂loss" adjoint %2 %2
%4 = Neg %3 : f32[] ; grad %2 %2 | "∂loss/∂y" adjoint %1 %2
gradient %2 wrt %1 = %4 from %3
`},
	} {
		g := graph.New("g")
		c.build(g)
		if err := g.Err(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := graph.Verify(g); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := added(g); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s: got\n%s\nwant%s", c.name, got, c.want)
		}
	}
}

// added is the text of backward nodes and derivations, without positions.
func added(g *graph.Graph) string {
	var b strings.Builder
	nodes := g.Nodes()
	for i, l := range strings.Split(g.String(), "\n")[1:] {
		if i < len(nodes) && !nodes[i].IsBackward() || l == "" {
			continue
		}
		var words []string
		for _, w := range strings.Split(l, " ") {
			if !strings.HasPrefix(w, "@") {
				words = append(words, w)
			}
		}
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	return b.String()
}

// scalar evaluates scalars at x.
func scalar(t *testing.T, x node, at float64, n node) float64 {
	t.Helper()
	if err := x.Graph().Err(); err != nil {
		t.Fatal(err)
	}
	v, err := ref.Eval(trait.Env{}, graph.Values{x: {Data: []float64{at}}}, n)
	if err != nil {
		t.Fatal(err)
	}
	return v[0].Data[0]
}

// TestHigherOrders: derivatives of derivatives of scalar functions.
func TestHigherOrders(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(x node) node
		at   float64
		want []float64 // first, second, third derivative
	}{
		{"sin", ops.Sin, 0.7, []float64{math.Cos(0.7), -math.Sin(0.7), -math.Cos(0.7)}},
		{"exp(2x)", func(x node) node { return ops.Exp(ops.Scale(x, 2)) }, 0.3, []float64{2 * math.Exp(0.6), 4 * math.Exp(0.6), 8 * math.Exp(0.6)}},
		{"x⁴", func(x node) node { return ops.Square(ops.Square(x)) }, 1.5, []float64{4 * 3.375, 12 * 2.25, 24 * 1.5}},
		{"x⁵ as a power", func(x node) node { return ops.Pow(x, ops.Lit(x, 5)) }, -1.5, []float64{5 * 5.0625, 20 * -3.375, 60 * 2.25}},
		{"1/x", func(x node) node { return ops.Div(ops.Lit(x, 1), x) }, 2, []float64{-0.25, 0.25, -0.375}},
		{"log", ops.Log, 2, []float64{0.5, -0.25, 0.25}},
		{"√", ops.Sqrt, 4, []float64{0.25, -1. / 32, 3. / 256}},
		{"linear", func(x node) node { return ops.Scale(x, 3) }, 2, []float64{3, 0, 0}},
	} {
		g := graph.New("g")
		x := g.Input("x", graph.F64)
		y := c.f(x)
		for order, want := range c.want {
			y = grad.OrZero(y, x)[0]
			if got := scalar(t, x, c.at, y); math.Abs(got-want) > 1e-12*math.Max(1, math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, want %v", c.name, order+1, got, want)
			}
		}
		if err := graph.Verify(g); err != nil {
			t.Error(err)
		}
	}
}

// TestKinks: the conventions where no derivative exists, as the documentation of
// package ops lists them.
func TestKinks(t *testing.T) {
	g := graph.New("g")
	v := func(x ...float64) node { return g.Constant(graph.F64, x, graph.Dims(len(x))...) }
	tie := v(1, 3, 3, 2, 3)
	for _, c := range []struct {
		name string
		f    func(x node) node
		at   node
		want []float64
	}{
		{"relu at 0", ops.ReLU, v(-1, 0, 1), []float64{0, 0, 1}},
		{"|x| at 0", ops.Abs, v(-2, 0, 2), []float64{-1, 0, 1}},
		{"max over an axis: the first", func(x node) node { return ops.Max(x, 0) }, tie, []float64{0, 1, 0, 0, 0}},
		{"min over an axis: the first", func(x node) node { return ops.Neg(ops.Min(ops.Neg(x), 0)) }, tie, []float64{0, 1, 0, 0, 0}},
		{"max over several axes: the first", func(x node) node { return ops.Max(ops.Reshape(ops.Concat(0, x, ops.Slice(x, 0, 1, 2)), 2, 3)) }, tie, []float64{0, 1, 0, 0, 0}},
		{"elementwise max: half", func(x node) node { return ops.Maximum(x, v(0, 0, 0)) }, v(-1, 0, 1), []float64{0, 0.5, 1}},
		{"elementwise min: half", func(x node) node { return ops.Minimum(x, v(0, 0, 0)) }, v(-1, 0, 1), []float64{1, 0.5, 0}},
		{"max of x with itself", func(x node) node { return ops.Maximum(x, x) }, v(-1, 2), []float64{1, 1}},
		{"x² as a power at 0", func(x node) node { return ops.Pow(x, v(2, 2)) }, v(0, -3), []float64{0, -6}},
		{"x¹ at 0", func(x node) node { return ops.Pow(x, v(1)) }, v(0), []float64{1}},
		{"x⁰ at 0", func(x node) node { return ops.Pow(x, v(0, 0)) }, v(0, 5), []float64{0, 0}},
		{"x⁰ at 0, the exponent a literal", func(x node) node { return ops.Pow(x, ops.Lit(x, 0)) }, v(0, 5), []float64{0, 0}},
		{"0ᵇ by b", func(x node) node { return ops.Pow(v(0, 0, 1), x) }, v(2, 0, 3), []float64{0, 0, 0}},
		{"what is not chosen gets nothing", func(x node) node {
			return ops.Select(ops.Greater(x, ops.Lit(x, 0)), ops.Square(x), ops.Neg(x))
		}, v(4, 0, -1), []float64{8, -1, -1}},
		{"a gathered row that repeats adds up", func(x node) node {
			return ops.Gather(x, g.Constant(graph.I64, []float64{1, 1, 0}, graph.Dims(3)...), 0)
		}, v(5, 6), []float64{1, 2}},
	} {
		x := g.Input(fmt.Sprint("x", g.Len()), graph.F64, c.at.Shape().Axes()...)
		value, _ := c.at.Constant()
		first := grad.Of(ops.Sum(c.f(x)), x)[0]
		if err := g.Err(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := ref.Eval(trait.Env{}, graph.Values{x: value}, first)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range c.want {
			if d := got[0].Data[i]; d != w {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, d, w)
			}
		}
	}
}

// TestPowTwice: the second derivatives of a power stay finite at 0.
func TestPowTwice(t *testing.T) {
	g := graph.New("g")
	a, b := g.Input("a", graph.F64), g.Input("b", graph.F64)
	y := ops.Pow(a, b)
	first := grad.Of(y, a, b)
	second := append(grad.Of(first[0], a), grad.Of(first[1], b)...)
	for _, c := range []struct{ a, b, daa, dbb float64 }{
		{0, 2, 2, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}, {2, 0, 0, math.Ln2 * math.Ln2}, {2, 3, 12, 8 * math.Ln2 * math.Ln2},
	} {
		v, err := ref.Eval(trait.Env{}, graph.Values{a: {Data: []float64{c.a}}, b: {Data: []float64{c.b}}}, second...)
		if err != nil {
			t.Fatal(err, g.Err())
		}
		if daa, dbb := v[0].Data[0], v[1].Data[0]; daa != c.daa || !(math.Abs(dbb-c.dbb) < 1e-12) {
			t.Errorf("%v^%v: second derivatives %v and %v, want %v and %v", c.a, c.b, daa, dbb, c.daa, c.dbb)
		}
	}
}

// crooked is an operation whose derivative has not the type of its operand.
type crooked struct{}

func (crooked) Name() string                               { return "Crooked" }
func (crooked) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (crooked) Grad(y, dy *graph.Node, _ int) *graph.Node  { return ops.Sum(dy) }

// foreign is an operation whose rules give nodes of another graph.
type foreign struct{ Forward bool }

func (foreign) Name() string                               { return "Foreign" }
func (foreign) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (f foreign) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return graph.New("other").Input("z", y.DType(), y.Shape().Axes()...)
}

// ahead is foreign with a rule for tangents.
type ahead struct{ foreign }

func (ahead) JVP(y *graph.Node, _ []*graph.Node) *graph.Node { return foreign{}.Grad(y, nil, 0) }

// TestWrongRule: a derivative of the wrong type or graph is one mistake, at the line of the
// operation, wherever the operation was defined, in reverse and in forward mode.
func TestWrongRule(t *testing.T) {
	back := func(x, y *graph.Node) *graph.Node { return grad.Of(ops.Sum(ops.Exp(y)), x)[0] }
	alone := func(x, y *graph.Node) *graph.Node { return grad.Of(ops.Sum(y), x)[0] }
	forward := func(x, y *graph.Node) *graph.Node {
		return grad.JVP([]*graph.Node{ops.Exp(y)}, []*graph.Node{x}, []*graph.Node{x})[0]
	}
	for _, c := range []struct {
		op     graph.Op
		derive func(x, y *graph.Node) *graph.Node
		want   string
	}{
		{crooked{}, back, "grad: the derivative of Crooked by operand 0 has type f32[], the operand f32[i=3]"},
		{crooked{}, forward, "grad: the derivative of Crooked by operand 0 has type f32[], the operand f32[i=3]"},
		{foreign{}, back, `grad: the derivative of Foreign by operand 0 belongs to graph "other"`},
		{foreign{}, alone, `grad: the derivative of Foreign by operand 0 belongs to graph "other"`},
		{foreign{}, forward, `grad: the derivative of Foreign by operand 0 belongs to graph "other"`},
		{ahead{}, forward, `JVP: the tangent of Foreign belongs to graph "other"`},
	} {
		g := graph.New("wrong rule")
		x := g.Param("x", graph.F32, graph.Ax("i", 3))
		y := graph.Apply(c.op, ops.Tanh(x))
		if d := c.derive(x, y); d.IsValid() || len(g.Derivations()) != 0 {
			t.Errorf("got %v and %v", d, g.Derivations())
		}
		want := y.First().Pos.String() + ": " + c.want + ": " + y.String()
		if err := g.Err(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
