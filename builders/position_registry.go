package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// position: order for models that have no sense of it.
var position = []Builder{positionAdded, positionConcatenated, positionLearned, positionRotation, positionRotary}

var sizePlaces = []Hyperparameter{sizeBatch, {Name: "t", Default: 6, Doc: "places of a sequence", Kind: Count}, sizeWidth}

// placed makes a model of an encoding of places: a linear map reads it from x[b t m]
// and the places together. The task is to give the first feature of x and the cosine
// of the place: one from the content, one from the order.
func placed(encode func(g *graph.Graph, s Settings, x *graph.Node) *graph.Node) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		g := m.Graph
		x := g.Input("x", dt, s.ax("b"), s.ax("t"), s.ax("m"))
		target := g.Input("target", dt, s.ax("b"), s.ax("t"), graph.Ax("o", 1))
		both := encode(g, s, x).As("x′")
		m.Output = nn.NewLinear(g, "read", dt, build.Last(both), graph.Ax("o", 1)).Of(both).As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{x: normals(rng, x.Type())}
			f[target] = build.Computed(target.Type(), func(p int) float64 {
				return f[x].Data[p*s.Int("m")] + math.Cos(float64(p%s.Int("t")))
			})
			return f
		}
	}
}

var positionAdded = Builder{
	Name:            "position-added",
	Title:           "sinusoidal positions, added",
	Notes:           "positional encoding: input and position added together",
	Formula:         "PE(t, 2i) = sin(t/10000^(2i/m)), PE(t, 2i+1) = cos(t/10000^(2i/m));  xₜ + PE(t)",
	Hyperparameters: sizePlaces,
	make: placed(func(g *graph.Graph, s Settings, x *graph.Node) *graph.Node {
		return attention.AddPositions(x, attention.Sinusoidal(g, build.DType(x), s.ax("t"), s.ax("m")))
	}),
}

var positionConcatenated = Builder{
	Name:            "position-concatenated",
	Title:           "sinusoidal positions, concatenated",
	Notes:           "positional encoding: the input and where it was, side by side",
	Formula:         "PE(t, 2i) = sin(t/10000^(2i/m)), PE(t, 2i+1) = cos(t/10000^(2i/m));  [xₜ; PE(t)]",
	Hyperparameters: sizePlaces,
	make: placed(func(g *graph.Graph, s Settings, x *graph.Node) *graph.Node {
		return attention.ConcatPositions(x, attention.Sinusoidal(g, build.DType(x), s.ax("t"), s.ax("m")), "xp")
	}),
}

var positionLearned = Builder{
	Name:            "position-learned",
	Title:           "learned positions",
	Notes:           "positional encoding: variations of it",
	Formula:         "xₜ + pₜ",
	Hyperparameters: sizePlaces,
	make: placed(func(g *graph.Graph, s Settings, x *graph.Node) *graph.Node {
		return attention.AddPositions(x, attention.NewPositions(g, "p", build.DType(x), s.ax("t"), s.ax("m")))
	}),
}

var positionRotation = Builder{
	Name:    "position-rotation",
	Title:   "advancing the hands of the clock",
	Notes:   "positional encoding: a matrix turns the hands, and can be learnt",
	Formula: "PE(t + k) = PE(t)·R(k);  loss = mean (PE(t)·W − PE(t + k))²",
	Hyperparameters: []Hyperparameter{
		{Name: "i", Default: 16, Doc: "times in a batch", Kind: Count}, {Name: "m", Default: 6, Doc: "features of the encoding, two a hand", Kind: Count},
		{Name: "k", Default: 3, Doc: "steps to go on"},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, from, to := m.Graph, s.ax("m"), graph.Ax("m′", s.Int("m"))
		t := g.Input("t", dt, s.ax("i"))
		now := attention.SinusoidalAt(t, from)
		m.Output = ops.MatMul(now, attention.Rotation(g, dt, from, to, s["k"])).As("PE′")
		m.Loss = nn.SquaredError(nn.NewProjection(g, "learnt", dt, from, to).Of(now).As("y"), m.Output).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			return graph.Values{t: build.Drawn(t.Type(), func() float64 { return float64(rng.IntN(1000)) })}
		}
	},
}

var positionRotary = Builder{
	Name:            "position-rotary",
	Title:           "rotary positions",
	Notes:           "positional encoding: an absolute encoding that is friendly to relative queries",
	Formula:         "qₜ = xₜW_q + b_q, kᵤ = xᵤW_k + b_k;  eₜᵤ = ⟨R(t)qₜ, R(u)kᵤ⟩;  y = softmaxᵤ(e)x",
	Hyperparameters: []Hyperparameter{sizeBatch, {Name: "t", Default: 6, Doc: "places of a sequence", Kind: Count}, {Name: "m", Default: 4, Doc: "features of a query, two a hand", Kind: Count}},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, t := m.Graph, s.ax("t")
		x, target := g.Input("x", dt, s.ax("b"), t, s.ax("m")), g.Input("target", dt, s.ax("b"), t, s.ax("m"))
		// A score depends on what stands at two places and on their distance, not on where they are.
		turned := func(name, as string) *graph.Node {
			p := nn.NewLinear(g, name, dt, s.ax("m"), graph.Ax("d", s.Int("m"))).Of(x).As(as)
			return attention.Rotary(p, build.Counting(g, dt, t)).As("R" + as)
		}
		y, _ := attention.Pool(attention.Scores(turned("query", "q"), turned("key", "k")), x, nil)
		m.Output = y.As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			// The first feature is −1 or 1 and asks for a neighbour, the one before or the one after.
			// The target is x there; at an end, where there is none, x itself.
			f := graph.Values{x: normals(rng, x.Type())}
			n, d, v := s.Int("t"), s.Int("m"), f[x].Data
			for p := 0; p < len(v); p += d {
				v[p] = math.Copysign(1, v[p])
			}
			f[target] = build.Computed(target.Type(), func(p int) float64 {
				by := int(v[p-p%d])
				if at := p/d%n + by; at >= 0 && at < n {
					p += by * d
				}
				return v[p]
			})
			return f
		}
	},
}
