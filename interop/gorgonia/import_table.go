package gorgonia

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// importRule makes the node for one of gorgonia's.
type importRule func(s theirs) *graph.Node

// importRules returns how operations are imported, by the names of gorgonia's types.
func importRules() map[string]importRule {
	return map[string]importRule{
		"BatchNormOp":         importBatchNorm,
		"GroupNormOp":         importGroupNorm,
		"Iop":                 importItself,
		"atOp":                importAt,
		"avgPoolOp":           importAvgPool,
		"avgPoolDiffOp":       pullback(importAvgPool, 2),
		"batchnormDiffOp":     importBatchNormDiff,
		"byIndicesOp":         importByIndices,
		"byIndicesOpDiffOp":   importByIndicesDiff,
		"clampOp":             importClamp,
		"col2imOp":            importCol2Im,
		"concatOp":            importConcat,
		"ctcLossDiffOp":       importCTCDiff,
		"ctcLossOp":           importCTC,
		"devTrans":            importItself,
		"diagFlatOp":          importDiagFlat,
		"dropoutDiffOp":       importDropoutDiff,
		"dropoutOp":           importDropout,
		"dtConvOp":            importConversion,
		"elemBinOp":           importPair,
		"elemUnaryOp":         importUnary,
		"globalAveragePoolOp": importGlobalAverage,
		"groupNormDiffOp":     pullback(importGroupNorm, 1),
		"im2colOp":            importIm2Col,
		"linAlgBinOp":         importProduct,
		"maxBetween":          func(s theirs) *graph.Node { return ops.Maximum(s.x(0), s.x(1)) },
		"maxOp":               func(s theirs) *graph.Node { return ops.Max(s.x(0), anyAxes(s.ints("along"))...) },
		"maxPoolDiffOp":       pullback(importMaxPool, 2),
		"maxPoolOp":           importMaxPool,
		"minBetween":          func(s theirs) *graph.Node { return ops.Minimum(s.x(0), s.x(1)) },
		"randomOp":            importRandom,
		"repeatOp":            importRepeat,
		"reshapeOp":           func(s theirs) *graph.Node { return reshaping(s.x(0), s.n.Shape()) },
		"sizeOp":              importSize,
		"sliceIncrOp":         pullback(importSlice, 1),
		"sliceOp":             importSlice,
		"softmaxDiffOp":       importSoftmaxDiff,
		"softmaxOp":           importSoftmax,
		"sparsemaxDiffOp":     importSparsemaxDiff,
		"sparsemaxOp":         importSparsemax,
		"sumOp":               func(s theirs) *graph.Node { return ops.Sum(s.x(0), anyAxes(s.ints("along"))...) },
		"tensordotOp":         importTensordot,
		"transposeOp":         importTranspose,
		"upsampleDiffOp":      pullback(importUpsample, 2),
		"upsampleOp":          importUpsample,
		"yoloOp":              importYOLO,
	}
}

func anyAxes(axes []int) []any {
	out := make([]any, len(axes))
	for i, a := range axes {
		out[i] = a
	}
	return out
}

func importItself(s theirs) *graph.Node { return s.x(0) }
