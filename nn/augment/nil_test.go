package augment_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/nn/augment"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Autocontrast": augment.Autocontrast, "Bilinear": augment.Bilinear, "Crop": augment.Crop,
			"CutMix": augment.CutMix, "Cutout": augment.Cutout, "Flip": augment.Flip, "Mixup": augment.Mixup,
			"PixMix": augment.PixMix, "Posterise": augment.Posterise, "RandomAutocontrast": augment.RandomAutocontrast,
			"RandomBeta": augment.RandomBeta, "RandomCrop": augment.RandomCrop, "RandomCutout": augment.RandomCutout,
			"RandomFlip": augment.RandomFlip, "RandomPosterise": augment.RandomPosterise,
			"RandomRotation": augment.RandomRotation, "RandomTranslation": augment.RandomTranslation,
			"Rotate": augment.Rotate, "Translate": augment.Translate,
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			return []any{g, x, x.Type(), x.Shape(), graph.F32, []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
