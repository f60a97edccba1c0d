package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
)

// Draws for the examples of models.

// normals draws independent standard normal numbers of a type.
func normals(rng *rand.Rand, t graph.Type) graph.Value {
	return build.Drawn(t, rng.NormFloat64)
}

// choices draws whole numbers below n.
func choices(rng *rand.Rand, t graph.Type, n int) graph.Value {
	return build.Drawn(t, func() float64 { return float64(rng.IntN(n)) })
}

// bernoulli draws ones with probability p, and zeros.
func bernoulli(rng *rand.Rand, t graph.Type, p float64) graph.Value {
	return build.Drawn(t, func() float64 {
		if rng.Float64() < p {
			return 1
		}
		return 0
	})
}
