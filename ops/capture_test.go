package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// loops returns the loops among the nodes of a graph.
func loops(g *graph.Graph) (list []node) {
	for _, n := range g.Nodes() {
		if n.Body() != nil {
			list = append(list, n)
		}
	}
	return list
}

// TestCapture: nodes of the graph around a loop that its step uses become operands, each once, and
// the loop is bit for bit the one that gets them in With.
func TestCapture(t *testing.T) {
	var want [][]float64
	for _, with := range []bool{true, false} {
		g := graph.New("capture")
		x, h := g.Input("x", graph.F64, graph.Ax("t", 4), graph.Ax("d", 3)), g.Input("h", graph.F64, graph.Ax("n", 2), graph.Ax("d", 3))
		w, c := g.Param("w", graph.F64, graph.Ax("d", 3), graph.Ax("e", 3)), g.Input("c", graph.F64, graph.Ax("d", 3))
		l := ops.Loop{Carry: []node{h}, Over: []node{x}, Axis: "t"}
		if with {
			l.With = []node{w, c}
		}
		r := ops.Scan(l, func(s, x, in []node) (next, out []node) {
			if !with {
				in = []node{w, c}
			}
			z := ops.Add(ops.Mul(in[1], ops.Rename(ops.MatMul(s[0], in[0]), "e", "d")), x[0])
			return []node{ops.Tanh(z)}, []node{ops.Mul(in[1], ops.Scale(s[0], 3))}
		})
		loss := ops.Add(ops.Sum(ops.Square(r.Trace[0])), ops.Sum(r.Out[0]))
		got := everything(t, loss, []node{x, h, w, c}, []node{r.Final[0], r.Out[0]})
		first := loops(g)[0]
		var names []string
		for _, n := range first.Inputs() {
			names = append(names, n.Label())
		}
		if !slices.Equal(names, []string{"h", "x", "w", "c"}) {
			t.Errorf("the loop's operands are %v", names)
		}
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			if err := reftest.Near(got[i], want[i], 0); err != nil {
				t.Errorf("value %d: %v", i, err)
			}
		}
		roundTrip(t, g)
	}
}

// TestCaptureNested: a step within a step uses nodes of both graphs around it, and a loop all of
// whose operands are from outside may use the step that it stands in; values and derivatives are
// those of the steps written out.
func TestCaptureNested(t *testing.T) {
	var want [][]float64
	for _, run := range []func(ops.Loop, ops.StepFunc) ops.Scanned{ops.Unroll, ops.Scan} {
		g := graph.New("nested")
		x, h := g.Input("x", graph.F64, graph.Ax("t", 3), graph.Ax("d", 2)), g.Input("h", graph.F64, graph.Ax("d", 2))
		u, v := g.Input("u", graph.F64, graph.Ax("d", 2)), g.Input("v", graph.F64, graph.Ax("s", 4))
		r := run(ops.Loop{Carry: []node{h}, Over: []node{x}}, func(c, x, _ []node) (next, out []node) {
			inner := run(ops.Loop{Carry: []node{u}, Over: []node{v}}, func(d, v, _ []node) (next, out []node) {
				return []node{ops.Sin(ops.Add(ops.Mul(d[0], c[0]), ops.Mul(v[0], ops.Square(u))))}, []node{ops.Add(x[0], d[0])}
			})
			return []node{ops.Add(inner.Final[0], ops.Mean(inner.Out[0], 0))}, []node{u}
		})
		loss := ops.Add(ops.Sum(ops.Square(r.Final[0])), ops.Sum(r.Out[0]))
		got := everything(t, loss, []node{x, h, u, v}, r.Final)
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			if err := reftest.Near(got[i], want[i], 1e-12*max(1, reftest.Largest(want[i]))); err != nil {
				t.Errorf("value %d: %v", i, err)
			}
		}
	}
}

// TestCaptureGradient: a step takes derivatives by a node from outside, as in an inner loop of
// training.
func TestCaptureGradient(t *testing.T) {
	var want [][]float64
	for _, with := range []bool{true, false} {
		g := graph.New("inner")
		h, w := g.Input("h", graph.F64, graph.Ax("d", 2)), g.Input("w", graph.F64, graph.Ax("d", 2))
		l := ops.Loop{Carry: []node{h}, Steps: 3}
		if with {
			l.With = []node{w}
		}
		r := ops.Scan(l, func(c, _, in []node) (next, out []node) {
			w := w
			if with {
				w = in[0]
			}
			d := grad.Of(ops.Sum(ops.Sin(ops.Mul(c[0], w))), w, c[0])
			return []node{ops.Sub(c[0], ops.Mul(d[0], d[1]))}, nil
		})
		got := everything(t, ops.Sum(ops.Square(r.Final[0])), []node{h, w}, r.Final)
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			if err := reftest.Near(got[i], want[i], 0); err != nil {
				t.Errorf("value %d: %v", i, err)
			}
		}
	}
}

// TestCaptureOnlyWhatIsNeeded: what a step computes in vain makes no operand, and scalar constants
// are constants of the body.
func TestCaptureOnlyWhatIsNeeded(t *testing.T) {
	g := graph.New("needed")
	h, w := g.Input("h", graph.F64, graph.Ax("d", 2)), g.Input("w", graph.F64, graph.Ax("d", 2))
	two := ops.Lit(h, 2)
	r := ops.Scan(ops.Loop{Carry: []node{h}, Steps: 3}, func(c, _, _ []node) (next, out []node) {
		ops.Mul(c[0], w)
		return []node{ops.Mul(two, c[0])}, nil
	})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if n := loops(g)[0]; n.NumIn() != 1 || !r.Final[0].IsValid() {
		t.Errorf("the loop takes %v", n.Inputs())
	}
}

// TestCaptureMistakes: leaves that a step makes, and nodes of a step that is over, are mistakes at
// the user's line.
func TestCaptureMistakes(t *testing.T) {
	for want, step := range map[string]func(g *graph.Graph, c node) node{
		`param: param "w" is made inside the body of a loop (make layers, parameters and inputs before the loop; its step may use them)`: func(g *graph.Graph, c node) node {
			return ops.Mul(c, g.Param("w", graph.F64))
		},
		`state: state "w" is made inside the body of a loop (make layers, parameters and inputs before the loop; its step may use them)`: func(_ *graph.Graph, c node) node {
			return ops.Mul(c, c.Graph().State("w", graph.F64))
		},
		`Scan: input "w" is made inside the body (make layers, parameters and inputs before the loop; its step may use them)`: func(_ *graph.Graph, c node) node {
			return ops.Mul(c, c.Graph().Input("w", graph.F64))
		},
	} {
		g := graph.New("mistake")
		h := g.Input("h", graph.F64)
		r := ops.Scan(ops.Loop{Carry: []node{h}, Steps: 3}, func(c, _, _ []node) (next, out []node) { return []node{step(g, c[0])}, nil })
		ops.Add(r.Final[0], h)
		if got := fmt.Sprint(g.Err()); !strings.HasSuffix(got, want) || strings.Count(got, "\n") > 0 {
			t.Errorf("got %q, want %q", got, want)
		}
		if g.Param("later", graph.F64); strings.Contains(fmt.Sprint(g.Err()), "later") {
			t.Errorf("after the mistake: %v", g.Err())
		}
	}
	g := graph.New("late")
	h := g.Input("h", graph.F64)
	var kept node
	ops.Scan(ops.Loop{Carry: []node{h}, Steps: 3}, func(c, _, _ []node) (next, out []node) {
		kept = ops.Square(c[0])
		return []node{kept}, nil
	})
	ops.Add(h, kept)
	if want := `operand 1 belongs to graph "step", not to "late": h[], %2[] (a step is over when its loop is made: take what is needed of it from the loop's results)`; !strings.Contains(fmt.Sprint(g.Err()), want) {
		t.Errorf("got %v, want %s", g.Err(), want)
	}
}

// TestNamedConstantIsCaptured: a scalar constant with a name is an operand of what uses it, so that a
// derivative by it reaches it through a body; one without a name is written in the body.
func TestNamedConstantIsCaptured(t *testing.T) {
	g := graph.New("constant", graph.F64)
	x := g.Input("x", graph.F64)
	a, b := g.Constant(graph.F64, []float64{3}).As("a"), g.Constant(graph.F64, []float64{5})
	y := ops.Call("f", func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Mul(ops.Mul(a, b), ops.Square(in[0]))}
	}, x)[0]
	slope := grad.Of(y, a)[0]
	values, err := tape.Eval(t.Context(), tape.Feed{x: tape.Of(x, 2)}, y, slope)
	if err != nil {
		t.Fatal(err)
	}
	if values[y].Item() != 60 || values[slope].Item() != 20 {
		t.Errorf("%v, derivative %v: want 60 and 20", values[y], values[slope])
	}
	grad.Of(y, b)
	grad.JVP([]node{y}, []node{b}, []node{ops.Lit(b, 1)})
	want := "a loop or function uses the constant 5 as a number"
	if got := fmt.Sprint(g.Err()); strings.Count(got, want) != 2 || strings.Count(got, "name it with As") != 2 {
		t.Errorf("%v, want twice %s", got, want)
	}
}
