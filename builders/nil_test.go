package builders_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"All": builders.All, "Build": builders.Build, "CharacterGPT": builders.CharacterGPT,
			"CharacterLSTM": builders.CharacterLSTM, "Components": builders.Components, "Corrupt": builders.Corrupt,
			"Define": builders.Define, "Euler": builders.Euler, "Families": builders.Families,
			"GoofyKMeans": builders.GoofyKMeans, "HardKMeans": builders.HardKMeans, "Lasso": builders.Lasso,
			"LeastNorm": builders.LeastNorm, "LeastSquares": builders.LeastSquares, "Lloyd": builders.Lloyd, "Lookup": builders.Lookup,
			"Missing": builders.Missing, "MissingSquaredError": builders.MissingSquaredError, "Names": builders.Names,
			"Negatives": builders.Negatives, "NewAutoencoder": builders.NewAutoencoder,
			"NewBottleneck": builders.NewBottleneck, "NewStagedResNet": builders.NewStagedResNet,
			"NewConvNeXt": builders.NewConvNeXt, "NewConvNeXtBlock": builders.NewConvNeXtBlock,
			"NewEncoder": builders.NewEncoder, "NewField": builders.NewField, "NewLanguageModel": builders.NewLanguageModel,
			"NewLinearAutoencoder": builders.NewLinearAutoencoder, "NewMaskedAutoencoder": builders.NewMaskedAutoencoder,
			"NewMaskedModel": builders.NewMaskedModel, "NewReLU1D": builders.NewReLU1D, "NewResNet": builders.NewResNet,
			"NewResNetBlock": builders.NewResNetBlock, "NewSkipGram": builders.NewSkipGram,
			"NewTextCNN": builders.NewTextCNN, "NewTransformer": builders.NewTransformer, "NewUNet": builders.NewUNet,
			"Perceptron": builders.Perceptron, "ReconstructionError": builders.ReconstructionError,
			"Ridge": builders.Ridge, "RidgeFeatures": builders.RidgeFeatures,
			"RidgeObservations": builders.RidgeObservations, "Separated": builders.Separated,
			"SoftKMeans": builders.SoftKMeans, "Spread": builders.Spread, "SqDistances": builders.SqDistances,
			"SubspaceStep": builders.SubspaceStep, "WeightedLeastSquares": builders.WeightedLeastSquares,
		},
		Types: []any{
			builders.KMeans{},
			*new(builders.AsNotes), *new(builders.Autoencoder), *new(builders.Builder), *new(builders.ConvNeXt), *new(builders.ConvNeXtBlock),
			*new(builders.Field), *new(builders.Hyperparameter), *new(builders.Kind), *new(builders.LanguageModel),
			*new(builders.MaskedAutoencoder), *new(builders.MaskedModel), *new(builders.Model), *new(builders.ReLU1D),
			*new(builders.RecurrentLanguageModel), *new(builders.ResNet), *new(builders.ResNetBlock),
			*new(builders.Settings), *new(builders.SkipGram), *new(builders.TextCNN), *new(builders.Transformer),
			*new(builders.UNet),
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			m, err := builders.Build("kmeans-softmax", nil, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			return []any{g, x, m, x.Type(), x.Shape(), graph.F32, rand.New(rand.NewPCG(1, 2)), []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
