package viz

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func TestRoles(t *testing.T) {
	o := soft(t)
	f := draw(t, o.roots(), At(Ops))
	for main, want := range map[string]figure.Role{
		"x": figure.Input, "γ = 0.7": figure.Hyper, "r": figure.Param, "Δ = xᵢ − rⱼ": figure.Op, "D = ‖Δᵢⱼ‖²": figure.Reduce,
		"α = softmaxⱼ(−γ·Dᵢⱼ)": figure.Along, "−γ·Dᵢⱼ": figure.Op, "Σⱼ αᵢⱼ·Dᵢⱼ": figure.Reduce,
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

// TestGatherRole: picking rows of a table moves them, whether the result is smaller or
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
		if name, _, defined := strings.Cut(n.Main, " = "); (name == "a" || name == "b") && (!defined || n.Role != figure.Move) {
			t.Errorf("%s is drawn as %v, want %v", n.Main, n.Role, figure.Move)
		}
	}
	if len(f.Nodes) != 7 {
		t.Errorf("%d boxes, want 7", len(f.Nodes))
	}
}

// TestLegendIsTrue holds the words of the legend against every box of every model: what is said to
// go element by element has no operation that looks at other elements, what is said to keep an axis
// has one that does, and what is said to combine elements combines them.
func TestLegendIsTrue(t *testing.T) {
	count := map[figure.Role]int{}
	for _, b := range builders.All() {
		for _, level := range []Level{Notes, Ops} {
			v, err := newView(modelRoots(t, b), collect([]Option{At(level)}))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range v.shown {
				role := v.role(n)
				if role < figure.Op || role > figure.Reduce {
					continue
				}
				count[role]++
				var moves, along, combines, elements bool
				for _, x := range inside(n, v.visible) {
					if x.NumIn() == 0 {
						elements = elements || x.Role() == graph.RoleOp // a draw
						continue
					}
					switch name := x.Op().Name(); {
					case isLayout(x):
					case trait.IsElementwise(x.Op()) || slices.Contains([]string{"Cast", "InRange", "OneHot", "StopGradient"}, name):
						elements = true
					case slices.Contains([]string{"Slice", "Place", "Gather", "Concat", "MaxPick"}, name):
						moves = true
					case slices.Contains([]string{"Softmax", "LogSoftmax", "Standardise", "Scan"}, name):
						along = true
					case slices.Contains([]string{"MatMul", "Sum", "Mean", "Max", "Min", "ArgMax", "ArgMin", "LogSumExp", "Rstd", "SqDist", "WeightedDiff", "DiffDot",
						"Conv", "ConvInput", "ConvKernel", "MaxPool", "SumPool", "SumUnpool", "MaxUnpool", "ScatterAdd", "Prod"}, name):
						combines = true
					default:
						t.Errorf("%s: the test does not know %s", b.Name, name)
					}
				}
				want := figure.Op
				switch {
				case combines:
					want = figure.Reduce
				case along:
					want = figure.Along
				case moves, !elements:
					want = figure.Move
				}
				keeps := role == figure.Along && combines // a sum along an axis of one element
				if role != want && !keeps {
					t.Errorf("%s at level %v: %v is drawn as %v, want %v", b.Name, level, v.equation(n), role, want)
				}
			}
		}
	}
	for _, role := range []figure.Role{figure.Op, figure.Move, figure.Along, figure.Reduce} {
		if count[role] < 20 {
			t.Errorf("%d boxes are drawn as %v", count[role], role)
		}
	}
}
