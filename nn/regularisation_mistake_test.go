package nn_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/augment"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestRegularisedMistakes are clear and never panic.
func TestRegularisedMistakes(t *testing.T) {
	layertest.Refuse(t, []layertest.Refusal{
		{Model: "dropout", Settings: builders.Settings{"p": 1.5}, Want: "dropout: p = 1.5: want a number from 0 to 1"},
		{Model: "dropout", Settings: builders.Settings{"depth": 1e9}, Want: "depth = 1000000000: want at most 1000"},
		{Model: "label-smoothing", Settings: builders.Settings{"epsilon": -1}, Want: "epsilon = -1: want a number from 0 to 1"},
		{Model: "ensemble", Settings: builders.Settings{"members": 1e9}, Want: "members = 1000000000: want at most 1000"},
		{Model: "augment-flip", Settings: builders.Settings{"p": -0.1}, Want: "p = -0.1: want a number from 0 to 1"},
		{Model: "augment-posterise", Settings: builders.Settings{"bits": 9}, Want: "bits = 9: want a number from 0 to 8"},
		{Model: "augment-mixup", Settings: builders.Settings{"alpha": 0}, Want: "alpha = 0: want a number from 0.01 to 1000"},
		{Model: "augment-pixmix", Settings: builders.Settings{"rounds": 1000}, Want: "1000 rounds: want 0 to 100"},
		{Model: "augment-crop", Settings: builders.Settings{"window": 1 << 30}, Want: "1073741824 by 1073741824 pixels of 8 images: want 1 to 16777216 of each"},
		{Model: "augment-rotate", Settings: builders.Settings{"n": 1<<24 + 1, "size": 2}, Want: "2 by 2 pixels of 16777217 images"},
	})
}

// TestNilRegularisedOperands are recorded mistakes, and so are missing rates.
func TestNilRegularisedOperands(t *testing.T) {
	type f = func(x, s *graph.Node) *graph.Node
	for name, f := range map[string]f{
		"Dropout":         nn.Dropout,
		"DropConnect":     func(x, s *graph.Node) *graph.Node { return nn.DropConnect(nn.Linear{W: x}, s).W },
		"GaussianNoise":   nn.GaussianNoise,
		"UniformNoise":    nn.UniformNoise,
		"StochasticDepth": nn.StochasticDepth,
		"DropAt":          func(_, s *graph.Node) *graph.Node { return nn.DropAt(0, 1, s) },
		"L1Norm":          func(x, s *graph.Node) *graph.Node { return nn.L1Norm(x, s) },
		"no L1 weights":   func(_, _ *graph.Node) *graph.Node { return nn.L1Norm() },
		"SquaredNorm":     func(x, s *graph.Node) *graph.Node { return nn.SquaredNorm(x, s) },
		"no weights":      func(_, _ *graph.Node) *graph.Node { return nn.SquaredNorm() },
		"AverageOf":       func(x, s *graph.Node) *graph.Node { return nn.AverageOf(x, s) },
		"Ambiguity":       func(x, s *graph.Node) *graph.Node { return nn.Ambiguity(x, s) },
		"nothing":         func(_, _ *graph.Node) *graph.Node { return nn.Ambiguity() },
		"Ensemble":        func(x, _ *graph.Node) *graph.Node { return nn.Ensemble{nil}.Of(x) },
		"RandomFlip":      augment.RandomFlip,
		"RandomRotation":  func(x, s *graph.Node) *graph.Node { return augment.RandomRotation(x, s, s) },
		"RandomTranslation": func(x, s *graph.Node) *graph.Node {
			return augment.RandomTranslation(x, s, s)
		},
		"RandomCrop":         func(x, s *graph.Node) *graph.Node { return augment.RandomCrop(x, s, s, 2, 2) },
		"RandomAutocontrast": augment.RandomAutocontrast,
		"RandomPosterise":    func(x, s *graph.Node) *graph.Node { return augment.RandomPosterise(x, s, s) },
		"RandomCutout":       func(x, s *graph.Node) *graph.Node { return augment.RandomCutout(x, s, s) },
		"Mixup":              func(x, s *graph.Node) *graph.Node { return augment.Mixup(x, x, s, s).X },
		"CutMix":             func(x, s *graph.Node) *graph.Node { return augment.CutMix(x, x, s, s).Y },
		"PixMix":             func(x, s *graph.Node) *graph.Node { return augment.PixMix(x, x, s, s, 2) },
		"Rotate":             augment.Rotate,
		"Posterise":          augment.Posterise,
		"Translate":          func(x, s *graph.Node) *graph.Node { return augment.Translate(x, s, s) },
		"Crop":               func(x, s *graph.Node) *graph.Node { return augment.Crop(x, s, s, 2, 2) },
		"empty crop": func(x, _ *graph.Node) *graph.Node {
			return augment.Crop(x, ops.Lit(x, 0), ops.Lit(x, 0), 0, 2)
		},
		"Cutout":   func(x, s *graph.Node) *graph.Node { return augment.Cutout(x, s, s, s) },
		"Bilinear": func(x, s *graph.Node) *graph.Node { return augment.Bilinear(x, s, s) },
		"flat Flip": func(x, _ *graph.Node) *graph.Node {
			return augment.Flip(ops.Sum(x, -1))
		},
		"flat Autocontrast": func(x, _ *graph.Node) *graph.Node { return augment.Autocontrast(ops.Sum(x, -1)) },
		"RandomBeta":        func(x, s *graph.Node) *graph.Node { return augment.RandomBeta(graph.Of(x), "λ", s) },
	} {
		g := graph.New(name)
		if y := f(layertest.Image(g, 2, 4, 4, 2), nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s without a second operand: %v, no mistake", name, y)
		}
		if y := f(nil, nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s of nil: %v, no mistake", name, y)
		}
	}
}
