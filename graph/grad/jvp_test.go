package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// values fills an array with numbers that differ.
func values(n node, seed uint64) graph.Value {
	r := rand.New(rand.NewPCG(seed, 1))
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = r.Float64()*2 - 1
	}
	return v
}

// both evaluates the nodes by the reference and sees that the tape agrees.
func both(t *testing.T, feed graph.Values, nodes ...node) []graph.Value {
	t.Helper()
	if err := graph.Of(nodes...).Err(); err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(trait.Env{Seed: 5}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := reftest.Tape(5, feed, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		if err := reftest.Near(got[i].Data, want[i].Data, 100*reftest.Tolerance(n.DType())*max(1, reftest.Largest(want[i].Data))); err != nil {
			t.Errorf("%v: %v", n, err)
		}
	}
	return want
}

// model is a loss of some parameters, with values for all leaves.
type model struct {
	loss   node
	params []node
	feed   graph.Values
}

// models are losses with second derivatives that are not zero.
func models() map[string]model {
	f64 := graph.F64
	out := map[string]model{}
	add := func(name string, g *graph.Graph, loss node) {
		m := model{loss.As("loss"), g.Leaves(graph.RoleParam), graph.Values{}}
		for i, n := range g.Leaves(graph.RoleParam, graph.RoleInput) {
			m.feed[n] = values(n, uint64(i))
		}
		out[name] = m
	}

	g := graph.New("mlp")
	x := g.Input("x", f64, graph.Ax("i", 5), graph.Ax("f", 4))
	w1, b1 := g.Param("w1", f64, graph.Ax("f", 4), graph.Ax("h", 3)), g.Param("b1", f64, graph.Ax("h", 3))
	w2 := g.Param("w2", f64, graph.Ax("h", 3), graph.Ax("c", 3))
	h := ops.Tanh(ops.Add(ops.MatMul(x, w1), b1)).As("h")
	p := ops.LogSoftmax(ops.MatMul(h, w2), "c")
	add("mlp", g, ops.Neg(ops.Mean(ops.Mul(p, g.Input("y", f64, graph.Ax("i", 5), graph.Ax("c", 3))))))

	g = graph.New("attention")
	x = g.Input("x", f64, graph.Ax("t", 4), graph.Ax("d", 3))
	q := ops.MatMul(x, g.Param("wq", f64, graph.Ax("d", 3), graph.Ax("e", 2)))
	k := ops.Rename(ops.MatMul(x, g.Param("wk", f64, graph.Ax("d", 3), graph.Ax("e", 2))), "t", "s")
	α := ops.Softmax(ops.MatMul(q, ops.Transpose(k)), "s").As("α")
	y := ops.Standardise(ops.MatMul(α, ops.Rename(x, "t", "s")), 0.1, "d")
	add("attention", g, ops.Sum(ops.Square(ops.Sub(y, x))))

	g = graph.New("convolution")
	x = g.Input("x", f64, graph.Ax("h", 6), graph.Ax("w", 6), graph.Ax("c", 2))
	y = ops.Sigmoid(ops.Conv2D(x, g.Param("w", f64, graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Ax("c", 2), graph.Ax("o", 3)), ops.Padding(1)))
	add("convolution", g, ops.LogSumExp(ops.MaxPool2D(y, ops.Size(2))))

	g = graph.New("soft k-means")
	x, r := g.Input("x", f64, graph.Ax("i", 7), graph.Ax("d", 2)), g.Param("r", f64, graph.Ax("j", 3), graph.Ax("d", 2))
	D := ops.SqDist(x, r)
	add("soft k-means", g, ops.Mean(ops.Sum(ops.Mul(ops.Softmax(ops.Neg(D), "j"), D), "j")))
	return out
}

// moved is the feed with the parameters moved by h·v.
func (m model) moved(h float64, v map[node]graph.Value) graph.Values {
	out := graph.Values{}
	for n, x := range m.feed {
		out[n] = graph.Value{Type: x.Type, Data: append([]float64(nil), x.Data...)}
		for i := range v[n].Data {
			out[n].Data[i] += h * v[n].Data[i]
		}
	}
	return out
}

// directions adds a direction for each parameter.
func (m model) directions(seed uint64) (nodes []node, v map[node]graph.Value) {
	v = map[node]graph.Value{}
	for i, w := range m.params {
		v[w] = values(w, seed+uint64(i))
		nodes = append(nodes, w.Graph().Constant(w.DType(), v[w].Data, w.Shape().Axes()...))
	}
	return nodes, v
}

// quotient is the fourth-order difference quotient of arrays.
func (m model) quotient(t *testing.T, v map[node]graph.Value, nodes []node) [][]float64 {
	t.Helper()
	const h = 1e-3
	out := make([][]float64, len(nodes))
	for i, n := range nodes {
		out[i] = make([]float64, n.Shape().Len())
	}
	for _, c := range []struct{ at, factor float64 }{{h, 8}, {-h, -8}, {2 * h, -1}, {-2 * h, 1}} {
		values, err := ref.Eval(trait.Env{Seed: 5}, m.moved(c.at, v), nodes...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			for p, x := range values[i].Data {
				out[i][p] += c.factor * x / (12 * h)
			}
		}
	}
	return out
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if err := reftest.Near(got, want, tol*max(1, reftest.Largest(want))); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestJVPOfModels: forward mode is the difference quotient, of the loss and of what is
// on the way, and ⟨∇loss, v⟩.
func TestJVPOfModels(t *testing.T) {
	for name, m := range models() {
		v, values := m.directions(20)
		between := m.loss.Graph().Nodes()[m.loss.ID()-2]
		d := grad.JVP([]node{m.loss, between}, m.params, v)
		along := m.loss.Graph().Constant(graph.F64, []float64{0})
		for i, dw := range grad.Of(m.loss, m.params...) {
			along = ops.Add(along, ops.Sum(ops.Mul(dw, v[i])))
		}
		got := both(t, m.feed, append(d, along)...)
		for i, want := range m.quotient(t, values, []node{m.loss, between}) {
			near(t, name, got[i].Data, want, 1e-7)
		}
		near(t, name, got[0].Data, got[2].Data, 1e-12)
		if err := graph.Verify(m.loss.Graph()); err != nil {
			t.Error(err)
		}
	}
}

// TestHVP: the product of the Hessian with a direction is the gradient's difference
// quotient, and symmetric: ⟨u, Hv⟩ = ⟨v, Hu⟩.
func TestHVP(t *testing.T) {
	for name, m := range models() {
		v, values := m.directions(20)
		u, _ := m.directions(40)
		hv, hu := grad.HVP(m.loss, m.params, v), grad.HVP(m.loss, m.params, u)
		want := m.quotient(t, values, grad.Of(m.loss, m.params...))
		got := both(t, m.feed, append(hv, hu...)...)
		uhv, vhu := 0.0, 0.0
		for i := range m.params {
			near(t, fmt.Sprint(name, " ", m.params[i]), got[i].Data, want[i], 1e-7)
			cu, _ := u[i].Constant()
			cv, _ := v[i].Constant()
			for p := range cu.Data {
				uhv += cu.Data[p] * got[i].Data[p]
				vhu += cv.Data[p] * got[len(u)+i].Data[p]
			}
		}
		if !(math.Abs(uhv-vhu) <= 1e-12*(1+math.Abs(uhv))) || math.Abs(uhv) < 1e-4 {
			t.Errorf("%s: ⟨u, Hv⟩ = %v, ⟨v, Hu⟩ = %v", name, uhv, vhu)
		}
	}
}

// TestHVPOfLinear: where the derivative does not move, the product is zero.
func TestHVPOfLinear(t *testing.T) {
	g := graph.New("linear")
	w := g.Param("w", graph.F64, graph.Ax("i", 3))
	h := grad.HVP(ops.Sum(w), []node{w}, []node{ops.Exp(w)})
	near(t, "linear", both(t, graph.Values{w: values(w, 1)}, h...)[0].Data, []float64{0, 0, 0}, 0)
}

// TestTangentNodes: a tangent knows its forward node, named ones have a name, and
// nodes that do not move have none.
func TestTangentNodes(t *testing.T) {
	g := graph.New("nodes")
	x, y := g.Input("x", graph.F64, graph.Ax("i", 3)), g.Input("y", graph.F64, graph.Ax("i", 3))
	a := ops.Tanh(x).As("a")
	z := ops.Mul(a, ops.Exp(y).As("e")).As("z")
	first := g.Len()
	v := g.Constant(graph.F64, []float64{1, 2, 3}, graph.Ax("i", 3))
	d := grad.JVP([]node{z, y}, []node{x}, []node{v})
	if d[0].Name() != "δz" || d[0].First().Origin != (graph.Origin{Kind: graph.FromTangent, Of: z, Loss: z}) || d[0].IsBackward() || g.Lookup("δa") == nil || g.Lookup("δe") != nil {
		t.Errorf("got %v\n%v", d[0], g)
	}
	for _, n := range g.Nodes()[first+1:] {
		if match.Is(n, match.Exp) {
			t.Errorf("%v is made for a node that stands still", n)
		}
	}
	if v, ok := match.Literal(d[1]); !ok || v != 0 || d[1].Type() != y.Type() {
		t.Errorf("the tangent of what stands still is %v", d[1])
	}
}

// TestJVPFromBetween: what moves may lie between, and is moved by its direction
// alone.
func TestJVPFromBetween(t *testing.T) {
	g := graph.New("between")
	x := g.Input("x", graph.F64)
	h := ops.Exp(ops.Sin(x)).As("h")
	y := ops.Mul(h, x)
	one := ops.Lit(x, 1)
	d := grad.JVP([]node{y, h, x}, []node{h, x}, []node{ops.Scale(one, 10), one})
	got := both(t, graph.Values{x: {Data: []float64{2}}}, d...)
	for _, n := range g.Nodes() {
		if match.Is(n, match.Cos) {
			t.Errorf("%v is made for what h depends on", n)
		}
	}
	near(t, "d(h·x)", got[0].Data, []float64{10*2 + math.Exp(math.Sin(2))}, 1e-12)
	near(t, "dh", got[1].Data, []float64{10}, 0)
	near(t, "dx", got[2].Data, []float64{1}, 0)
}

// wave is an operation from elsewhere that says how it is differentiated, but not
// forward: sin(a)·b, with operands of two types.
type wave struct{}

func (wave) Name() string { return "Wave" }
func (wave) Infer(in []node) (graph.Type, error) {
	return graph.Type{DType: graph.F64, Shape: in[0].Shape()}, nil
}
func (wave) Grad(y, dy node, i int) node {
	a, b := y.In(0), ops.Cast(y.In(1), graph.F64)
	if i == 0 {
		return ops.Mul(dy, ops.Mul(ops.Cos(a), b))
	}
	return ops.Cast(ops.Sum(ops.Mul(dy, ops.Sin(a))), graph.F32)
}
func (wave) Eval(_ trait.Env, y node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	for i := range out.Data {
		out.Data[i] = math.Sin(in[0].Data[i]) * in[1].Data[0]
	}
	return out
}

// TestJVPWithoutRule: the transpose of the transpose serves operations from elsewhere,
// whichever operands move.
func TestJVPWithoutRule(t *testing.T) {
	g := graph.New("elsewhere")
	a, b := g.Input("a", graph.F64, graph.Ax("i", 4)), g.Input("b", graph.F32)
	y := ops.Exp(graph.Apply(wave{}, a, b))
	m := model{feed: graph.Values{a: values(a, 1), b: {Type: b.Type(), Data: []float64{0.75}}}}
	va, vb := values(a, 2), graph.Value{Type: b.Type(), Data: []float64{0.5}}
	na, nb := g.Constant(graph.F64, va.Data, graph.Ax("i", 4)), g.Constant(graph.F32, vb.Data)
	for _, c := range []struct {
		x, v []node
		at   map[node]graph.Value
	}{
		{[]node{a, b}, []node{na, nb}, map[node]graph.Value{a: va, b: vb}},
		{[]node{a}, []node{na}, map[node]graph.Value{a: va}},
		{[]node{b}, []node{nb}, map[node]graph.Value{b: vb}},
	} {
		d := grad.JVP([]node{y}, c.x, c.v)[0]
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		got, err := ref.Eval(trait.Env{}, m.feed, d)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "wave", got[0].Data, m.quotient(t, c.at, []node{y})[0], 1e-7)
	}
}

// mute says nothing of its derivative, and wry something wrong.
type (
	mute struct{}
	wry  struct{ mute }
)

func (mute) Name() string                        { return "Mute" }
func (mute) Infer(in []node) (graph.Type, error) { return in[0].Type(), nil }
func (wry) Name() string                         { return "Wry" }
func (wry) JVP(_ node, dx []node) node           { return ops.Sum(dx[0]) }

func TestForwardMistakes(t *testing.T) {
	for want, call := range map[string]func(g *graph.Graph, x, k node) node{
		"want nodes, got nil": func(g *graph.Graph, x, k node) node { return grad.JVP([]node{x}, []node{x}, []node{nil})[0] },
		"Mute has no rule for tangents": func(g *graph.Graph, x, k node) node {
			return grad.JVP([]node{ops.Exp(graph.Apply(mute{}, x))}, []node{x}, []node{x})[0]
		},
		"the tangent of Wry has type f32[], its result f32[i=3]": func(g *graph.Graph, x, k node) node {
			return grad.JVP([]node{graph.Apply(wry{}, x)}, []node{x}, []node{x})[0]
		},
		"1 nodes and 0 directions": func(g *graph.Graph, x, k node) node { return grad.JVP([]node{x}, []node{x}, nil)[0] },
		"x is given two directions": func(g *graph.Graph, x, k node) node {
			return grad.JVP([]node{x}, []node{x, x}, []node{x, x})[0]
		},
		"a node of type i64[i=3] has no derivative": func(g *graph.Graph, x, k node) node { return grad.JVP([]node{k}, []node{x}, []node{x})[0] },
		"a direction of type f32[] for x of type f32[i=3]": func(g *graph.Graph, x, k node) node {
			return grad.JVP([]node{x}, []node{x}, []node{ops.Sum(x)})[0]
		},
		"the nodes belong to different graphs": func(g *graph.Graph, x, k node) node {
			return grad.JVP([]node{x}, []node{x}, []node{graph.New("other").Input("y", graph.F32, graph.Ax("i", 3))})[0]
		},
		"want a loss and a node, got nil": func(g *graph.Graph, x, k node) node { return grad.HVP(ops.Sum(x), []node{nil}, []node{x})[0] },
		"want two nodes, got nil":         func(g *graph.Graph, x, k node) node { return grad.Jacobian(x, nil) },
		"types f32[i=3] and i64[i=3]":     func(g *graph.Graph, x, k node) node { return grad.Jacobian(x, k) },
		"the nodes belong to different":   func(g *graph.Graph, x, k node) node { return grad.Jacobian(x, graph.New("other").Scalar("y", 1)) },
		"want a float scalar":             func(g *graph.Graph, x, k node) node { return grad.Hessian(x, x) },
		"9 axes: at most 8 are allowed":   func(g *graph.Graph, x, k node) node { return grad.Jacobian(deep(x, 5), deep(ops.Exp(x), 4)) },
		"a node with 8 axes: want fewer":  func(g *graph.Graph, x, k node) node { return grad.Jacobian(ops.Sum(x), deep(x, 8)) },
		"the loss does not depend on %":   func(g *graph.Graph, x, k node) node { return grad.Hessian(ops.Sum(x), ops.Exp(x)) },
	} {
		g := graph.New("mistakes")
		y := call(g, g.Input("x", graph.F32, graph.Ax("i", 3)), g.Input("k", graph.I64, graph.Ax("i", 3)))
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "jvp_test.go:") || y.IsValid() {
			t.Errorf("got %v and %v, want %s", y, err, want)
		}
	}
}

// deep is x over so many axes.
func deep(x node, rank int) node {
	sizes := make([]int, rank)
	for i := range sizes {
		sizes[i] = 1
	}
	sizes[0] = -1
	return ops.Reshape(x, sizes...)
}
