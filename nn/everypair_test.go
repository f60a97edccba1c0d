package nn_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
)

// TestPairsWithoutNames: what builders make of all pairs of two lists they make of lists without
// names as well.
func TestPairsWithoutNames(t *testing.T) {
	for _, unit := range []graph.Axis{{Size: 5}, graph.Ax("h", 5), {Size: 3}} {
		for _, axes := range [][]graph.Axis{graph.Dims(2, 3), {graph.Ax("b", 2), graph.Ax("t", 3)}} {
			g := graph.New("pairs")
			x, list := g.Input("x", graph.F64, axes...), g.Input("list", graph.F64, axes[1])
			counts := make([]float64, unit.Size)
			for w := range counts {
				counts[w] = 1
			}
			for _, c := range []struct {
				name string
				make func() *graph.Node
				want []int
			}{
				{"ReLU1D", func() *graph.Node { return builders.NewReLU1D(g, graph.F64, unit).Of(list) }, []int{3}},
				{"IIR", func() *graph.Node { return rnn.NewIIR(g, graph.F64, unit).Of(x) }, []int{2, 3}},
				{"Sinusoidal", func() *graph.Node {
					return attention.Sinusoidal(g, graph.F64, axes[1], graph.Axis{Name: unit.Name, Size: 4})
				}, []int{3, 4}},
				{"Present", func() *graph.Node { return nn.Present(list, unit) }, []int{3, unit.Size}},
				{"Negatives", func() *graph.Node { return builders.Negatives(g, graph.F64, unit, counts, axes...) }, []int{2, 3}},
			} {
				end := g.Scope(c.name)
				y := c.make()
				end()
				if !y.IsValid() || !slices.Equal(y.Shape().Sizes(), c.want) {
					t.Errorf("%s of %v with %v: %v, want sizes %v", c.name, axes, unit, y, c.want)
				}
			}
			if err := g.Err(); err != nil {
				t.Error(err)
			}
		}
	}
}
