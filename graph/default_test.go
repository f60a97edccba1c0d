package graph_test

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestDefaultType: scalars have the graph's element type unless they are given one, in bodies too.
func TestDefaultType(t *testing.T) {
	for _, c := range []struct {
		g    *graph.Graph
		want graph.DType
	}{{graph.New("f32"), graph.F32}, {graph.New("f64", graph.F64), graph.F64}} {
		rate, count := c.g.Scalar("rate", 0.1), c.g.Scalar("count", 3, graph.I32)
		if c.g.DType() != c.want || rate.DType() != c.want || count.DType() != graph.I32 {
			t.Errorf("%v, %v and %v, want %v", c.g.DType(), rate, count, c.want)
		}
		if v, ok := rate.Default(); !ok || v != c.want.Round(0.1) {
			t.Errorf("default %v, want %v", v, c.want.Round(0.1))
		}
		if b, _ := c.g.BodyGraph("body", nil, nil); b.DType() != c.want {
			t.Errorf("a body of type %v, want %v", b.DType(), c.want)
		}
	}
	err := graph.New("k", graph.I64).Err()
	want := fmt.Sprintf(`graph/default_test.go:%d: graph: "k" has elements of type i64 by default (use f32 or f64; each leaf may have its own type)`, 27)
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestLeavesByRole: each role has its list.
func TestLeavesByRole(t *testing.T) {
	g := graph.New("roles")
	s, x, w, γ, b := g.State("s", graph.I32), g.Input("x", graph.F32), g.Param("w", graph.F32), g.Scalar("γ", 1), g.Param("b", graph.F32)
	for want, got := range map[string][]*graph.Node{
		fmt.Sprint([]*graph.Node{w, b}): g.Params(), fmt.Sprint([]*graph.Node{s}): g.States(), fmt.Sprint([]*graph.Node{x, γ}): g.Inputs(),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
