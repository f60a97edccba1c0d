package inspect_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// newton is the cube root of 27 by Newton's method, as far as it goes, and its loop.
func newton(t *testing.T) (*graph.Graph, *graph.Node, *graph.Node) {
	t.Helper()
	g := graph.New("newton")
	a := g.Constant(graph.F64, []float64{27})
	r := ops.While(ops.Loop{Carry: []*graph.Node{ops.Lit(a, 1)}, With: []*graph.Node{a}, Steps: 100},
		func(c, a []*graph.Node) *graph.Node {
			return ops.Greater(ops.Abs(ops.Sub(ops.Pow(c[0], ops.Lit(a[0], 3)), a[0])), ops.Lit(a[0], 1e-10))
		},
		func(c, _, a []*graph.Node) (next, out []*graph.Node) {
			y := ops.Sub(c[0], ops.Div(ops.Sub(ops.Pow(c[0], ops.Lit(a[0], 3)), a[0]), ops.Scale(ops.Square(c[0]), 3)))
			return []*graph.Node{y.As("y")}, nil
		})
	for _, n := range graph.Reachable(r.Final[0]) {
		if trait.LoopBody(n) != nil {
			return g, r.Final[0], n
		}
	}
	t.Fatal("there is no loop")
	return nil, nil, nil
}

// TestEnterRecord sees Newton's steps from inside: each is computed from the one before, and those
// after the loop had stopped were not run.
func TestEnterRecord(t *testing.T) {
	g, root, loop := newton(t)
	r, err := inspect.Take(t.Context(), nil, tape.NewStore(g), root)
	if err != nil {
		t.Fatal(err)
	}
	var y *graph.Node
	for _, n := range graph.Reachable(loop.Body().Out()...) {
		if n.Name() == "y" {
			y = n
		}
	}
	x := 1.0
	for k := range 8 {
		x -= (x*x*x - 27) / (3 * x * x)
		in, err := r.Enter(t.Context(), loop, k)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Value(y).At(0); math.Abs(got-x) > 1e-12*x {
			t.Errorf("step %d: y is %v, want %v", k, got, x)
		}
		why, err := in.Why(t.Context(), y, 0, 3)
		if err != nil || len(why.Operands) == 0 {
			t.Errorf("step %d: %+v, %v", k, why, err)
		}
	}
	for _, c := range []struct {
		n    *graph.Node
		k    int
		want string
	}{
		{loop, 8, "inspect: iteration 8 of the loop was not run: its gate is 0"},
		{loop, 100, "inspect: there is no iteration 100: the loop has 0 to 99"},
		{loop, -1, "inspect: there is no iteration -1: the loop has 0 to 99"},
		{nil, 0, "inspect: the node was not recorded"},
		{y, 0, "inspect: the node was not recorded"},
		{root, 0, "is not a loop"},
	} {
		if _, err := r.Enter(t.Context(), c.n, c.k); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("Enter(%v, %d): %v, want %s", c.n, c.k, err, c.want)
		}
	}
}
