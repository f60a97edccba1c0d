package builders_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestRegularisedMistakes are clear and never panic.
func TestRegularisedMistakes(t *testing.T) {
	refuse(t, []refusal{
		{"dropout", builders.Settings{"p": 1.5}, "dropout: p = 1.5: want a number from 0 to 1"},
		{"dropout", builders.Settings{"depth": 1e9}, "depth = 1000000000: want at most 1000"},
		{"label-smoothing", builders.Settings{"epsilon": -1}, "epsilon = -1: want a number from 0 to 1"},
		{"ensemble", builders.Settings{"members": 1e9}, "members = 1000000000: want at most 1000"},
		{"augment-flip", builders.Settings{"p": -0.1}, "p = -0.1: want a number from 0 to 1"},
		{"augment-posterise", builders.Settings{"bits": 9}, "bits = 9: want a number from 0 to 8"},
		{"augment-mixup", builders.Settings{"alpha": 0}, "alpha = 0: want a number from 0.01 to 1000"},
		{"augment-pixmix", builders.Settings{"rounds": 1000}, "1000 rounds: want 0 to 100"},
		{"augment-crop", builders.Settings{"window": 1 << 30}, "1073741824 by 1073741824 pixels of 8 images: want 1 to 16777216 of each"},
		{"augment-rotate", builders.Settings{"n": 1<<24 + 1, "size": 2}, "2 by 2 pixels of 16777217 images"},
	})
}

// TestNilRegularisedOperands are recorded mistakes, and so are missing rates.
func TestNilRegularisedOperands(t *testing.T) {
	type f = func(x, s *graph.Node) *graph.Node
	for name, f := range map[string]f{
		"Dropout":         builders.Dropout,
		"DropConnect":     func(x, s *graph.Node) *graph.Node { return builders.DropConnect(builders.Linear{W: x}, s).W },
		"GaussianNoise":   builders.GaussianNoise,
		"UniformNoise":    builders.UniformNoise,
		"StochasticDepth": builders.StochasticDepth,
		"DropAt":          func(_, s *graph.Node) *graph.Node { return builders.DropAt(0, 1, s) },
		"SquaredNorm":     func(x, s *graph.Node) *graph.Node { return builders.SquaredNorm(x, s) },
		"no weights":      func(_, _ *graph.Node) *graph.Node { return builders.SquaredNorm() },
		"AverageOf":       func(x, s *graph.Node) *graph.Node { return builders.AverageOf(x, s) },
		"Ambiguity":       func(x, s *graph.Node) *graph.Node { return builders.Ambiguity(x, s) },
		"nothing":         func(_, _ *graph.Node) *graph.Node { return builders.Ambiguity() },
		"Ensemble":        func(x, _ *graph.Node) *graph.Node { return builders.Ensemble{nil}.Of(x) },
		"RandomFlip":      builders.RandomFlip,
		"RandomRotation":  func(x, s *graph.Node) *graph.Node { return builders.RandomRotation(x, s, s) },
		"RandomTranslation": func(x, s *graph.Node) *graph.Node {
			return builders.RandomTranslation(x, s, s)
		},
		"RandomCrop":         func(x, s *graph.Node) *graph.Node { return builders.RandomCrop(x, s, s, 2, 2) },
		"RandomAutocontrast": builders.RandomAutocontrast,
		"RandomPosterise":    func(x, s *graph.Node) *graph.Node { return builders.RandomPosterise(x, s, s) },
		"RandomCutout":       func(x, s *graph.Node) *graph.Node { return builders.RandomCutout(x, s, s) },
		"Mixup":              func(x, s *graph.Node) *graph.Node { return builders.Mixup(x, x, s, s).X },
		"CutMix":             func(x, s *graph.Node) *graph.Node { return builders.CutMix(x, x, s, s).Y },
		"PixMix":             func(x, s *graph.Node) *graph.Node { return builders.PixMix(x, x, s, s, 2) },
		"Rotate":             builders.Rotate,
		"Posterise":          builders.Posterise,
		"Translate":          func(x, s *graph.Node) *graph.Node { return builders.Translate(x, s, s) },
		"Crop":               func(x, s *graph.Node) *graph.Node { return builders.Crop(x, s, s, 2, 2) },
		"empty crop": func(x, _ *graph.Node) *graph.Node {
			return builders.Crop(x, ops.Lit(x, 0), ops.Lit(x, 0), 0, 2)
		},
		"Cutout":   func(x, s *graph.Node) *graph.Node { return builders.Cutout(x, s, s, s) },
		"Bilinear": func(x, s *graph.Node) *graph.Node { return builders.Bilinear(x, s, s) },
		"flat Flip": func(x, _ *graph.Node) *graph.Node {
			return builders.Flip(ops.Sum(x, -1))
		},
		"flat Autocontrast": func(x, _ *graph.Node) *graph.Node { return builders.Autocontrast(ops.Sum(x, -1)) },
		"RandomBeta":        func(x, s *graph.Node) *graph.Node { return builders.RandomBeta(graph.Of(x), "λ", s) },
	} {
		g := graph.New(name)
		if y := f(image(g, 2, 4, 4, 2), nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s without a second operand: %v, no mistake", name, y)
		}
		if y := f(nil, nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s of nil: %v, no mistake", name, y)
		}
	}
}
