package tapestry_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Operations from outside that happen to be called like some of the library's, which compute something
// else: what rules know of those does not hold for them.
type (
	ownExp     struct{} // 3x + 1
	ownSoftmax struct{} // x − 2
	ownMatMul  struct{} // a − b
)

func (ownExp) Name() string     { return "Exp" }
func (ownSoftmax) Name() string { return "Softmax" }
func (ownMatMul) Name() string  { return "MatMul" }

func (ownExp) Infer(in []*graph.Node) (graph.Type, error)     { return in[0].Type(), nil }
func (ownSoftmax) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (ownMatMul) Infer(in []*graph.Node) (graph.Type, error)  { return in[0].Type(), nil }

func (ownExp) Scalar(x ...float64) float64     { return 3*x[0] + 1 }
func (ownSoftmax) Scalar(x ...float64) float64 { return x[0] - 2 }
func (ownMatMul) Scalar(x ...float64) float64  { return x[0] - x[1] }

func (ownExp) Grad(_, dy *graph.Node, _ int) *graph.Node     { return ops.Scale(dy, 3) }
func (ownSoftmax) Grad(_, dy *graph.Node, _ int) *graph.Node { return dy }
func (ownMatMul) Grad(_, dy *graph.Node, i int) *graph.Node {
	return ops.Scale(dy, []float64{1, -1}[i])
}

// TestNamesakes: an operation from outside that has the name of one in package ops is another operation.
// No rule takes one for the other, in the graph or in a loop's body, and each computes what it says.
func TestNamesakes(t *testing.T) {
	exp := func(x *graph.Node) *graph.Node { return ops.Elementwise(ownExp{}, x) }
	softmax := func(x *graph.Node) *graph.Node { return ops.Elementwise(ownSoftmax{}, x) }
	minus := func(a, b *graph.Node) *graph.Node { return ops.Elementwise(ownMatMul{}, a, b) }
	for _, c := range []struct {
		name  string
		make  func(x *graph.Node) *graph.Node // of x[2 2]
		value func(x float64) float64
		slope func(x float64) float64
	}{
		{"log of exp", func(x *graph.Node) *graph.Node { return ops.Log(exp(x)) },
			func(x float64) float64 { return math.Log(3*x + 1) }, func(x float64) float64 { return 3 / (3*x + 1) }},
		{"log1p of exp", func(x *graph.Node) *graph.Node { return ops.Log1p(exp(x)) },
			func(x float64) float64 { return math.Log(3*x + 2) }, func(x float64) float64 { return 3 / (3*x + 2) }},
		{"quotient of exps", func(x *graph.Node) *graph.Node { return ops.Div(exp(x), ops.Add(exp(x), exp(x))) },
			func(float64) float64 { return 0.5 }, func(float64) float64 { return 0 }},
		{"log of softmax", func(x *graph.Node) *graph.Node { return ops.Log(softmax(ops.Scale(x, 8))) },
			func(x float64) float64 { return math.Log(8*x - 2) }, func(x float64) float64 { return 8 / (8*x - 2) }},
		{"factors of a product", func(x *graph.Node) *graph.Node { return minus(ops.Scale(x, 5), exp(x)) },
			func(x float64) float64 { return 2*x - 1 }, func(float64) float64 { return 2 }},
	} {
		g := graph.New("namesakes")
		x := g.Param("x", graph.F64, graph.Dims(2, 2)...)
		y := c.make(x)
		dx := grad.Of(ops.Sum(y), x)[0]
		points := []float64{0.5, 0.75, 1, 2}
		got := computed(t, g, tape.Tensor(graph.Value{Type: x.Type(), Data: points}), y, dx)
		for k, f := range []func(float64) float64{c.value, c.slope} {
			for i, v := range got[k] {
				if want := f(points[i]); math.Abs(v-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("%s, derivative %d, at %v: %v, want %v", c.name, k, points[i], v, want)
				}
			}
		}
		if _, err := gorgonia.Compile(g, gorgonia.Fetch(y)); err == nil || !strings.Contains(err.Error(), "no translation is known") {
			t.Errorf("%s: gorgonia takes the operation for another: %v", c.name, err)
		}
	}
}

// TestNamesakesInLoops: two loops whose bodies have the same text and compute something else are two.
func TestNamesakesInLoops(t *testing.T) {
	g := graph.New("loops")
	x := g.Param("x", graph.F64)
	final := func(f func(*graph.Node) *graph.Node) *graph.Node {
		return ops.Scan(ops.Loop{Steps: 2, Carry: []*graph.Node{x}}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{f(c[0])}, nil
		}).Final[0]
	}
	ours := final(ops.Exp)
	own := final(func(x *graph.Node) *graph.Node { return ops.Elementwise(ownExp{}, x) })
	if err := graph.Verify(g); err != nil {
		t.Fatal(err)
	}
	v := computed(t, g, tape.Scalar(graph.F64, 0.5), ours, own)
	for i, want := range []float64{math.Exp(math.Exp(0.5)), 3*(3*0.5+1) + 1} {
		if got := v[i][0]; math.Abs(got-want) > 1e-12*want {
			t.Errorf("loop %d gives %v, want %v", i, got, want)
		}
	}
}

// computed gives nodes of a graph whose parameter x has the given elements.
func computed(t *testing.T, g *graph.Graph, x *tensor.Dense, nodes ...*graph.Node) [][]float64 {
	t.Helper()
	prog, err := tape.Compile(g, tape.Fetch(nodes...))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := prog.NewVM(tape.NewStore(g))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Store().Set("x", x); err != nil {
		t.Fatal(err)
	}
	if err := vm.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(nodes))
	for i, n := range nodes {
		v, err := vm.Value(n)
		if err != nil {
			t.Fatal(err)
		}
		switch d := v.Data().(type) {
		case float64:
			out[i] = []float64{d}
		case []float64:
			out[i] = d
		}
	}
	return out
}

// TestTextOfNamesakes: text in which an operation may be either of two is not read.
func TestTextOfNamesakes(t *testing.T) {
	g := graph.New("text")
	ops.Elementwise(ownExp{}, g.Input("x", graph.F64))
	text := g.String()
	if _, err := graph.Parse(strings.NewReader(text), append(ops.Vocabulary(), ownExp{})...); err == nil || !strings.Contains(err.Error(), "two operations called Exp") {
		t.Errorf("got %v, want a refusal of two operations called Exp", err)
	}
	read, err := graph.Parse(strings.NewReader(text), ownExp{})
	if err != nil {
		t.Fatal(err)
	}
	if op := read.Nodes()[read.Len()-1].Op(); op != (ownExp{}) {
		t.Errorf("got %T, want the operation of the vocabulary", op)
	}
}
