package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func TestRoles(t *testing.T) {
	o := soft(t)
	f := draw(t, o.roots(), At(Ops))
	for main, want := range map[string]figure.Role{
		"x": figure.Input, "γ = 0.7": figure.Input, "r": figure.Param, "Δ = xᵢ − rⱼ": figure.Op, "D = ‖Δᵢⱼ‖²": figure.Reduce,
		"α = softmaxⱼ(−γ·Dᵢⱼ)": figure.Reduce, "−γ·Dᵢⱼ": figure.Op, "Σⱼ αᵢⱼ·Dᵢⱼ": figure.Reduce,
		"loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ": figure.Loss, "∂loss/∂D": figure.Gradient, "∂loss/∂loss = 1": figure.Gradient, "∂loss/∂(−γ·Dᵢⱼ)": figure.Gradient,
	} {
		if n := box1(t, f, main); n.Role != want {
			t.Errorf("%s is drawn as %v, want %v", main, n.Role, want)
		}
	}
	d := box1(t, f, "∂loss/∂D")
	if d.Row != box1(t, f, "D = ‖Δᵢⱼ‖²").ID || !d.Backward || d.Module != "assign" {
		t.Errorf("∂loss/∂D stands in row %q of module %q", d.Row, d.Module)
	}
	for _, want := range []string{"∂loss/∂Dᵢⱼ = 1/150·αᵢⱼ", "f32[i=150 j=3]", "derivative of loss by D", "viz/kmeans_test.go:"} {
		if !strings.Contains(d.Title, want) {
			t.Errorf("title %q lacks %q", d.Title, want)
		}
	}
	state := graph.New("state")
	m := state.State("m", graph.F64, graph.Ax("i", 2))
	acc := ops.Mean(m).As("average")
	f = draw(t, []*graph.Node{ops.MatMul(state.Input("a", graph.F64, graph.Dims(2, 2)...), state.Constant(graph.F64, []float64{1, 2, 3, 4}, graph.Dims(2, 2)...)).As("p"), ops.Tanh(m).As("h"), acc}, At(Ops))
	for main, want := range map[string]figure.Role{"m": figure.State, "h = tanh(mᵢ)": figure.Output, "[1 2 3 4]": figure.Const} {
		if n := box1(t, f, main); n.Role != want {
			t.Errorf("%s is drawn as %v, want %v", main, n.Role, want)
		}
	}
}

// TestGatherRole: picking rows of a table is no reduction, whether the result is smaller or
// larger than the table; adding into one is.
func TestGatherRole(t *testing.T) {
	g := graph.New("gather")
	table := g.Param("v", graph.F32, graph.Ax("w", 100), graph.Ax("m", 4))
	few := ops.Gather(table, g.Input("few", graph.I32, graph.Ax("i", 3)), "w").As("a")
	many := ops.Gather(table, g.Input("many", graph.I32, graph.Ax("k", 300)), "w").As("b")
	f, err := Draw([]*graph.Node{ops.Sum(few).As("s"), ops.Sum(many).As("t")})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Nodes {
		if name, _, defined := strings.Cut(n.Main, " = "); (name == "a" || name == "b") && (!defined || n.Role != figure.Op) {
			t.Errorf("%s is drawn as %v, want %v", n.Main, n.Role, figure.Op)
		}
	}
	if len(f.Nodes) != 7 {
		t.Errorf("%d boxes, want 7", len(f.Nodes))
	}
}
