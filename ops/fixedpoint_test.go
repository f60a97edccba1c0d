package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// onLine solves x = a·x + b, whose solution is b / (1 − a).
func onLine(a, b *graph.Node, steps int) ops.Fixed {
	e := ops.Equation{Start: []*graph.Node{ops.Lit(a, 0)}, With: []*graph.Node{a, b}, Steps: steps}
	return ops.FixedPoint(e, func(x, w []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Add(ops.Mul(w[0], x[0]), w[1])}
	})
}

// TestFixedPoint: derivatives are those of the solution, to third order and in all modes, and
// whether there is one is said.
func TestFixedPoint(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("g")
		a, b := g.Input("a", dt), g.Input("b", dt)
		r := onLine(a, b, 0)
		x := r.X[0]
		d := grad.Of(x, a)[0]
		d2 := grad.Of(d, a)[0]
		d3 := grad.Of(d2, a)[0]
		mixed := grad.Of(d, b)[0]
		one := ops.Lit(a, 1)
		tangent := grad.JVP([]*graph.Node{x, d}, []*graph.Node{a}, []*graph.Node{one})
		nodes := []*graph.Node{x, r.Converged, d, d2, d3, mixed, tangent[0], tangent[1]}
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		got, err := reftest.Tape(0, graph.Values{a: fed(a, 0.5), b: fed(b, 3)}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		tol := 1e-10
		if dt == graph.F32 {
			tol = 2e-3
		}
		for i, want := range []float64{6, 1, 12, 48, 288, 4, 12, 48} {
			if v := got[i].Data[0]; !(math.Abs(v-want) <= tol*want) {
				t.Errorf("%v: result %d is %v, want %v", dt, i, v, want)
			}
		}
	}
}

// TestFixedPointDiverges: what does not converge is loud.
func TestFixedPointDiverges(t *testing.T) {
	g := graph.New("g")
	a, b := g.Input("a", graph.F64), g.Input("b", graph.F64)
	r := onLine(a, b, 50)
	d := grad.Of(r.X[0], b)[0]
	for _, c := range []struct{ a, converged, steps float64 }{{0.5, 1, 43}, {0.999, 0, 50}, {1.5, 0, 50}, {math.NaN(), 0, 1}} {
		got, err := reftest.Tape(0, graph.Values{a: fed(a, c.a), b: fed(b, 1)}, []*graph.Node{r.Converged, d, r.Steps})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Data[0] != c.converged || math.IsNaN(got[1].Data[0]) == (c.converged == 1) || got[2].Data[0] != c.steps {
			t.Errorf("at %v: converged %v after %v steps with derivative %v, want converged %v after %v", c.a, got[0].Data, got[2].Data, got[1].Data, c.converged, c.steps)
		}
	}
}

// TestFixedPointMapped: each example has its own solution, also where a parameter is shared.
func TestFixedPointMapped(t *testing.T) {
	g := graph.New("g")
	all, b := g.Input("a", graph.F64, graph.Ax("n", 3)), g.Input("b", graph.F64)
	x := vmap.Each(func(a []*graph.Node) []*graph.Node { return onLine(a[0], b, 0).X }, all)[0]
	d := grad.Of(ops.Sum(x), all, b)
	each := vmap.Each(func(a []*graph.Node) []*graph.Node { return grad.Of(onLine(a[0], b, 0).X[0], a[0], b) }, all)
	got := numbers(t, graph.Values{all: fed(all, 0, 0.5, 0.75), b: fed(b, 2)}, x, d[0], d[1], each[0], each[1])
	for i, want := range [][]float64{{2, 4, 8}, {2, 8, 32}, {7}, {2, 8, 32}, {1, 2, 4}} {
		if err := reftest.Near(got[i], want, 1e-10); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}

// TestFixedPointKeepsNoSteps: the memory of a derivative does not depend on the bound.
func TestFixedPointKeepsNoSteps(t *testing.T) {
	arena := func(bound int) int {
		g := graph.New("g")
		w := g.Input("w", graph.F64, graph.Ax("n", 1000))
		e := ops.Equation{Start: []*graph.Node{w}, With: []*graph.Node{w}, Steps: bound}
		x := ops.FixedPoint(e, func(x, w []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Scale(ops.Sin(ops.Add(x[0], w[0])), 0.5)}
		}).X[0]
		p, err := tape.Compile(g, tape.Fetch(grad.Of(ops.Sum(x), w)[0]))
		if err != nil {
			t.Fatal(err)
		}
		return p.Arena()
	}
	if few, many := arena(10), arena(100000); few != many {
		t.Errorf("%d B for 10 steps, %d B for 100000", few, many)
	}
}

func TestFixedPointMistakes(t *testing.T) {
	same := func(x, _ []*graph.Node) []*graph.Node { return x }
	for want, f := range map[string]func(x, n *graph.Node){
		"FixedPoint: the function is nil":                 func(x, _ *graph.Node) { ops.FixedPoint(ops.Equation{Start: []*graph.Node{x}}, nil) },
		"FixedPoint: nothing to start from":               func(x, _ *graph.Node) { ops.FixedPoint(ops.Equation{With: []*graph.Node{x}}, same) },
		"FixedPoint: start 0 has type i32[]: want floats": func(_, n *graph.Node) { ops.FixedPoint(ops.Equation{Start: []*graph.Node{n}}, same) },
		"FixedPoint: a tolerance of -1 and 0 steps: want 0 for the default, or more": func(x, _ *graph.Node) {
			ops.FixedPoint(ops.Equation{Start: []*graph.Node{x}, Tolerance: -1}, same)
		},
		"FixedPoint: the function gives 0 results: want 1": func(x, _ *graph.Node) {
			ops.FixedPoint(ops.Equation{Start: []*graph.Node{x}}, func(_, _ []*graph.Node) []*graph.Node { return nil })
		},
		"FixedPoint: the function gives f32[1] for f32[]": func(x, _ *graph.Node) {
			ops.FixedPoint(ops.Equation{Start: []*graph.Node{x}}, func(x, _ []*graph.Node) []*graph.Node { return []*graph.Node{ops.Reshape(x[0], 1)} })
		},
	} {
		g := graph.New("g")
		x, n := g.Input("x", graph.F32), g.Input("n", graph.I32)
		f(x, n)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
