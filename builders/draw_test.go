package builders_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// drawing are the functions of the package that draw, on images, with a rate p.
var drawing = map[string]func(x, p *graph.Node) *graph.Node{
	"Corrupt": builders.Corrupt,
	"Missing": func(x, p *graph.Node) *graph.Node { return ops.Cast(builders.Missing(x, p), graph.F64) },
	"Negatives": func(x, _ *graph.Node) *graph.Node {
		counts := []float64{3, 1, 4, 1, 5, 9, 2, 6}
		return ops.Cast(builders.Negatives(x.Graph(), graph.F64, graph.Ax("w", 8), counts, graph.Ax("k", 40)), graph.F64)
	},
}

// TestEveryDrawIsListed: the table has every exported function of the package that draws.
func TestEveryDrawIsListed(t *testing.T) {
	found := layertest.Drawing(t, "../nn", "../nn/augment")
	if want := slices.Sorted(maps.Keys(drawing)); !slices.Equal(found, want) {
		t.Errorf("the functions that draw are %v, listed are %v", found, want)
	}
}

// TestFunctionsDrawAnew: every function that draws gives another result in each run of a VM that
// updates nothing, which is the one that the definition has there.
func TestFunctionsDrawAnew(t *testing.T) {
	for name, f := range drawing {
		g := graph.New(name)
		x := layertest.Image(g, 24, 5, 6, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		feed := graph.Values{x: layertest.Computed(x.Type(), func(int) float64 { return rng.Float64() })}
		layertest.DrawsAnew(t, name, feed, f(x, g.Scalar("p", 0.5, graph.F64)))
	}
}

// TestModelsDrawAnew: so does every model of the registry that draws, as it is trained.
func TestModelsDrawAnew(t *testing.T) {
	found := 0
	for _, b := range builders.All() {
		m := layertest.Build(t, b.Name, nil)
		if !slices.ContainsFunc(m.Graph.Nodes(), func(n *graph.Node) bool { return match.Is(n, match.Random) }) {
			continue
		}
		found++
		rng := rand.New(rand.NewPCG(4, 4))
		feed := layertest.Filled(m.Graph, rng)
		if m.Examples != nil {
			maps.Copy(feed, m.Examples(rng))
		}
		layertest.DrawsAnew(t, b.Name, feed, m.Result())
	}
	if found < 10 {
		t.Errorf("%d models draw, want those of the regularisation, augmentation and self-supervision families", found)
	}
}
