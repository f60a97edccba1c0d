package graph_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestReachable(t *testing.T) {
	g := graph.New("g")
	a := g.Input("a", graph.F32)
	b := g.Input("b", graph.F32)
	unused := g.Input("unused", graph.F32)
	sum := ops.Add(a, b)
	side := ops.Exp(b)
	top := ops.Mul(sum, ops.Neg(sum))
	for _, c := range []struct{ roots, want []*graph.Node }{
		{nil, nil},
		{[]*graph.Node{a}, []*graph.Node{a}},
		{[]*graph.Node{top}, []*graph.Node{a, b, sum, top.In(1), top}},
		{[]*graph.Node{top, side, top}, []*graph.Node{a, b, sum, side, top.In(1), top}},
		{[]*graph.Node{nil, g.Apply(nil), side}, []*graph.Node{b, side}},
	} {
		if got := graph.Reachable(c.roots...); !slices.Equal(got, c.want) {
			t.Errorf("from %v: %v, want %v", c.roots, got, c.want)
		}
	}
	stop := func(n *graph.Node) bool { return n == sum || n == a }
	if got, want := graph.ReachableUntil(stop, top, side), []*graph.Node{b, sum, side, top.In(1), top}; !slices.Equal(got, want) {
		t.Errorf("until %v: %v, want %v", sum, got, want)
	}
	other := graph.New("other")
	z := ops.Neg(other.Input("z", graph.F32))
	if got, want := graph.Reachable(side, z), []*graph.Node{b, side, z.In(0), z}; !slices.Equal(got, want) {
		t.Errorf("from two graphs: %v, want %v", got, want)
	}
	if z.DependsOn(a) || side.DependsOn(z) || g.Apply(nil).DependsOn(a) || side.DependsOn(nil) {
		t.Error("a node depends on one of another graph")
	}
	for _, n := range g.Nodes() {
		for _, m := range g.Nodes() {
			if want := slices.Contains(graph.Reachable(n), m); n.DependsOn(m) != want {
				t.Errorf("%v depends on %v: %v, want %v", n, m, !want, want)
			}
		}
	}
	if got := g.Leaves(graph.RoleInput); !slices.Equal(got, []*graph.Node{a, b, unused}) {
		t.Errorf("inputs %v", got)
	}
	if g.Nodes()[0] = nil; g.Nodes()[0] != a || g.Len() != len(g.Nodes()) {
		t.Error("the list of nodes is not a copy")
	}
}

// TestDeepGraph: long chains and wide sharing are walked without recursion and
// without visiting a node twice.
func TestDeepGraph(t *testing.T) {
	g := graph.New("deep")
	x := g.Input("x", graph.F32)
	y := x
	for range 20000 {
		y = ops.Add(y, y) // 2^20000 paths
	}
	if n := len(graph.Reachable(y)); n != 20001 || !y.DependsOn(x) || x.DependsOn(y) {
		t.Errorf("%d nodes are reachable", n)
	}
}

// TestManyReaders: a finished graph may be read by any number of goroutines.
func TestManyReaders(t *testing.T) {
	g, _ := everything(t)
	want := g.String()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				last := g.Nodes()[g.Len()-1]
				for _, n := range graph.Reachable(last) {
					if !last.DependsOn(n) || n.String() == "" || len(n.Occurrences()) == 0 {
						t.Errorf("%v", n)
					}
				}
				if g.String() != want || g.Lookup("x") == nil || g.Err() != nil || graph.Verify(g) != nil {
					t.Error("two readers see two graphs")
				}
			}
		})
	}
	wg.Wait()
}
