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
			"AddPositions": builders.AddPositions, "Advance": builders.Advance, "All": builders.All,
			"Ambiguity": builders.Ambiguity, "Attend": builders.Attend,
			"AttendBidirectional": builders.AttendBidirectional, "AttendKernel": builders.AttendKernel,
			"AttendStates": builders.AttendStates, "Autocontrast": builders.Autocontrast,
			"AverageOf": builders.AverageOf, "Bilinear": builders.Bilinear,
			"BinaryCrossEntropy": builders.BinaryCrossEntropy, "Build": builders.Build, "Causal": builders.Causal,
			"CentreImage": builders.CentreImage, "CentrePatch": builders.CentrePatch,
			"CentreRange": builders.CentreRange, "CharacterGPT": builders.CharacterGPT,
			"CharacterLSTM": builders.CharacterLSTM, "Chebyshev": builders.Chebyshev, "Clock": builders.Clock,
			"Clusters": builders.Clusters, "Coarsen": builders.Coarsen, "Components": builders.Components,
			"ConcatPositions": builders.ConcatPositions, "Corrupt": builders.Corrupt,
			"CosineEmbedding": builders.CosineEmbedding, "CosineLoss": builders.CosineLoss,
			"CosineSimilarity": builders.CosineSimilarity, "Crop": builders.Crop, "CrossEntropy": builders.CrossEntropy,
			"CutMix": builders.CutMix, "Cutout": builders.Cutout, "Deep": builders.Deep, "Define": builders.Define,
			"Distances": builders.Distances, "DropAt": builders.DropAt, "DropConnect": builders.DropConnect,
			"Dropout": builders.Dropout, "Euler": builders.Euler, "Families": builders.Families, "Flip": builders.Flip,
			"GaussianNoise": builders.GaussianNoise, "GlobalAverage": builders.GlobalAverage,
			"GoofyKMeans": builders.GoofyKMeans, "HardKMeans": builders.HardKMeans,
			"HiddenCrossEntropy": builders.HiddenCrossEntropy, "Huber": builders.Huber, "Ignoring": builders.Ignoring,
			"InfoNCE": builders.InfoNCE, "KLDivergence": builders.KLDivergence, "Lasso": builders.Lasso,
			"LeastSquares": builders.LeastSquares, "Lloyd": builders.Lloyd, "Lookup": builders.Lookup,
			"MaskedSoftmax": builders.MaskedSoftmax, "MeanWhere": builders.MeanWhere, "Missing": builders.Missing,
			"MissingSquaredError": builders.MissingSquaredError, "Mixup": builders.Mixup, "Names": builders.Names,
			"Negatives": builders.Negatives, "NewAdditiveScore": builders.NewAdditiveScore,
			"NewAutoencoder": builders.NewAutoencoder, "NewBatchNorm": builders.NewBatchNorm,
			"NewConv1D": builders.NewConv1D, "NewConv2D": builders.NewConv2D, "NewConvNeXt": builders.NewConvNeXt,
			"NewConvNeXtBlock": builders.NewConvNeXtBlock, "NewConvReader": builders.NewConvReader,
			"NewConvTransposed2D": builders.NewConvTransposed2D, "NewDecoder": builders.NewDecoder,
			"NewDecoderBlock": builders.NewDecoderBlock, "NewDepthwise2D": builders.NewDepthwise2D,
			"NewDiffPool": builders.NewDiffPool, "NewEmbedding": builders.NewEmbedding,
			"NewEncoder": builders.NewEncoder, "NewEncoderBlock": builders.NewEncoderBlock,
			"NewEnsemble": builders.NewEnsemble, "NewFIR": builders.NewFIR, "NewFeedForward": builders.NewFeedForward,
			"NewField": builders.NewField, "NewFilter2D": builders.NewFilter2D,
			"NewFrozenLinear": builders.NewFrozenLinear, "NewGAT": builders.NewGAT, "NewGATHead": builders.NewGATHead,
			"NewGCN": builders.NewGCN, "NewGRU": builders.NewGRU, "NewGates": builders.NewGates,
			"NewGraphFilter": builders.NewGraphFilter, "NewGroupNorm": builders.NewGroupNorm,
			"NewGroupedConv2D": builders.NewGroupedConv2D, "NewIIR": builders.NewIIR,
			"NewInputNorm": builders.NewInputNorm, "NewInstanceNorm": builders.NewInstanceNorm,
			"NewLSTM": builders.NewLSTM, "NewLanguageModel": builders.NewLanguageModel,
			"NewLayerNorm": builders.NewLayerNorm, "NewLinear": builders.NewLinear,
			"NewLinearAutoencoder": builders.NewLinearAutoencoder,
			"NewMaskedAutoencoder": builders.NewMaskedAutoencoder, "NewMaskedModel": builders.NewMaskedModel,
			"NewMessagePassing": builders.NewMessagePassing, "NewMultiHead": builders.NewMultiHead,
			"NewMultiplicativeScore": builders.NewMultiplicativeScore, "NewPositions": builders.NewPositions,
			"NewProjection": builders.NewProjection, "NewQKV": builders.NewQKV, "NewQueryNorm": builders.NewQueryNorm,
			"NewRMSNorm": builders.NewRMSNorm, "NewRNN": builders.NewRNN, "NewReLU1D": builders.NewReLU1D,
			"NewResNet": builders.NewResNet, "NewResNetBlock": builders.NewResNetBlock,
			"NewScaleOnlyNorm": builders.NewScaleOnlyNorm, "NewSkipGram": builders.NewSkipGram,
			"NewStarted": builders.NewStarted, "NewTextCNN": builders.NewTextCNN,
			"NewTransformer": builders.NewTransformer, "NewUNet": builders.NewUNet,
			"NewWeightedPool": builders.NewWeightedPool, "Normalised": builders.Normalised, "Padding": builders.Padding,
			"PickOne": builders.PickOne, "PixMix": builders.PixMix, "Pool": builders.Pool,
			"Posterise": builders.Posterise, "Powers": builders.Powers, "Present": builders.Present,
			"RandomAutocontrast": builders.RandomAutocontrast, "RandomBeta": builders.RandomBeta,
			"RandomCrop": builders.RandomCrop, "RandomCutout": builders.RandomCutout, "RandomFlip": builders.RandomFlip,
			"RandomPosterise": builders.RandomPosterise, "RandomRotation": builders.RandomRotation,
			"RandomTranslation": builders.RandomTranslation, "Readout": builders.Readout,
			"ReadoutBlocks": builders.ReadoutBlocks, "ReceptiveField": builders.ReceptiveField,
			"ReconstructionError": builders.ReconstructionError, "Residual": builders.Residual, "Ridge": builders.Ridge,
			"RidgeFeatures": builders.RidgeFeatures, "RidgeObservations": builders.RidgeObservations,
			"Rotate": builders.Rotate, "Rotation": builders.Rotation, "Scores": builders.Scores,
			"Separated": builders.Separated, "Sinusoidal": builders.Sinusoidal, "Smoothed": builders.Smoothed,
			"SoftKMeans": builders.SoftKMeans, "Spread": builders.Spread, "SquaredError": builders.SquaredError,
			"SquaredNorm": builders.SquaredNorm, "StandardiseImage": builders.StandardiseImage,
			"StandardisePatch": builders.StandardisePatch, "StandardiseWeights": builders.StandardiseWeights,
			"StochasticDepth": builders.StochasticDepth, "SubspaceStep": builders.SubspaceStep,
			"Translate": builders.Translate, "UniformNoise": builders.UniformNoise, "Weighted": builders.Weighted,
			"WeightedLeastSquares": builders.WeightedLeastSquares,
		},
		Types: []any{
			*new(builders.AdditiveScore), *new(builders.Adjacency), *new(builders.Aggregation), *new(builders.Autoencoder), *new(builders.BatchNorm), *new(builders.Bidirectional), *new(builders.Builder), *new(builders.Conv), *new(builders.ConvNeXt), *new(builders.ConvNeXtBlock), *new(builders.ConvReader), *new(builders.ConvTransposed), *new(builders.Decoder), *new(builders.DecoderBlock), *new(builders.DiffPool), *new(builders.DotScore), *new(builders.Edges), *new(builders.Embedding), *new(builders.Encoder), *new(builders.EncoderBlock), *new(builders.Ensemble), *new(builders.FIR), *new(builders.FeedForward), *new(builders.Field), *new(builders.GAT), *new(builders.GATHead), *new(builders.GCN), *new(builders.GRU), *new(builders.Gates), *new(builders.GraphFilter), *new(builders.GroupNorm), *new(builders.IIR), *new(builders.InputNorm), *new(builders.InstanceNorm), *new(builders.Kind), *new(builders.LSTM), *new(builders.LanguageModel), *new(builders.LayerNorm), *new(builders.Linear), *new(builders.MaskedAutoencoder), *new(builders.MaskedModel), *new(builders.MessagePassing), *new(builders.Model), *new(builders.MultiHead), *new(builders.MultiplicativeScore), *new(builders.QKV), *new(builders.QueryNorm), *new(builders.RMSNorm), *new(builders.RNN), *new(builders.ReLU1D), *new(builders.Receptives), *new(builders.Recur), *new(builders.RecurrentLanguageModel), *new(builders.ResNet), *new(builders.ResNetBlock), *new(builders.Seq2Seq), *new(builders.Settings), *new(builders.Size), *new(builders.SkipGram), *new(builders.Stack), *new(builders.Table), *new(builders.TextCNN), *new(builders.Transformer), *new(builders.UNet), *new(builders.Window),
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
