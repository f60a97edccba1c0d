package graph_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestEqualNodesAreOne: a node is its operation and its inputs; what carries an
// identity of its own never merges.
func TestEqualNodesAreOne(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := g.Param("y", graph.F32, graph.Ax("i", 3))
	f64 := func(v ...float64) *graph.Node { return g.Constant(graph.F64, v) }
	draw := func() *graph.Node { return ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 3)) }
	payload := math.Float64frombits(math.Float64bits(math.NaN()) + 1)
	long := make([]*graph.Node, 6)
	for i := range long {
		long[i] = ops.Scale(x, float64(i+2))
	}
	swapped := append([]*graph.Node(nil), long...)
	swapped[4], swapped[5] = swapped[5], swapped[4]
	for _, c := range []struct {
		name string
		a, b *graph.Node
		same bool
	}{
		{"equal calls", ops.Add(x, y), ops.Add(x, y), true},
		{"other order", ops.Sub(x, y), ops.Sub(y, x), false},
		{"other operation", ops.Add(x, y), ops.Mul(x, y), false},
		{"equal attributes", ops.Sum(x, 0), ops.Sum(x, "i"), true},
		{"other attributes", ops.Sum(x, 0), ops.Sum(x, 0, ops.Keep), false},
		{"equal trees", ops.Exp(ops.Neg(x)), ops.Exp(ops.Neg(x)), true},
		{"names do not matter", ops.Exp(x).As("a"), ops.Exp(x).As("b"), true},
		{"many operands", ops.Concat(0, long...), ops.Concat(0, long...), true},
		{"many operands in another order", ops.Concat(0, long...), ops.Concat(0, swapped...), false},
		{"many operands, one fewer", ops.Concat(0, long...), ops.Concat(0, long[:5]...), false},
		{"equal constants", f64(1.5), f64(1.5), true},
		{"0 and -0", f64(0), f64(math.Copysign(0, -1)), false},
		{"NaN equals itself", f64(math.NaN()), f64(math.NaN()), true},
		{"two NaN", f64(math.NaN()), f64(payload), false},
		{"constants of two types", f64(1), g.Constant(graph.F32, []float64{1}), false},
		{"constants that round to one value", g.Constant(graph.F32, []float64{0.1}), g.Constant(graph.F32, []float64{float64(float32(0.1))}), true},
		{"constants of two shapes", g.Constant(graph.F32, []float64{1, 2}, graph.Dims(2)...), g.Constant(graph.F32, []float64{1, 2}, graph.Dims(1, 2)...), false},
		{"integers have no -0", g.Constant(graph.I32, []float64{0}), g.Constant(graph.I32, []float64{math.Copysign(0, -1)}), true},
		{"two leaves", g.Input("a", graph.F32), g.Input("b", graph.F32), false},
		{"two draws", draw(), draw(), false},
	} {
		if !c.a.IsValid() || !c.b.IsValid() {
			t.Fatalf("%s: %v", c.name, g.Err())
		}
		if (c.a == c.b) != c.same {
			t.Errorf("%s: one node: %v, want %v", c.name, c.a == c.b, c.same)
		}
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestDrawKeys: a draw is known by its scope, name and place, so that two models
// built alike share their noise.
func TestDrawKeys(t *testing.T) {
	build := func() (keys []string) {
		g := graph.New("g")
		key := func() { keys = append(keys, g.DrawKey("ε")) }
		key()
		end := g.Scope("a")
		key()
		key()
		end()
		key()
		return keys
	}
	want := []string{"ε#0", "a/ε#0", "a/ε#1", "ε#1"}
	for range 2 {
		for i, k := range build() {
			if k != want[i] {
				t.Errorf("draw %d has key %q, want %q", i, k, want[i])
			}
		}
	}
}

// TestFind: a node is found by its operation and inputs, and looking adds nothing.
func TestFind(t *testing.T) {
	g, h := graph.New("g"), graph.New("h")
	g.Grow(100)
	x, y := g.Input("x", graph.F32), g.Input("y", graph.F32)
	sub := ops.Sub(x, y)
	n := g.Len()
	for _, c := range []struct {
		name string
		in   []*graph.Node
		want *graph.Node
	}{
		{"there", []*graph.Node{x, y}, sub},
		{"the other way round", []*graph.Node{y, x}, nil},
		{"one operand", []*graph.Node{x}, nil},
		{"none", nil, nil},
		{"nil", []*graph.Node{x, nil}, nil},
		{"of another graph", []*graph.Node{h.Input("x", graph.F32), h.Input("y", graph.F32)}, nil},
	} {
		if got := g.Find(sub.Op(), c.in...); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if g.Find(nil, x, y) != nil || g.Len() != n || g.Err() != nil || len(sub.Occurrences()) != 1 {
		t.Errorf("looking changed the graph: %v, %v", g, g.Err())
	}
}
