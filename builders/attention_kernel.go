package builders

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

var kernelAttention = Builder{
	Name:    "attention-kernel",
	Title:   "attention by a kernel function",
	Notes:   "attention in bidirectional RNNs: relevance as an inner product or a kernel function",
	Formula: "αₜᵢ = softmaxᵢ(−γ‖qₜ − kᵢ‖²), γ = exp(g);  yₜ = Σᵢ αₜᵢ vᵢ",
	Hyperparameters: []Hyperparameter{
		sizeBatch, {Name: "i", Default: 12, Doc: "pairs of a key and a value", Kind: Count}, {Name: "t", Default: 6, Doc: "queries", Kind: Count},
		{Name: "d", Default: 2, Doc: "features of a key", Kind: Count}, {Name: "f", Default: 1, Doc: "features of a value", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, value := m.Graph, s.ax("f")
		q, k := g.Input("q", dt, s.ax("b"), s.ax("t"), s.ax("d")), g.Input("k", dt, s.ax("b"), s.ax("i"), s.ax("d"))
		v, target := g.Input("v", dt, s.ax("b"), s.ax("i"), value), g.Input("target", dt, s.ax("b"), s.ax("t"), value)
		γ := ops.Exp(g.Param("g", dt).Init(initial.Fill(-3))).As("γ") // positive whatever g is
		y, _ := attention.AttendKernel(q, k, v, γ, nil)
		m.Output = y.As("y")
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{q: normals(rng, q.Type()), k: normals(rng, k.Type())}
			// A value is the sign of its key's first feature: near keys have equal values.
			side := func(keys graph.Value, t graph.Type) graph.Value {
				return build.Computed(t, func(p int) float64 { return math.Copysign(1, keys.Data[p/s.Int("f")*s.Int("d")]) })
			}
			f[v], f[target] = side(f[k], v.Type()), side(f[q], target.Type())
			return f
		}
	},
}
