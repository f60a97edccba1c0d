package ops_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Abs": ops.Abs, "Add": ops.Add, "AddAlong": ops.AddAlong, "All": ops.All, "And": ops.And,
			"Any": ops.Any, "Arange": ops.Arange, "ArgMax": ops.ArgMax, "ArgMin": ops.ArgMin, "ArgSort": ops.ArgSort,
			"Asinh": ops.Asinh, "At": ops.At, "AvgPool1D": ops.AvgPool1D, "AvgPool2D": ops.AvgPool2D, "AvgPool3D": ops.AvgPool3D,
			"BroadcastTo": ops.BroadcastTo, "Call": ops.Call, "Cast": ops.Cast, "Cholesky": ops.Cholesky,
			"Clip": ops.Clip, "Closed": ops.Closed, "Composites": ops.Composites, "Concat": ops.Concat,
			"Cond": ops.Cond, "Conv1D": ops.Conv1D, "Conv2D": ops.Conv2D, "Conv3D": ops.Conv3D, "ConvInteger": ops.ConvInteger, "MatMulInteger": ops.MatMulInteger, "ConvTranspose3D": ops.ConvTranspose3D, "ConvTranspose1D": ops.ConvTranspose1D,
			"ConvTranspose2D": ops.ConvTranspose2D, "Cos": ops.Cos, "CumMax": ops.CumMax, "CumMin": ops.CumMin,
			"CumProd": ops.CumProd, "CumSum": ops.CumSum, "Det": ops.Det, "Diagonal": ops.Diagonal,
			"DiagonalMatrix": ops.DiagonalMatrix, "DiffDot": ops.DiffDot, "DynamicSlice": ops.DynamicSlice,
			"DynamicUpdate": ops.DynamicUpdate, "Eye": ops.Eye,
			"LinearRecurrence": ops.LinearRecurrence, "List": ops.List, "Linspace": ops.Linspace, "LogCumSumExp": ops.LogCumSumExp,
			"Dilation": ops.Dilation, "Div": ops.Div, "ELU": ops.ELU, "Einsum": ops.Einsum,
			"Elementwise": ops.Elementwise, "Equal": ops.Equal, "Erf": ops.Erf,
			"ExcludePadding": ops.ExcludePadding, "Exp": ops.Exp, "Expand": ops.Expand,
			"Eigh": ops.Eigh, "Expm1": ops.Expm1, "FFT": ops.FFT, "FixedPoint": ops.FixedPoint, "Full": ops.Full,
			"FullLike": ops.FullLike, "Flatten": ops.Flatten, "Pick": ops.Pick, "GELU": ops.GELU, "GELUTanh": ops.GELUTanh, "Gather": ops.Gather,
			"Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual, "Groups": ops.Groups, "IFFT": ops.IFFT,
			"IRFFT": ops.IRFFT, "Index": ops.Index, "Inv": ops.Inv, "LeakyReLU": ops.LeakyReLU,
			"LeastSquares": ops.LeastSquares, "MatrixExp": ops.MatrixExp, "QR": ops.QR, "SVD": ops.SVD,
			"SingularValues": ops.SingularValues,
			"Less":           ops.Less, "LessEqual": ops.LessEqual, "Lit": ops.Lit, "Log": ops.Log,
			"Log1p": ops.Log1p, "LogDet": ops.LogDet, "LogSigmoid": ops.LogSigmoid, "LogSoftmax": ops.LogSoftmax,
			"LogSumExp": ops.LogSumExp, "MatMul": ops.MatMul, "MatrixPower": ops.MatrixPower, "Max": ops.Max,
			"MaxPool1D": ops.MaxPool1D, "MaxPool2D": ops.MaxPool2D, "MaxPool3D": ops.MaxPool3D, "Maximum": ops.Maximum,
			"Mean": ops.Mean, "Merge": ops.Merge, "Min": ops.Min, "Minimum": ops.Minimum, "Mish": ops.Mish,
			"ReflectPad": ops.ReflectPad, "Mul": ops.Mul, "Neg": ops.Neg, "Norm": ops.Norm,
			"Not": ops.Not, "NotEqual": ops.NotEqual, "OneHot": ops.OneHot,
			"OneMinus": ops.OneMinus, "Ones": ops.Ones, "OnesLike": ops.OnesLike, "Or": ops.Or, "Over": ops.Over, "Pad": ops.Pad,
			"Padding": ops.Padding, "Pow": ops.Pow, "Prod": ops.Prod,
			"RFFT": ops.RFFT, "RandomBernoulli": ops.RandomBernoulli, "RandomCategorical": ops.RandomCategorical,
			"RandomGumbel": ops.RandomGumbel, "RandomInt": ops.RandomInt, "RandomNormal": ops.RandomNormal,
			"RandomPermutation":     ops.RandomPermutation,
			"RandomTruncatedNormal": ops.RandomTruncatedNormal, "RandomUniform": ops.RandomUniform, "ReLU": ops.ReLU,
			"Rename": ops.Rename, "Reshape": ops.Reshape,
			"ReshapeTo": ops.ReshapeTo, "Reverse": ops.Reverse, "Rstd": ops.Rstd,
			"SetAt": ops.SetAt, "AddAt": ops.AddAt, "MaxAt": ops.MaxAt, "MinAt": ops.MinAt,
			"FirstEqual": ops.FirstEqual, "SegmentSum": ops.SegmentSum, "SegmentMean": ops.SegmentMean,
			"SegmentMax": ops.SegmentMax, "SegmentMin": ops.SegmentMin, "Scale": ops.Scale, "Scan": ops.Scan, "ScatterAdd": ops.ScatterAdd,
			"SearchSorted": ops.SearchSorted,
			"Select":       ops.Select, "Shift": ops.Shift, "SiLU": ops.SiLU, "Sigmoid": ops.Sigmoid,
			"Sign": ops.Sign, "Sin": ops.Sin, "Slice": ops.Slice, "SliceStep": ops.SliceStep,
			"Acos": ops.Acos, "Acosh": ops.Acosh, "Asin": ops.Asin, "Atan": ops.Atan, "Atan2": ops.Atan2,
			"Atanh": ops.Atanh, "Ceil": ops.Ceil, "Cosh": ops.Cosh, "Cube": ops.Cube, "Erfc": ops.Erfc,
			"Digamma": ops.Digamma, "Erfinv": ops.Erfinv, "Lgamma": ops.Lgamma, "Polygamma": ops.Polygamma, "Exp2": ops.Exp2, "Floor": ops.Floor, "FloorDiv": ops.FloorDiv,
			"IsFinite": ops.IsFinite, "IsInf": ops.IsInf, "IsNaN": ops.IsNaN, "Log10": ops.Log10, "Log2": ops.Log2,
			"Remainder": ops.Remainder, "Round": ops.Round, "Sinh": ops.Sinh, "SlogDet": ops.SlogDet,
			"Softmax": ops.Softmax, "Softplus": ops.Softplus, "Solve": ops.Solve,
			"SolveTriangular": ops.SolveTriangular, "Sort": ops.Sort, "Split": ops.Split, "Sparsemax": ops.Sparsemax, "SqDist": ops.SqDist,
			"Sqrt": ops.Sqrt, "Square": ops.Square, "Squeeze": ops.Squeeze, "Stack": ops.Stack,
			"Standardise": ops.Standardise, "StopGradient": ops.StopGradient, "SumRanks": ops.SumRanks, "CopyRanks": ops.CopyRanks, "Stride": ops.Stride, "Size": ops.Size, "Same": ops.Same, "Valid": ops.Valid, "Wide": ops.Wide, "Windows": ops.Windows, "Along": ops.Along, "Channels": ops.Channels, "Sub": ops.Sub,
			"Sum": ops.Sum, "TakeAlong": ops.TakeAlong, "Tan": ops.Tan, "Tanh": ops.Tanh, "TopK": ops.TopK,
			"TouchedRows": ops.TouchedRows, "Trace": ops.Trace, "Transpose": ops.Transpose, "Tril": ops.Tril, "Triu": ops.Triu, "Trunc": ops.Trunc,
			"Unroll": ops.Unroll, "Unstack": ops.Unstack, "Var": ops.Var, "Vocabulary": ops.Vocabulary,
			"WeightedDiff": ops.WeightedDiff, "While": ops.While, "WithVJP": ops.WithVJP, "Xlogy": ops.Xlogy,
			"Zeros": ops.Zeros, "ZerosLike": ops.ZerosLike,
		},
		Types: []any{*new(ops.Sliding), *new(ops.Window)},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("m", 3))
			return []any{x, g, graph.F32, "n", []*graph.Node{x}, x.Type(), x.Type().Shape, ops.Add(x, x).Op(), 2, 2., []string{"n"}, []int{1, 0}, graph.Ax("n", 2)}
		},
	})
}
