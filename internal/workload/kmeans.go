package workload

import (
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// kmeans is a model of the registry of builders for n points in d dimensions and
// k centres, with γ = 0.05.
func kmeans(model string, n, d, k int, rate float64) build {
	return func(b *builder) (*graph.Node, float64) {
		settings := builders.Settings{"n": float64(n), "d": float64(d), "k": float64(k), "gamma": 0.05}
		m, err := builders.Build(model, settings, b.dt)
		if err != nil {
			panic(err) // the settings above are right
		}
		b.Graph = m.Graph
		b.feed(m.Points(), values(1, n*d, 1))
		b.start(m.Centres(), func() []float64 { return values(2, k*d, 1) })
		return m.Loss, rate
	}
}
