package nn_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/nn"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Ambiguity": nn.Ambiguity, "AverageOf": nn.AverageOf, "BinaryCrossEntropy": nn.BinaryCrossEntropy,
			"CTC": nn.CTC, "CentreImage": nn.CentreImage, "CentrePatch": nn.CentrePatch, "CentreRange": nn.CentreRange,
			"CosineEmbedding": nn.CosineEmbedding, "CosineLoss": nn.CosineLoss, "CosineSimilarity": nn.CosineSimilarity,
			"CrossEntropy": nn.CrossEntropy, "DropAt": nn.DropAt, "DropConnect": nn.DropConnect, "Dropout": nn.Dropout,
			"GaussianNoise": nn.GaussianNoise, "GlobalAverage": nn.GlobalAverage,
			"HiddenCrossEntropy": nn.HiddenCrossEntropy, "Huber": nn.Huber, "Ignoring": nn.Ignoring,
			"InfoNCE": nn.InfoNCE, "KLDivergence": nn.KLDivergence, "MaskedSoftmax": nn.MaskedSoftmax,
			"MeanWhere": nn.MeanWhere, "NewBatchNorm": nn.NewBatchNorm, "NewConv1D": nn.NewConv1D,
			"NewConv2D": nn.NewConv2D, "NewConvTransposed2D": nn.NewConvTransposed2D, "NewDepthwise2D": nn.NewDepthwise2D,
			"NewEmbedding": nn.NewEmbedding, "NewEnsemble": nn.NewEnsemble, "NewFeedForward": nn.NewFeedForward,
			"NewFilter2D": nn.NewFilter2D, "NewFrozenLinear": nn.NewFrozenLinear, "NewGroupNorm": nn.NewGroupNorm,
			"NewConv3D": nn.NewConv3D, "NewConvTransposed1D": nn.NewConvTransposed1D, "NewConvTransposed3D": nn.NewConvTransposed3D, "NewInputNorm": nn.NewInputNorm,
			"NewInstanceNorm": nn.NewInstanceNorm, "NewLayerNorm": nn.NewLayerNorm, "NewLinear": nn.NewLinear,
			"NewLinearInit": nn.NewLinearInit, "NewProjection": nn.NewProjection, "NewRMSNorm": nn.NewRMSNorm,
			"NewScaleOnlyNorm": nn.NewScaleOnlyNorm, "NewWeightedPool": nn.NewWeightedPool, "Normed": nn.Normed,
			"PickOne": nn.PickOne, "Present": nn.Present, "ReceptiveField": nn.ReceptiveField, "Residual": nn.Residual,
			"Smoothed": nn.Smoothed, "L1Norm": nn.L1Norm, "SquaredError": nn.SquaredError, "SquaredNorm": nn.SquaredNorm,
			"StandardiseImage": nn.StandardiseImage, "StandardisePatch": nn.StandardisePatch,
			"StandardiseWeights": nn.StandardiseWeights, "StochasticDepth": nn.StochasticDepth,
			"UniformNoise": nn.UniformNoise, "Upsample": nn.Upsample, "Weighted": nn.Weighted,
		},
		Types: []any{
			*new(nn.BatchNorm), *new(nn.Conv), *new(nn.ConvTransposed), *new(nn.Embedding), *new(nn.Ensemble),
			*new(nn.FeedForward), *new(nn.GroupNorm), *new(nn.InputNorm), *new(nn.InstanceNorm), *new(nn.LayerNorm),
			*new(nn.Linear), *new(nn.RMSNorm), *new(nn.Receptives), *new(nn.Upsampling),
		},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4))
			return []any{g, x, x.Type(), x.Shape(), graph.F32, []*graph.Node{x}, "d", 2, 0.5}
		},
	})
}
