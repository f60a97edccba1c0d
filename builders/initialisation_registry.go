package builders

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// initialisation: how parameters start.
var initialisation = []Builder{initialised}

// namesOf lists names for a setting's choices.
func namesOf[T any](of []T, name func(T) string) []string {
	out := make([]string, len(of))
	for i, x := range of {
		out[i] = name(x)
	}
	return out
}

var initialised = Builder{
	Name:    "init",
	Title:   "deep net from its initialisation",
	Notes:   "initialisation: Xavier, He, and the biases",
	Formula: "zₗ = hₗ₋₁·Wₗ + bₗ, hₗ = φ(zₗ);  σₗ = √mean zₗ²;  loss = meanᵢ (hᵢ·w + b − yᵢ)²",
	Hyperparameters: []Hyperparameter{
		{Name: "n", Default: 16, Doc: "observations in a batch", Kind: Count},
		{Name: "d", Default: 8, Doc: "width of every layer", Kind: Count},
		{Name: "layers", Default: 4, Doc: "layers before the last", Kind: Count},
		{Name: "activation", Doc: "φ", Kind: Choice, Choices: namesOf(activations, func(a activation) string { return a.name })},
		{Name: "weights", Default: 1, Doc: "how weights start", Kind: Choice, Choices: namesOf(weightRules, func(r rule) string { return r.name })},
		{Name: "bias", Doc: "how biases start", Kind: Choice, Choices: namesOf(biasRules, func(r rule) string { return r.name })},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, i, width := m.Graph, graph.Ax("i", s.Int("n")), s.Int("d")
		in := graph.Ax("d", width)
		x, y := g.Input("x", dt, i, in), g.Input("y", dt, i)
		weights, bias := weightRules[s.Int("weights")].init(width), biasRules[s.Int("bias")].init(width)
		layers := make([]nn.Linear, m.atMost("layers", s.Int("layers"), mostLayers))
		for l := range layers {
			out := graph.Ax(fmt.Sprintf("u%d", l+1), width)
			layers[l] = nn.NewLinearInit(g, fmt.Sprintf("layer%d", l+1), dt, in, out, weights, bias)
			in = out
		}
		h, σ := Perceptron(x, layers, activations[s.Int("activation")].of)
		last := nn.NewLinearInit(g, "last", dt, in, graph.Ax("out", 1), weights, bias)
		ŷ := ops.Squeeze(last.Of(h), -1).As("ŷ")
		m.Output, m.Loss = σ, nn.SquaredError(ŷ, y).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			xs := normals(rng, x.Type())
			return graph.Values{x: xs, y: build.Computed(y.Type(), func(i int) float64 { return math.Tanh(2 * xs.Data[i*width]) })}
		}
	},
}
