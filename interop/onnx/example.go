package onnx

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// examples returns a function that draws a value for each input: normal numbers, indices within the
// axis that they index, masks that let all pass, and what the file says of draws.
func (f *File) examples(m *builders.Model) func(*rand.Rand) graph.Values {
	type source struct {
		n    *graph.Node
		next func(rng *rand.Rand) float64
	}
	var sources []source
	places := bounds(m)
	for _, n := range m.Inputs() {
		n := n
		s := source{n, (*rand.Rand).NormFloat64}
		name := strings.ToLower(n.Path())
		law, drawn := f.meta.draws[n.Path()]
		switch {
		case drawn:
			s.next = law.next
		case n.DType() == graph.Bool, strings.Contains(name, "mask") && n.DType().IsInt():
			s.next = func(*rand.Rand) float64 { return 1 }
		case n.DType().IsInt():
			most := 2
			if p, ok := places[n]; ok {
				most = p
			}
			s.next = func(rng *rand.Rand) float64 { return float64(rng.IntN(most)) }
		}
		sources = append(sources, s)
	}
	return func(rng *rand.Rand) graph.Values {
		out := graph.Values{}
		for _, s := range sources {
			v := graph.NewValue(s.n.Type())
			for i := range v.Data {
				v.Data[i] = s.n.DType().Round(s.next(rng))
			}
			out[s.n] = v
		}
		return out
	}
}

// next draws by a law.
func (d draw) next(rng *rand.Rand) float64 {
	switch d.Law {
	case "normal":
		return rng.NormFloat64()
	case "truncated":
		for {
			if v := rng.NormFloat64(); v >= d.Lo && v <= d.Hi {
				return v
			}
		}
	case "gumbel":
		return -math.Log(rng.ExpFloat64())
	case "whole":
		return d.Lo + math.Floor(rng.Float64()*(d.Hi-d.Lo))
	}
	return rng.Float64()
}

// bounds returns, for inputs of integers that become indices, the size of the smallest axis that
// they index, through whatever computes integers of integers of the same size.
func bounds(m *builders.Model) map[*graph.Node]int {
	out := map[*graph.Node]int{}
	var back func(n *graph.Node, size int, depth int)
	back = func(n *graph.Node, size, depth int) {
		if depth == 0 || !n.DType().IsInt() {
			return
		}
		if n.Role() == graph.RoleInput {
			if old, ok := out[n]; !ok || size < old {
				out[n] = size
			}
			return
		}
		for _, x := range n.Inputs() {
			back(x, size, depth-1)
		}
	}
	const far = 16
	for _, n := range graph.Reachable(m.Output, m.Loss) {
		if op, ok := n.Op().(trait.Indexing); ok {
			if i, size := op.Places(n); size > 0 && i < n.NumIn() {
				back(n.In(i), size, far)
			}
		}
	}
	return out
}
