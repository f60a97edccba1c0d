package viz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// deep is a chain of blocks in stages, with skips around each block.
func deep(t testing.TB, stages, blocks int) []*graph.Node {
	g := graph.New("deep")
	h := g.Input("x", graph.F32, graph.Dims(32, 16)...)
	var params []*graph.Node
	for s := range stages {
		endStage := g.Scope(fmt.Sprint("stage", s))
		for k := range blocks {
			endBlock := g.Scope(fmt.Sprint("block", k))
			w := g.Param("w", graph.F32, graph.Dims(16, 16)...)
			b := g.Param("b", graph.F32, graph.Dims(16)...)
			params = append(params, w, b)
			h = ops.Add(ops.Tanh(ops.Add(ops.MatMul(h, w), b)), h)
			endBlock()
		}
		endStage()
	}
	loss := ops.Mean(ops.Square(h)).As("loss")
	out := append(grad.Of(loss, params...), loss)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func mains(f *figure.Figure) []string {
	var out []string
	for _, n := range f.Nodes {
		out = append(out, n.Main+" / "+n.Sub)
	}
	return out
}

func TestClosedScopes(t *testing.T) {
	roots := deep(t, 4, 10)
	f := draw(t, roots, At(Ops), Unfolded())
	got := mains(f)
	for _, want := range []string{"x / 32×16", "stage0 / 40 ops, 2720 parameters", "stage3 / 40 ops, 2720 parameters", "∂ stage1 / 70 ops", "loss = meanₗₘ (Add)ₗₘ² / Mean"} {
		if !slices.Contains(got, want) {
			t.Errorf("no box %q among %q", want, got)
		}
	}
	if len(f.Nodes) > 20 {
		t.Errorf("%d boxes", len(f.Nodes))
	}
	if b := box1(t, f, "∂ stage1"); b.Row != box1(t, f, "stage1").ID || !b.Backward {
		t.Errorf("∂ stage1 is in row %q", b.Row)
	}
	f = draw(t, roots, At(Ops), Unfolded(), Expand("stage1/block2"), Parameters(ParamsApart))
	if b := box1(t, f, "block3"); b.Module != "stage1" {
		t.Errorf("block3 is in module %q", b.Module)
	}
	if b := box1(t, f, "w"); b.Module != "stage1/block2" || b.Role != figure.Param {
		t.Errorf("w: %+v", b)
	}
	box1(t, f, "stage0")
	if n := len(draw(t, roots, At(Ops), Unfolded(), CollapseAbove(-1)).Nodes); n < 300 {
		t.Errorf("%d boxes with all scopes open", n)
	}
	if n := len(draw(t, soft(t).roots(), CollapseAbove(0)).Nodes); n != 4 {
		t.Errorf("%d boxes with all scopes of soft k-means closed, want 4", n)
	}
}

// Scopes that feed each other in turns are drawn as several boxes, so that
// values still flow down.
func TestClosedScopesInACircle(t *testing.T) {
	g := graph.New("turns")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	y := x
	for k := range 6 {
		end := g.Scope([]string{"a", "b", "c"}[k%3])
		y = ops.Tanh(ops.Exp(y))
		end()
	}
	y = ops.Add(y, ops.Exp(x)).As("y")
	f := draw(t, []*graph.Node{y}, At(Ops), CollapseAbove(0)) // draw validates: no circle
	if got := strings.Join(mains(f), ", "); strings.Count(got, "a / 2 ops") != 2 || strings.Count(got, "c / 2 ops") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestLargeGraphIsReadable(t *testing.T) {
	roots := deep(t, 25, 18) // about 5000 nodes
	f := draw(t, roots, At(Primitive))
	if n := len(graph.Reachable(roots...)); n < 5000 || len(f.Nodes) > 100 {
		t.Errorf("%d boxes for %d nodes", len(f.Nodes), n)
	}
}
