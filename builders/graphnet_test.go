package builders_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
)

// TestPoolsByTopology: on every topology the clusters are those that the matching computes of the
// adjacency matrix, and the links between clusters the means of those between their nodes.
func TestPoolsByTopology(t *testing.T) {
	const n = 6
	for kind, want := range [][]int{{0, 0, 1, 1, 2, 2}, {0, 0, 1, 1, 2, 2}, {0, 1, 2, 1, 3, 2}} {
		m := layertest.Build(t, "graph-pool-fixed", builders.Settings{"graph": float64(kind), "n": n})
		feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(1, 1)))
		out := layertest.Values(t, feed, m.Graph.Lookup("A"), m.Graph.Lookup("cluster"), m.Graph.Lookup("A′"))
		A := out[0].Data
		computed, err := graphnet.Matching(A, n)
		if err != nil {
			t.Fatal(err)
		}
		var clusters []int
		for _, c := range out[1].Data {
			clusters = append(clusters, int(c))
		}
		if !slices.Equal(clusters, want) || !slices.Equal(computed, want) {
			t.Errorf("graph %d has clusters %v, and %v by the matching, want %v", kind, clusters, computed, want)
		}
		count := slices.Max(want) + 1
		size, coarse := make([]float64, count), make([]float64, count*count)
		for _, c := range want {
			size[c]++
		}
		for p, a := range A {
			c, d := want[p/n], want[p%n]
			coarse[c*count+d] += a / size[c] / size[d]
		}
		layertest.Same(t, fmt.Sprintf("links of graph %d", kind), out[2].Data, coarse)
	}
	for n := 1; n < 4; n++ { // the smallest
		for kind := range 3 {
			m, err := builders.Build("graph-pool-fixed", builders.Settings{"graph": float64(kind), "n": float64(n)}, graph.F64)
			if err != nil || len(m.Examples(rand.New(rand.NewPCG(1, 1)))) != 2 {
				t.Errorf("graph %d of %d nodes: %v", kind, n, err)
			}
		}
	}
}
