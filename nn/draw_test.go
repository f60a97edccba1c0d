package nn_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
)

// drawing are the functions of the package that draw, on images, with a rate p.
var drawing = map[string]func(feed graph.Values, x, p *graph.Node) *graph.Node{
	"Dropout":         func(_ graph.Values, x, p *graph.Node) *graph.Node { return nn.Dropout(x, p) },
	"GaussianNoise":   func(_ graph.Values, x, p *graph.Node) *graph.Node { return nn.GaussianNoise(x, p) },
	"UniformNoise":    func(_ graph.Values, x, p *graph.Node) *graph.Node { return nn.UniformNoise(x, p) },
	"StochasticDepth": func(_ graph.Values, x, p *graph.Node) *graph.Node { return nn.StochasticDepth(x, p) },
	"DropConnect": func(feed graph.Values, x, p *graph.Node) *graph.Node {
		l := nn.NewLinear(x.Graph(), "fc", graph.F64, graph.Ax("c", 1), graph.Ax("o", 20))
		feed[l.W] = layertest.Computed(l.W.Type(), func(i int) float64 { return 1 + float64(i) })
		feed[l.B] = layertest.Computed(l.B.Type(), func(int) float64 { return 0 })
		return nn.DropConnect(l, p).Of(x)
	},
}

// TestEveryDrawIsListed: the table has every exported function of the package that draws.
func TestEveryDrawIsListed(t *testing.T) {
	if found, want := layertest.Drawing(t), slices.Sorted(maps.Keys(drawing)); !slices.Equal(found, want) {
		t.Errorf("the functions that draw are %v, listed are %v", found, want)
	}
}

// TestLayersDrawAnew: every function that draws gives another result in each run of a VM that
// updates nothing, which is the one that the definition has there.
func TestLayersDrawAnew(t *testing.T) {
	for name, f := range drawing {
		g := graph.New(name)
		x := layertest.Image(g, 24, 5, 6, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		feed := graph.Values{x: layertest.Computed(x.Type(), func(int) float64 { return rng.Float64() })}
		layertest.DrawsAnew(t, name, feed, f(feed, x, g.Scalar("p", 0.5, graph.F64)))
	}
}
