package builders_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// TestResidualGraphNets: where the layers add nothing, a residual net leaves its nodes as they are,
// or their norms, by node or over the whole graph; a plain net has nothing left of them. Numbering
// the nodes otherwise numbers the scores otherwise, whatever is added.
func TestResidualGraphNets(t *testing.T) {
	const n, h = 5, 4
	for _, norm := range []string{"none", "node", "graph"} {
		for residual := range 2 {
			m := layertest.Build(t, "graph-message-passing", builders.Settings{"n": n, "c": h, "h": h, "depth": 3, "residual": float64(residual),
				"norm": layertest.Choice(t, "graph-message-passing", "norm", norm)})
			g := m.Graph
			rng := rand.New(rand.NewPCG(5, 1))
			feed := layertest.Filled(g, rng)
			for in, v := range m.Examples(rng) {
				feed[in] = v
			}
			scores := layertest.Values(t, feed, m.Output)[0].Data

			renumbered, order := maps.Clone(feed), rng.Perm(n)
			x, A, classes := g.Lookup("x"), g.Lookup("A"), m.Output.Dim(1)
			renumbered[x] = layertest.Computed(x.Type(), func(p int) float64 { return feed[x].Data[order[p/h]*h+p%h] })
			renumbered[A] = layertest.Computed(A.Type(), func(p int) float64 { return feed[A].Data[order[p/n]*n+order[p%n]] })
			want := make([]float64, len(scores))
			for p := range want {
				want[p] = scores[order[p/classes]*classes+p%classes]
			}
			layertest.Same(t, norm+", numbered otherwise", layertest.Values(t, renumbered, m.Output)[0].Data, want)

			for _, p := range g.Leaves(graph.RoleParam) {
				switch {
				case strings.HasPrefix(p.Path(), "layer"):
					feed[p] = graph.NewValue(p.Type())
				case strings.HasSuffix(p.Path(), "/gain"):
					feed[p] = layertest.Computed(p.Type(), func(int) float64 { return 1 })
				case strings.HasSuffix(p.Path(), "/bias"):
					feed[p] = graph.NewValue(p.Type())
				}
			}
			left := slices.Clone(feed[x].Data)
			if residual == 0 {
				clear(left)
			}
			group := map[string]int{"none": 0, "node": h, "graph": n * h}[norm]
			for range 3 {
				for from := 0; group > 0 && from < n*h; from += group {
					standardise(left[from:][:group])
				}
			}
			out, d := feed[g.Lookup("out/w")].Data, feed[g.Lookup("out/b")].Data
			for p := range want {
				want[p] = d[p%classes]
				for k := range h {
					want[p] += left[p/classes*h+k] * out[k*classes+p%classes]
				}
			}
			layertest.Same(t, fmt.Sprintf("norm %s, residual %d, layers that add nothing", norm, residual), layertest.Values(t, feed, m.Output)[0].Data, want)
		}
	}
}

// standardise gives x mean 0 and variance 1.
func standardise(x []float64) {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i, v := range x {
		x[i] = (v - mean) / math.Sqrt(variance+1e-5)
	}
}
