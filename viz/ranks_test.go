package viz

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// TestLanesInFormulas: sums over lanes are written as sums, and what all lanes have as it is; the derivative
// of either is the other.
func TestLanesInFormulas(t *testing.T) {
	g := graph.New("lanes")
	x := g.Param("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 4))
	μ := ops.SumRanks(ops.Sum(x, "i")).As("μ")
	y := ops.Square(ops.Sub(x, ops.CopyRanks(μ))).As("y")
	loss := ops.Sum(y).As("loss")
	dx := grad.Of(loss, x)[0]
	d, err := Derive(dx)
	if err != nil {
		t.Fatal(err)
	}
	text := d.String()
	for _, want := range []string{
		"μ_d = Σ_{lanes} Σᵢ x_{id}\n",
		"y_{id} = (x_{id} − μ_d)²\n",
		"∂loss/∂μ_d = Σ_{lanes} (−2·Σᵢ (x_{id} − μ_d)·∂loss/∂y_{id})\n",
		"a value that all lanes have: sum over lanes",
		"a sum over lanes: the same for each of them",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the derivation lacks %q:\n%s", want, text)
		}
	}
	if got, want := Formula(μ), "μ_d = Σ_{lanes} Σᵢ x_{id}"; got != want {
		t.Errorf("formula %s, want %s", got, want)
	}
	if got, want := LaTeX(μ), `\mu_{d} = \sum_{\mathrm{lanes}} \sum_{i} x_{id}`; got != want {
		t.Errorf("LaTeX %s, want %s", got, want)
	}
}

// TestLanesInDrawings: a sum over lanes has a sign and a box of its own; a copy to all lanes has none.
func TestLanesInDrawings(t *testing.T) {
	s := sketchOf(t, "norm-batch", builders.Settings{"global": 1}, false)
	texts, _ := drawnSigns(s)
	if want := "Σ lanes | μ"; !slices.Contains(texts, want) {
		t.Errorf("the sketch lacks a sign %s: %q", want, texts)
	}
	if got := strings.Join(texts, ", "); strings.Contains(strings.ToLower(got), "ranks") {
		t.Errorf("the sketch names an operation: %s", got)
	}
	m, err := builders.Build("norm-batch", builders.Settings{"global": 1}, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Draw([]*graph.Node{m.Loss})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.Nodes, func(b figure.Node) bool {
		return strings.HasPrefix(b.Title, "μ_c = Σ_{lanes}") && b.Role == figure.Reduce
	}) {
		t.Error("the drawing has no box of μ that combines")
	}
	if !slices.ContainsFunc(f.Signs, func(s string) bool { return strings.Contains(s, "sum over lanes") }) {
		t.Errorf("the legend does not say what a sum over lanes is: %q", f.Signs)
	}
}
