package augment_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/augment"
)

// drawing are the functions of the package that draw, on images, with a strength or a rate p.
var drawing = map[string]func(a album, p *graph.Node) *graph.Node{
	"RandomBeta": func(a album, p *graph.Node) *graph.Node {
		return augment.RandomBeta(a.Graph, "λ", p, graph.Ax("k", 9))
	},
	"RandomFlip":         augmentations["flip"],
	"RandomRotation":     augmentations["rotate"],
	"RandomTranslation":  augmentations["translate"],
	"RandomCrop":         augmentations["crop"],
	"RandomAutocontrast": augmentations["autocontrast"],
	"RandomPosterise":    augmentations["posterise"],
	"RandomCutout":       augmentations["cutout"],
	"Mixup":              augmentations["mixup"],
	"CutMix":             augmentations["cutmix"],
	"PixMix":             augmentations["pixmix"],
}

// TestEveryDrawIsListed: the table has every exported function of the package that draws.
func TestEveryDrawIsListed(t *testing.T) {
	if found, want := layertest.Drawing(t, "../../nn"), slices.Sorted(maps.Keys(drawing)); !slices.Equal(found, want) {
		t.Errorf("the functions that draw are %v, listed are %v", found, want)
	}
}

// TestAugmentationsDrawAnew: every function that draws gives another result in each run of a VM
// that updates nothing, which is the one that the definition has there.
func TestAugmentationsDrawAnew(t *testing.T) {
	for name, f := range drawing {
		a := newAlbum(24, 5, 6, 1)
		p := a.Graph.Scalar("p", 0.5, graph.F64)
		layertest.DrawsAnew(t, name, a.feed, f(a, p))
	}
}
