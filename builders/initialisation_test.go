package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestVarianceFromLayerToLayer: what He's initialisation is to ReLU, Xavier's is to
// the identity: it keeps the spread; the other one shrinks it, or lets it grow, by a
// factor of √2 a layer. An orthogonal matrix keeps it almost to the digit.
func TestVarianceFromLayerToLayer(t *testing.T) {
	const layers, width = 8, 256
	for _, c := range []struct {
		activation, weights string
		ratio, within       float64 // of the last layer's spread and the first's
	}{
		{"relu", "he", 1, 0.25},
		{"relu", "he-uniform", 1, 0.25},
		{"relu", "xavier", math.Pow(2, -(layers-1)/2.), 0.25},
		{"relu", "orthogonal", math.Pow(2, -(layers-1)/2.), 0.25},
		{"linear", "xavier", 1, 0.15},
		{"linear", "xavier-with-bias", 1, 0.15},
		{"linear", "glorot", 1, 0.15},
		{"linear", "glorot-uniform", 1, 0.15},
		{"linear", "orthogonal", 1, 1e-12},
		{"linear", "he", math.Pow(2, (layers-1)/2.), 0.15},
		{"tanh", "xavier", tanhShrinks(layers), 0.1},
		{"tanh", "small", math.Pow(0.16, layers-1), 0.2},
	} {
		m := layertest.Build(t, "init", builders.Settings{"n": 64, "d": width, "layers": layers,
			"activation": layertest.Choice(t, "init", "activation", c.activation), "weights": layertest.Choice(t, "init", "weights", c.weights)})
		σ := layertest.Outcome(t, tape.NewStore(m.Graph, tape.Seed(5)), m.Output, m.Examples(rand.New(rand.NewPCG(1, 1))))
		if got := σ[layers-1] / σ[0]; len(σ) != layers || math.Abs(got/c.ratio-1) > c.within {
			t.Errorf("%s with %s: spreads %.3g, the last %v of the first, want %v", c.activation, c.weights, σ, got, c.ratio)
		}
	}
}

// tanhShrinks is how the spread of normal numbers falls from the first to the last of
// a number of layers that add up tanh z of them with variance 1/(fan in), by
// integration over the normal density: tanh z lies a little nearer to 0 than z.
func tanhShrinks(layers int) float64 {
	variance := 1.0
	for range layers - 1 {
		next, h := 0.0, 1e-3
		for z := -8.0; z < 8; z += h {
			y := math.Tanh(math.Sqrt(variance) * z)
			next += h * y * y * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		}
		variance = next
	}
	return math.Sqrt(variance)
}

// TestBiasRules: a bias starts as its rule says, and xavier-with-bias draws weights of
// variance 1/(d + 1).
func TestBiasRules(t *testing.T) {
	const d = 99
	for _, c := range []struct {
		bias string
		want initial.Init
	}{
		{"zero", initial.Zeros()}, {"weight", initial.Normal(0, 0.1)}, {"hundredth", initial.Fill(0.01)}, {"random", initial.Normal(0, 0.01)},
	} {
		m := layertest.Build(t, "init", builders.Settings{"d": d, "bias": layertest.Choice(t, "init", "bias", c.bias), "weights": layertest.Choice(t, "init", "weights", "xavier-with-bias")})
		if got := m.Graph.Lookup("layer2/b").Initialiser(); got != c.want {
			t.Errorf("%s: biases start as %v, want %v", c.bias, got, c.want)
		}
		if got := m.Graph.Lookup("layer2/w").Initialiser(); got != initial.Normal(0, 0.1) {
			t.Errorf("weights start as %v", got)
		}
	}
}
