package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
)

// What the examples of models are drawn with.

// normals draws independent standard normal numbers of a type.
func normals(rng *rand.Rand, t graph.Type) graph.Value {
	return drawn(t, rng.NormFloat64)
}

// choices draws whole numbers below n.
func choices(rng *rand.Rand, t graph.Type, n int) graph.Value {
	return drawn(t, func() float64 { return float64(rng.IntN(n)) })
}

// drawn fills an array, element by element, rounded to its type.
func drawn(t graph.Type, next func() float64) graph.Value {
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = t.DType.Round(next())
	}
	return v
}

// computed is an array whose elements are a function of their place in it.
func computed(t graph.Type, f func(i int) float64) graph.Value {
	i := -1
	return drawn(t, func() float64 { i++; return f(i) })
}

// bernoulli draws ones with probability p, and zeros.
func bernoulli(rng *rand.Rand, t graph.Type, p float64) graph.Value {
	return drawn(t, func() float64 {
		if rng.Float64() < p {
			return 1
		}
		return 0
	})
}
