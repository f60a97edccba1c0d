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
			"Abs": ops.Abs, "Add": ops.Add, "All": ops.All, "And": ops.And,
			"ArgMax": ops.ArgMax, "ArgMin": ops.ArgMin, "Asinh": ops.Asinh, "AvgPool1D": ops.AvgPool1D,
			"AvgPool2D": ops.AvgPool2D, "BroadcastTo": ops.BroadcastTo, "Cast": ops.Cast,
			"Clip": ops.Clip, "Composites": ops.Composites, "Concat": ops.Concat, "Conv1D": ops.Conv1D, "Conv2D": ops.Conv2D,
			"ConvTranspose1D": ops.ConvTranspose1D, "ConvTranspose2D": ops.ConvTranspose2D,
			"Cos": ops.Cos, "CumSum": ops.CumSum, "DiffDot": ops.DiffDot,
			"Dilation": ops.Dilation, "Div": ops.Div, "ELU": ops.ELU, "Einsum": ops.Einsum,
			"Elementwise": ops.Elementwise, "Equal": ops.Equal, "Erf": ops.Erf,
			"ExcludePadding": ops.ExcludePadding, "Exp": ops.Exp, "Expand": ops.Expand,
			"Expm1": ops.Expm1, "Gather": ops.Gather, "GELU": ops.GELU,
			"GELUTanh": ops.GELUTanh, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual,
			"Groups": ops.Groups, "Index": ops.Index, "LeakyReLU": ops.LeakyReLU,
			"Less": ops.Less, "LessEqual": ops.LessEqual, "Lit": ops.Lit, "Log": ops.Log,
			"Log1p": ops.Log1p, "LogSigmoid": ops.LogSigmoid, "LogSoftmax": ops.LogSoftmax,
			"LogSumExp": ops.LogSumExp, "MatMul": ops.MatMul, "Max": ops.Max,
			"MaxPool1D": ops.MaxPool1D, "MaxPool2D": ops.MaxPool2D, "Maximum": ops.Maximum,
			"Mean": ops.Mean, "Merge": ops.Merge, "Min": ops.Min, "Minimum": ops.Minimum,
			"ReflectPad": ops.ReflectPad, "Mul": ops.Mul, "Neg": ops.Neg, "Norm": ops.Norm,
			"Not": ops.Not, "NotEqual": ops.NotEqual, "OneHot": ops.OneHot,
			"OneMinus": ops.OneMinus, "Or": ops.Or, "Over": ops.Over, "Pad": ops.Pad,
			"Padding": ops.Padding, "Pow": ops.Pow, "Prod": ops.Prod,
			"RandomNormal": ops.RandomNormal, "RandomUniform": ops.RandomUniform,
			"ReLU": ops.ReLU, "Rename": ops.Rename, "Reshape": ops.Reshape,
			"ReshapeTo": ops.ReshapeTo, "Reverse": ops.Reverse, "Rstd": ops.Rstd,
			"Scale": ops.Scale, "Scan": ops.Scan, "ScatterAdd": ops.ScatterAdd,
			"Select": ops.Select, "Shift": ops.Shift, "SiLU": ops.SiLU, "Sigmoid": ops.Sigmoid,
			"Sign": ops.Sign, "Sin": ops.Sin, "Slice": ops.Slice, "SliceStep": ops.SliceStep,
			"Softmax": ops.Softmax, "Softplus": ops.Softplus, "Split": ops.Split,
			"SqDist": ops.SqDist, "Sqrt": ops.Sqrt, "Square": ops.Square,
			"Squeeze": ops.Squeeze, "Stack": ops.Stack, "Standardise": ops.Standardise,
			"StopGradient": ops.StopGradient, "Stride": ops.Stride, "Sub": ops.Sub,
			"Sum": ops.Sum, "Tanh": ops.Tanh, "Transpose": ops.Transpose, "Unroll": ops.Unroll,
			"Var": ops.Var, "Vocabulary": ops.Vocabulary, "WeightedDiff": ops.WeightedDiff,
		},
		Types: []any{},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("m", 3))
			return []any{x, g, graph.F32, "n", []*graph.Node{x}, x.Type(), x.Type().Shape, ops.Add(x, x).Op(), 2, 2., []string{"n"}, []int{1, 0}, graph.Ax("n", 2)}
		},
	})
}
