package vmap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

type node = *graph.Node

// values fills an array with numbers that differ.
func values(n node, seed uint64) graph.Value {
	r := rand.New(rand.NewPCG(seed, 1))
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = n.DType().Round(r.Float64()*2 - 1)
	}
	return v
}

// example is one of the examples that lie along a batch's first axis.
func example(v graph.Value, x node, e int) graph.Value {
	n := x.Shape().Len()
	return graph.Value{Type: x.Type(), Data: v.Data[e*n : (e+1)*n]}
}

// both evaluates the nodes by the reference and sees that the tape agrees.
func both(t *testing.T, feed graph.Values, nodes ...node) []graph.Value {
	t.Helper()
	want, err := ref.Eval(trait.Env{Seed: 5}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := reftest.Tape(5, feed, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		if err := reftest.Near(got[i].Data, want[i].Data, 10*reftest.Tolerance(n.DType())*max(1, reftest.Largest(want[i].Data))); err != nil {
			t.Errorf("%v: %v", n, err)
		}
	}
	return want
}

// near is reftest.Near to rounding in float64.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if err := reftest.Near(got, want, 1e-12*max(1, reftest.Largest(want))); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// mlp is a small net on one example, x[f], with the loss against a class.
type mlp struct {
	g       *graph.Graph
	x, k    node
	weights []node
	loss    node
	feed    graph.Values
}

func newMLP() mlp {
	g := graph.New("mlp")
	m := mlp{g: g, x: g.Input("x", graph.F64, graph.Ax("f", 4)), k: g.Input("k", graph.I64), feed: graph.Values{}}
	w1, b1 := g.Param("w1", graph.F64, graph.Ax("f", 4), graph.Ax("h", 5)), g.Param("b1", graph.F64, graph.Ax("h", 5))
	w2, b2 := g.Param("w2", graph.F64, graph.Ax("h", 5), graph.Ax("c", 3)), g.Param("b2", graph.F64, graph.Ax("c", 3))
	m.weights = []node{w1, b1, w2, b2}
	h := ops.Tanh(ops.Add(ops.MatMul(ops.Expand(m.x, 0, ""), w1), b1)).As("h")
	logits := ops.Add(ops.MatMul(h, w2), b2)
	hot := ops.OneHot(m.k, -1, graph.Ax("c", 3), graph.F64)
	m.loss = ops.Neg(ops.Sum(ops.Mul(ops.LogSoftmax(logits, "c"), hot))).As("loss")
	for i, w := range m.weights {
		m.feed[w] = values(w, uint64(i))
	}
	return m
}

// batch adds inputs for n examples.
func (m mlp) batch(n int) (xs, ks node, feed graph.Values) {
	xs = m.g.Input("xs", graph.F64, graph.Ax("n", n), graph.Ax("f", 4))
	ks = m.g.Input("ks", graph.I64, graph.Ax("n", n))
	feed = graph.Values{xs: values(xs, 9), ks: graph.NewValue(ks.Type())}
	for i := range n {
		feed[ks].Data[i] = float64(i % 3)
	}
	for w, v := range m.feed {
		feed[w] = v
	}
	return xs, ks, feed
}

// TestPerExampleGradients: the gradient of one example's loss, mapped, is every
// example's gradient, as a loop gives them; each is made by as many nodes as one.
func TestPerExampleGradients(t *testing.T) {
	const n = 6
	m := newMLP()
	grads := grad.Of(m.loss, m.weights...)
	xs, ks, feed := m.batch(n)
	before := m.g.Len()
	each := vmap.Map(grads, vmap.Over{X: m.x, Batch: xs}, vmap.Over{X: m.k, Batch: ks})
	if err := m.g.Err(); err != nil {
		t.Fatal(err)
	}
	if added := m.g.Len() - before; added > 3*before {
		t.Errorf("%d nodes became %d more", before, added)
	}
	if err := graph.Verify(m.g); err != nil {
		t.Error(err)
	}
	got := both(t, feed, each...)
	for e := range n {
		one := graph.Values{m.x: example(feed[xs], m.x, e), m.k: example(feed[ks], m.k, e)}
		for w, v := range m.feed {
			one[w] = v
		}
		for i, v := range both(t, one, grads...) {
			near(t, fmt.Sprintf("example %d by %v", e, m.weights[i]), example(got[i], m.weights[i], e).Data, v.Data)
		}
	}
	for i, d := range each {
		if d.Shape().Axis(0) != graph.Ax("n", n) || !d.IsBackward() {
			t.Errorf("%v by %v: backward %v", d.Type(), m.weights[i], d.IsBackward())
		}
		if of, _ := d.AdjointOf(); of != nil {
			t.Errorf("%v claims to be the derivative by %v, which has another type", d, of)
		}
	}
}

// TestGradientOfMapped: the gradient of the mean of mapped losses is the mean of the
// gradients, and no gradient per example is made on the way.
func TestGradientOfMapped(t *testing.T) {
	const n = 6
	m := newMLP()
	xs, ks, feed := m.batch(n)
	over := []vmap.Over{{X: m.x, Batch: xs}, {X: m.k, Batch: ks}}
	losses := vmap.Map([]node{m.loss}, over...)[0]
	if losses.Name() != "loss" || losses.Type() != (graph.Type{DType: graph.F64, Shape: shape(t, graph.Ax("n", n))}) {
		t.Errorf("got %v of type %v", losses, losses.Type())
	}
	before := m.g.Len()
	whole := grad.Of(ops.Mean(losses), m.weights...)
	for _, x := range m.g.Nodes()[before:] {
		if x.Shape().Len() > 4*5*3 && match.Is(x, match.MatMul) {
			t.Errorf("%v is a product for each example", x.Type())
		}
	}
	each := vmap.Map(grad.Of(m.loss, m.weights...), over...)
	for i, d := range each {
		each[i] = ops.Mean(d, 0)
	}
	if err := m.g.Err(); err != nil {
		t.Fatal(err)
	}
	got := both(t, feed, append(whole, each...)...)
	for i := range whole {
		near(t, m.weights[i].Label(), got[i].Data, got[len(whole)+i].Data)
	}
}

func shape(t *testing.T, axes ...graph.Axis) graph.Shape {
	t.Helper()
	s, err := graph.NewShape(axes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNested: mapped over one axis and then another is a loop in a loop.
func TestNested(t *testing.T) {
	g := graph.New("nested")
	x, w := g.Input("x", graph.F64, graph.Ax("i", 3)), g.Input("w", graph.F64, graph.Ax("i", 3), graph.Ax("j", 2))
	y := ops.Softmax(ops.MatMul(ops.Expand(x, 0, ""), w), "j")
	xs := g.Input("xs", graph.F64, graph.Ax("a", 4), graph.Ax("i", 3))
	ws := g.Input("ws", graph.F64, graph.Ax("b", 5), graph.Ax("i", 3), graph.Ax("j", 2))
	inner := vmap.Map([]node{y}, vmap.Over{X: x, Batch: xs})
	outer := vmap.Map(inner, vmap.Over{X: w, Batch: ws})[0]
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if want := "[b=5 a=4 1 j=2]"; outer.Shape().String() != want {
		t.Fatalf("got %v, want %v", outer.Shape(), want)
	}
	feed := graph.Values{xs: values(xs, 1), ws: values(ws, 2)}
	got := both(t, feed, outer)[0].Data
	for b := range 5 {
		for a := range 4 {
			one := both(t, graph.Values{x: example(feed[xs], x, a), w: example(feed[ws], w, b)}, y)[0].Data
			near(t, fmt.Sprint(b, a), got[(b*4+a)*2:][:2], one)
		}
	}
}

// TestEach builds one example's graph on the spot.
func TestEach(t *testing.T) {
	g := graph.New("each")
	xs := g.Input("xs", graph.F64, graph.Ax("n", 3), graph.Ax("d", 2))
	ks := g.Input("ks", graph.I64, graph.Ax("n", 3))
	out := vmap.Each(func(in []node) []node {
		return []node{ops.Sum(ops.Square(in[0])), ops.Gather(in[0], in[1], "d"), ops.Sum(xs)}
	}, xs, ks)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	got := both(t, graph.Values{xs: {Data: []float64{1, 2, 3, 4, 5, 6}}, ks: {Data: []float64{1, 0, 1}}}, out...)
	for i, want := range [][]float64{{5, 25, 61}, {2, 3, 6}, {21, 21, 21}} {
		near(t, fmt.Sprint("result ", i), got[i].Data, want)
	}
}

// TestWhatIsTheSameStaysOne: nodes that do not depend on the batch are not copied,
// and neither is what only the replaced node depended on.
func TestWhatIsTheSameStaysOne(t *testing.T) {
	g := graph.New("same")
	x, w := g.Input("x", graph.F32), g.Param("w", graph.F32, graph.Ax("i", 3))
	h := ops.Add(ops.Exp(x), ops.RandomNormal(g, "ε", graph.F32))
	common := ops.Softmax(w, "i")
	y := ops.Mul(ops.Square(h), common)
	hs := g.Input("hs", graph.F32, graph.Ax("n", 4))
	before := g.Len()
	out := vmap.Map([]node{y, common, h}, vmap.Over{X: h, Batch: hs})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range g.Nodes()[before:] {
		names = append(names, n.Op().Name())
	}
	if want := []string{"Square", "Reshape", "Broadcast", "Broadcast", "Mul", "Broadcast"}; len(names) > len(want) || slices.Contains(names, "Softmax") ||
		slices.Contains(names, "Exp") || slices.Contains(names, "Random") {
		t.Errorf("added %v", names)
	}
	if out[2] != hs || out[1].Shape().String() != "[n=4 i=3]" {
		t.Errorf("got %v and %v", out[2], out[1].Shape())
	}
}

// odd is an operation from elsewhere without a rule; crooked and foreign have wrong ones.
type (
	odd     struct{}
	crooked struct{ odd }
	foreign struct{ odd }
)

func (odd) Name() string                                             { return "Odd" }
func (odd) Infer(in []node) (graph.Type, error)                      { return in[0].Type(), nil }
func (crooked) Name() string                                         { return "Crooked" }
func (crooked) Batch(_ node, in []node, _ []bool, _ graph.Axis) node { return ops.Sum(in[0]) }
func (foreign) Name() string                                         { return "Foreign" }
func (foreign) Batch(_ node, _ []node, _ []bool, b graph.Axis) node {
	return graph.New("other").Input("z", graph.F32, b, graph.Ax("i", 3))
}

// TestMistakes: what does not fit is told, at the user's line or the node's.
func TestMistakes(t *testing.T) {
	axis := graph.Ax("n", 4)
	for want, call := range map[string]func(g *graph.Graph, x, xs node) node{
		`Odd has no rule for batches`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{graph.Apply(odd{}, x)}, vmap.Over{X: x, Batch: xs})[0]
		},
		`the rule of Crooked for batches returns type f32[], not f32[n=4 i=3]`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{graph.Apply(crooked{}, x)}, vmap.Over{X: x, Batch: xs})[0]
		},
		`the rule of Foreign for batches returns a node of graph "other"`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{graph.Apply(foreign{}, x)}, vmap.Over{X: x, Batch: xs})[0]
		},
		`has an axis called "n", as the batch has`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{ops.Add(x, g.Input("other", graph.F32, axis, graph.Ax("i", 3)))}, vmap.Over{X: x, Batch: xs})[0]
		},
		`has 8 axes: there is no room for the batch's`: func(g *graph.Graph, x, xs node) node {
			s := shape(t, append(graph.Dims(1, 1, 1, 1, 1, 1, 1), graph.Ax("i", 3))...)
			return vmap.Map([]node{ops.BroadcastTo(x, s)}, vmap.Over{X: x, Batch: xs})[0]
		},
		`want f32[n=4 i=3]`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{x}, vmap.Over{X: x, Batch: ops.Slice(xs, "i", 0, 2)})[0]
		},
		`want an axis more`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{x}, vmap.Over{X: ops.Sum(x), Batch: ops.Sum(x)})[0]
		},
		`two batches for x`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{x}, vmap.Over{X: x, Batch: xs}, vmap.Over{X: x, Batch: xs})[0]
		},
		`vmap: a batch without an axis for the examples: x′[]`: func(g *graph.Graph, x, xs node) node {
			return vmap.Each(func(in []node) []node { return []node{ops.Add(in[0], in[1])} }, xs, ops.Sum(x).As("x′"))[0]
		},
		`want a node to map over`: func(g *graph.Graph, x, xs node) node { return vmap.Map([]node{x})[0] },
		`want a node and its batch, got nil`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{x}, vmap.Over{X: x})[0]
		},
		`want a node to map, got nil`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{nil}, vmap.Over{X: x, Batch: xs})[0]
		},
		`the nodes belong to different graphs`: func(g *graph.Graph, x, xs node) node {
			return vmap.Map([]node{graph.New("other").Scalar("y", 1)}, vmap.Over{X: x, Batch: xs})[0]
		},
	} {
		g := graph.New("mistakes")
		x := g.Input("x", graph.F32, graph.Ax("i", 3))
		xs := g.Input("xs", graph.F32, axis, graph.Ax("i", 3))
		y := call(g, x, xs)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "vmap_test.go:") || y.IsValid() {
			t.Errorf("got %v and %v, want %s", y, err, want)
		}
	}
}

// TestEachOfNothing: without a function there are no results, and a mistake.
func TestEachOfNothing(t *testing.T) {
	g := graph.New("nothing")
	xs := g.Input("xs", graph.F32, graph.Ax("n", 4))
	if got := vmap.Each(nil, xs); len(got) != 0 {
		t.Errorf("results %v", got)
	}
	if err := g.Err(); err == nil || !strings.Contains(err.Error(), "vmap_test.go:") || !strings.HasSuffix(err.Error(), "vmap: want a function of one example, got nil: xs[n=4]") {
		t.Errorf("got %v", err)
	}
}

// TestSilence: what follows from an earlier mistake adds none.
func TestSilence(t *testing.T) {
	g := graph.New("silence")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	xs := g.Input("xs", graph.F32, graph.Ax("n", 4), graph.Ax("i", 3))
	bad := ops.Sum(x, "j")
	vmap.Map([]node{bad, ops.Exp(x)}, vmap.Over{X: x, Batch: xs})
	vmap.Map([]node{x}, vmap.Over{X: bad, Batch: xs})
	vmap.Each(func(in []node) []node { return in }, bad)
	if errs := g.Err().(graph.Errors); len(errs) != 1 {
		t.Errorf("got %v", errs)
	}
	if vmap.Each(func(in []node) []node { return in }, nil)[0].IsValid() {
		t.Error("a batch of nothing is valid")
	}
	if _, err := tape.Compile(g, tape.Fetch(ops.Exp(x))); err == nil {
		t.Error("the mistake is forgotten")
	}
}

// TestMatrixTimesColumns: a matrix that all examples share times a matrix of each is one product of two
// matrices, and is not repeated.
func TestMatrixTimesColumns(t *testing.T) {
	g := graph.New("columns")
	w := g.Input("w", graph.F64, graph.Dims(3, 4)...)
	xs := g.Input("xs", graph.F64, graph.Dims(5, 4, 2)...)
	y := vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.MatMul(w, x[0])} }, xs)[0]
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	for _, n := range graph.Reachable(y) {
		if match.Is(n, match.Broadcast) || match.Is(n, match.MatMul) && n.Rank() != 2 {
			t.Errorf("the batch needs %v", n)
		}
	}
	feed := graph.Values{w: values(w, 1), xs: values(xs, 2)}
	got, err := ref.Eval(trait.Env{}, feed, y, ops.MatMul(ops.Expand(w, 0, ""), xs))
	if err != nil {
		t.Fatal(err)
	}
	if err := reftest.Near(got[0].Data, got[1].Data, 1e-14); err != nil {
		t.Error(err)
	}
}
