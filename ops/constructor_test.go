package ops_test

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

type node = *graph.Node

// constructor is an exported function that gives a node, over its operands.
type constructor struct {
	operands int
	call     func(in []node) node
}

func on1(f func(x node) node) constructor {
	return constructor{1, func(in []node) node { return f(in[0]) }}
}
func on2(f func(a, b node) node) constructor {
	return constructor{2, func(in []node) node { return f(in[0], in[1]) }}
}
func on3(f func(a, b, c node) node) constructor {
	return constructor{3, func(in []node) node { return f(in[0], in[1], in[2]) }}
}

func constructors() map[string]constructor {
	row := graph.Ax("k", 2)
	return map[string]constructor{
		"Abs": on1(ops.Abs), "Asinh": on1(ops.Asinh), "Cos": on1(ops.Cos), "Erf": on1(ops.Erf), "Exp": on1(ops.Exp), "Expm1": on1(ops.Expm1), "Log": on1(ops.Log), "Log1p": on1(ops.Log1p), "LogSigmoid": on1(ops.LogSigmoid),
		"GELU": on1(ops.GELU), "GELUTanh": on1(ops.GELUTanh), "Neg": on1(ops.Neg), "Not": on1(ops.Not), "OneMinus": on1(ops.OneMinus), "ReLU": on1(ops.ReLU),
		"Sigmoid": on1(ops.Sigmoid), "Sign": on1(ops.Sign), "Sin": on1(ops.Sin), "Sqrt": on1(ops.Sqrt),
		"Square": on1(ops.Square), "StopGradient": on1(ops.StopGradient), "SumRanks": on1(ops.SumRanks), "CopyRanks": on1(ops.CopyRanks), "Tanh": on1(ops.Tanh),

		"ELU": on1(ops.ELU), "Norm": on1(func(x node) node { return ops.Norm(x) }), "Prod": on1(func(x node) node { return ops.Prod(x) }),
		"Mish": on1(ops.Mish), "SiLU": on1(ops.SiLU), "Softplus": on1(ops.Softplus), "Var": on1(func(x node) node { return ops.Var(x) }),

		"Acos": on1(ops.Acos), "Acosh": on1(ops.Acosh), "Asin": on1(ops.Asin), "Atan": on1(ops.Atan), "Atanh": on1(ops.Atanh), "Ceil": on1(ops.Ceil), "Cosh": on1(ops.Cosh),
		"Cube": on1(ops.Cube), "Digamma": on1(ops.Digamma), "Lgamma": on1(ops.Lgamma), "Polygamma": on1(func(x node) node { return ops.Polygamma(2, x) }), "Erfc": on1(ops.Erfc), "Erfinv": on1(ops.Erfinv), "Exp2": on1(ops.Exp2), "Floor": on1(ops.Floor), "IsFinite": on1(ops.IsFinite), "IsInf": on1(ops.IsInf),
		"IsNaN": on1(ops.IsNaN), "Log10": on1(ops.Log10), "Log2": on1(ops.Log2), "Round": on1(ops.Round), "Sinh": on1(ops.Sinh), "Tan": on1(ops.Tan), "Trunc": on1(ops.Trunc),
		"Atan2": on2(ops.Atan2), "FloorDiv": on2(ops.FloorDiv), "Remainder": on2(ops.Remainder), "Xlogy": on2(ops.Xlogy),

		"Add": on2(func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }), "And": on2(ops.And), "Div": on2(ops.Div), "Equal": on2(ops.Equal), "Greater": on2(ops.Greater),
		"GreaterEqual": on2(ops.GreaterEqual), "Less": on2(ops.Less), "LessEqual": on2(ops.LessEqual), "MatMul": on2(ops.MatMul),
		"Maximum": on2(ops.Maximum), "Minimum": on2(ops.Minimum), "Mul": on2(func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }), "NotEqual": on2(ops.NotEqual),
		"Or": on2(ops.Or), "Pow": on2(ops.Pow), "SqDist": on2(ops.SqDist), "Sub": on2(ops.Sub),

		"Clip": on3(ops.Clip), "DiffDot": on3(ops.DiffDot), "Select": on3(ops.Select), "WeightedDiff": on3(ops.WeightedDiff),

		"Cholesky": on1(ops.Cholesky), "Det": on1(ops.Det), "Diagonal": on1(ops.Diagonal), "DiagonalMatrix": on1(ops.DiagonalMatrix),
		"Inv": on1(ops.Inv), "LogDet": on1(ops.LogDet), "MatrixPower": on1(func(x node) node { return ops.MatrixPower(x, 2) }),
		"SlogDet": on1(func(x node) node { _, log := ops.SlogDet(x); return log }), "Solve": on2(ops.Solve),
		"SolveTriangular": on2(func(a, b node) node { return ops.SolveTriangular(a, b) }), "Trace": on1(ops.Trace),
		"LeastSquares": on2(ops.LeastSquares), "Eigh": on1(func(x node) node { values, _ := ops.Eigh(x); return values }), "SVD": on1(func(x node) node { u, _, _ := ops.SVD(x); return u }),
		"SingularValues": on1(ops.SingularValues), "MatrixExp": on1(ops.MatrixExp), "QR": on1(func(x node) node { _, r := ops.QR(x); return r }),
		"Tril": on1(func(x node) node { return ops.Tril(x) }), "Triu": on1(func(x node) node { return ops.Triu(x) }),

		"AddAlong":         on2(func(a, b node) node { return ops.AddAlong(a, b, 0, row) }),
		"All":              on1(func(x node) node { return ops.All(x) }),
		"Any":              on1(func(x node) node { return ops.Any(x) }),
		"ArgMax":           on1(func(x node) node { return ops.ArgMax(x, 0) }),
		"ArgMin":           on1(func(x node) node { return ops.ArgMin(x, 0) }),
		"ArgSort":          on1(func(x node) node { return ops.ArgSort(x, 0) }),
		"At":               on1(func(x node) node { return ops.At(x, 0, 2) }),
		"BroadcastTo":      on1(func(x node) node { return ops.BroadcastTo(x, graph.Shape{}) }),
		"Cast":             on1(func(x node) node { return ops.Cast(x, graph.I32) }),
		"Concat":           on2(func(a, b node) node { return ops.Concat(0, a, b) }),
		"CumSum":           on1(func(x node) node { return ops.CumSum(x, 0) }),
		"DynamicSlice":     on2(func(x, k node) node { return ops.DynamicSlice(x, k, 1, 0) }),
		"DynamicUpdate":    on3(func(x, k, part node) node { return ops.DynamicUpdate(x, k, part, 0) }),
		"Einsum":           on2(func(a, b node) node { return ops.Einsum("i j, j k", a, b) }),
		"Expand":           on1(func(x node) node { return ops.Expand(x, 0, "") }),
		"FullLike":         on1(func(x node) node { return ops.FullLike(x, 0.5) }),
		"Gather":           on2(func(a, b node) node { return ops.Gather(a, b, 0) }),
		"IRFFT":            on2(func(re, im node) node { return ops.IRFFT(re, im, 5, 0) }),
		"Lit":              on1(func(x node) node { return ops.Lit(x, 1) }),
		"LeakyReLU":        on1(func(x node) node { return ops.LeakyReLU(x, 0.1) }),
		"LogSoftmax":       on1(func(x node) node { return ops.LogSoftmax(x, 0) }),
		"LogSumExp":        on1(func(x node) node { return ops.LogSumExp(x, 0) }),
		"Max":              on1(func(x node) node { return ops.Max(x) }),
		"Mean":             on1(func(x node) node { return ops.Mean(x) }),
		"Merge":            on1(func(x node) node { return ops.Merge(x, "n", 0, 1) }),
		"Min":              on1(func(x node) node { return ops.Min(x) }),
		"OneHot":           on1(func(x node) node { return ops.OneHot(x, 0, row, graph.F32) }),
		"OnesLike":         on1(ops.OnesLike),
		"ReflectPad":       on1(func(x node) node { return ops.ReflectPad(x, 0, 1, 1) }),
		"Over":             on1(func(x node) node { return ops.Over(x, "i", "j") }),
		"Pad":              on1(func(x node) node { return ops.Pad(x, 0, 1, 1, 2) }),
		"Rename":           on1(func(x node) node { return ops.Rename(x, 0, "k") }),
		"Reshape":          on1(func(x node) node { return ops.Reshape(x, -1) }),
		"ReshapeTo":        on1(func(x node) node { return ops.ReshapeTo(x, graph.Shape{}) }),
		"Reverse":          on1(func(x node) node { return ops.Reverse(x, 0) }),
		"Rstd":             on1(func(x node) node { return ops.Rstd(x, 1e-5) }),
		"Scale":            on1(func(x node) node { return ops.Scale(x, 2) }),
		"ScatterAdd":       on2(func(a, b node) node { return ops.ScatterAdd(a, b, 0, row) }),
		"SearchSorted":     on2(func(a, b node) node { return ops.SearchSorted(a, b, 0) }),
		"Shift":            on1(func(x node) node { return ops.Shift(x, 2) }),
		"Slice":            on1(func(x node) node { return ops.Slice(x, 0, 0, 1) }),
		"SliceStep":        on1(func(x node) node { return ops.SliceStep(x, 0, 0, 0, 2) }),
		"Sort":             on1(func(x node) node { return ops.Sort(x, 0) }),
		"TopK":             on1(func(x node) node { values, _ := ops.TopK(x, 1, 0); return values }),
		"Softmax":          on1(func(x node) node { return ops.Softmax(x, 0) }),
		"Sparsemax":        on1(func(x node) node { return ops.Sparsemax(x, 0) }),
		"Split":            on1(func(x node) node { return ops.Split(x, 0, row, row) }),
		"Squeeze":          on1(func(x node) node { return ops.Squeeze(x) }),
		"Stack":            on2(func(a, b node) node { return ops.Stack(0, "k", a, b) }),
		"Standardise":      on1(func(x node) node { return ops.Standardise(x, 1e-5) }),
		"Sum":              on1(func(x node) node { return ops.Sum(x) }),
		"Elementwise":      on1(func(x node) node { return ops.Elementwise(ops.List()[0], x) }),
		"Flatten":          on2(func(a, b node) node { return ops.Flatten(a, b) }),
		"Pick":             on2(func(a, b node) node { return ops.Pick(a, b, 0) }),
		"TakeAlong":        on2(func(a, b node) node { return ops.TakeAlong(a, b, 0) }),
		"Transpose":        on1(func(x node) node { return ops.Transpose(x) }),
		"ZerosLike":        on1(ops.ZerosLike),
		"CumMax":           on1(func(x node) node { return ops.CumMax(x, 0) }),
		"CumMin":           on1(func(x node) node { return ops.CumMin(x, 0) }),
		"CumProd":          on1(func(x node) node { return ops.CumProd(x, 0) }),
		"LogCumSumExp":     on1(func(x node) node { return ops.LogCumSumExp(x, 0) }),
		"LinearRecurrence": on2(func(a, b node) node { return ops.LinearRecurrence(a, b, 0) }),

		"AvgPool1D":       on1(func(x node) node { return ops.AvgPool1D(x, ops.Size(2)) }),
		"AvgPool2D":       on1(func(x node) node { return ops.AvgPool2D(x, ops.Size(2)) }),
		"AvgPool3D":       on1(func(x node) node { return ops.AvgPool3D(x, ops.Size(2)) }),
		"MaxPool3D":       on1(func(x node) node { return ops.MaxPool3D(x, ops.Size(2)) }),
		"Conv3D":          on2(func(x, w node) node { return ops.Conv3D(x, w) }),
		"ConvTranspose3D": on2(func(y, w node) node { return ops.ConvTranspose3D(y, w) }),
		"MaxPool1D":       on1(func(x node) node { return ops.MaxPool1D(x, ops.Size(2)) }),
		"MaxPool2D":       on1(func(x node) node { return ops.MaxPool2D(x, ops.Size(2)) }),
		"Conv1D":          on2(func(x, w node) node { return ops.Conv1D(x, w) }),
		"Conv2D":          on2(func(x, w node) node { return ops.Conv2D(x, w) }),
		"ConvInteger":     on3(func(x, w, zero node) node { return ops.ConvInteger(x, w, zero) }),
		"MatMulInteger":   on3(ops.MatMulInteger),
		"ConvTranspose1D": on2(func(y, w node) node { return ops.ConvTranspose1D(y, w) }),
		"ConvTranspose2D": on2(func(y, w node) node { return ops.ConvTranspose2D(y, w) }),

		"SetAt":       on3(func(x, k, v node) node { return ops.SetAt(x, k, v, 0) }),
		"AddAt":       on3(func(x, k, v node) node { return ops.AddAt(x, k, v, 0) }),
		"MaxAt":       on3(func(x, k, v node) node { return ops.MaxAt(x, k, v, 0) }),
		"MinAt":       on3(func(x, k, v node) node { return ops.MinAt(x, k, v, 0) }),
		"FirstEqual":  on1(ops.FirstEqual),
		"SegmentSum":  on2(func(x, k node) node { return ops.SegmentSum(x, k, graph.Ax("n", 3)) }),
		"SegmentMean": on2(func(x, k node) node { return ops.SegmentMean(x, k, graph.Ax("n", 3)) }),
		"SegmentMax":  on2(func(x, k node) node { return ops.SegmentMax(x, k, graph.Ax("n", 3)) }),
		"SegmentMin":  on2(func(x, k node) node { return ops.SegmentMin(x, k, graph.Ax("n", 3)) }),

		"RandomNormal":          {0, func([]node) node { return ops.RandomNormal(graph.New(""), "ε", graph.I32) }},
		"RandomGumbel":          {0, func([]node) node { return ops.RandomGumbel(graph.New(""), "g", graph.Bool) }},
		"RandomInt":             {0, func([]node) node { return ops.RandomInt(graph.New(""), "k", graph.F32, 0, 3) }},
		"RandomPermutation":     {0, func([]node) node { return ops.RandomPermutation(graph.New(""), "p") }},
		"RandomTruncatedNormal": {0, func([]node) node { return ops.RandomTruncatedNormal(graph.New(""), "ε", graph.F32, 2, 1) }},
		"RandomBernoulli":       on1(func(p node) node { return ops.RandomBernoulli("b", p) }),
		"RandomCategorical":     on1(func(x node) node { return ops.RandomCategorical("k", x, 0) }),
		"RandomUniform":         {0, func([]node) node { return ops.RandomUniform(graph.New(""), "u", graph.F32, graph.Dims(-1)...) }},
		"Full":                  {0, func([]node) node { return ops.Full(graph.New(""), graph.I32, 0.5) }},
		"Ones":                  {0, func([]node) node { return ops.Ones(graph.New(""), graph.F32, graph.Dims(-1)...) }},
		"Zeros":                 {0, func([]node) node { return ops.Zeros(graph.New(""), graph.F32, graph.Dims(-1)...) }},
		"Arange":                {0, func([]node) node { return ops.Arange(graph.New(""), graph.F32, graph.Dims(-1)[0]) }},
		"Linspace":              {0, func([]node) node { return ops.Linspace(graph.New(""), graph.F32, 0, 1, graph.Dims(-1)[0]) }},
		"Eye":                   {0, func([]node) node { return ops.Eye(graph.New(""), graph.F32, row, row) }},
	}
}

// TestConstructorsRefuse: every exported function that gives a node takes nil
// and invalid operands without a panic; a nil is a mistake, an invalid operand
// follows from one and is silent.
func TestConstructorsRefuse(t *testing.T) {
	functions, _ := declared(t)
	table := constructors()
	for _, f := range functions {
		if f.Name.IsExported() && givesNode(f) && table[f.Name.Name].call == nil {
			t.Errorf("%s is missing from the table", f.Name.Name)
		}
	}
	for name, c := range table {
		if c.operands == 0 && c.call(nil).IsValid() {
			t.Errorf("%s accepts what it should not", name)
		}
		for k := range c.operands {
			g := graph.New("")
			in := slices.Repeat([]node{g.Input("x", graph.F32, graph.Ax("i", 2), graph.Ax("j", 2))}, c.operands)
			in[k] = nil
			if y := c.call(in); y == nil || y.IsValid() {
				t.Errorf("%s of nil operand %d gives %v", name, k, y)
			}
			if c.operands > 1 && g.Err() == nil {
				t.Errorf("%s of nil operand %d records nothing", name, k)
			}
			in[k] = g.Fail("earlier", errors.New("mistake"))
			before := len(g.Err().(graph.Errors))
			if y := c.call(in); y == nil || y.IsValid() {
				t.Errorf("%s of invalid operand %d gives %v", name, k, y)
			}
			if after := g.Err().(graph.Errors); len(after) != before {
				t.Errorf("%s of invalid operand %d is not silent: %v", name, k, after[before])
			}
		}
	}
}

// TestConstructorsNameThemselves: a mistake is said of the function that was called, with
// the operands that it was given, in their order, and once, whatever the function is made of.
func TestConstructorsNameThemselves(t *testing.T) {
	refused := false
	cannot := []string{"StopGradient", "Transpose", "Squeeze", "Sum", "Lit", "ReshapeTo", "Reshape", "Expand", "Cast", "OnesLike", "ZerosLike", "Full", "Ones", "Zeros", "Arange", "Linspace", "Eye"} // take anything as the table calls them
	for name, c := range constructors() {
		if refused = false; name == "Elementwise" {
			continue // it is named after the operation that it is given
		}
		for _, types := range []string{"bool[2 3]", "f32[i=2 3]", "i32[2 1 2]", "f64[j=4]", "f32[i=2 j=3]; f64[k=2 j=3]", "f64[j=2 i=3]; f64[3 2]", "i64[3]; bool[]", "f32[]; bool[k=2]; f32[j=3]", "bool[4]"} {
			g := graph.New("")
			var in []node
			var texts []string
			for k := range c.operands {
				list := strings.Split(types, "; ")
				var typ graph.Type
				if err := typ.UnmarshalText([]byte(list[k%len(list)])); err != nil {
					t.Fatal(err)
				}
				in = append(in, g.Input(fmt.Sprint("x", k), typ.DType, typ.Shape.Axes()...))
				texts = append(texts, in[k].String())
			}
			y := c.call(in)
			if y.IsValid() {
				continue
			}
			errs, _ := y.Graph().Err().(graph.Errors)
			if len(errs) != 1 || errs[0].Op != name || !slices.Equal(errs[0].Operands, texts) {
				t.Errorf("%s of %v: %v", name, texts, errs)
			}
			refused = true
		}
		if !refused && !slices.Contains(cannot, name) {
			t.Errorf("%s refuses nothing of this test", name)
		}
	}
}

// givesNode reports whether the only result is a *graph.Node.
func givesNode(f *ast.FuncDecl) bool {
	r := f.Type.Results
	if r == nil || len(r.List) != 1 || len(r.List[0].Names) > 1 {
		return false
	}
	star, ok := r.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Node"
}

// TestLayout: functions that only combine or lay out, against their results
// spelt out.
func TestLayout(t *testing.T) {
	g := graph.New("")
	x := g.Constant(graph.F64, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("j", 3))
	k := g.Constant(graph.I64, []float64{2, 0}, graph.Ax("k", 2))
	for _, c := range []struct {
		name string
		y    node
		want string
	}{
		{"Over", ops.Over(x, "j", "q", "i"), "f64[j=3 q=1 i=2]: 1 4 2 5 3 6"},
		{"Expand first", ops.Expand(x, 0, "b"), "f64[b=1 i=2 j=3]: 1 2 3 4 5 6"},
		{"Expand last", ops.Expand(x, -1, ""), "f64[i=2 j=3 1]: 1 2 3 4 5 6"},
		{"Squeeze", ops.Squeeze(ops.Expand(x, 1, "b"), "b"), "f64[i=2 j=3]: 1 2 3 4 5 6"},
		{"Squeeze everything", ops.Squeeze(ops.Expand(ops.Expand(x, 1, "b"), -1, "")), "f64[i=2 j=3]: 1 2 3 4 5 6"},
		{"Squeeze nothing", ops.Squeeze(x), "f64[i=2 j=3]: 1 2 3 4 5 6"},
		{"Split", ops.Split(x, "j", graph.Ax("a", 1), graph.Ax("b", 3)), "f64[i=2 a=1 b=3]: 1 2 3 4 5 6"},
		{"Merge", ops.Merge(x, "n", "i", "j"), "f64[n=6]: 1 2 3 4 5 6"},
		{"Rename", ops.Rename(x, -1, ""), "f64[i=2 3]: 1 2 3 4 5 6"},
		{"Reshape keeps the untouched name", ops.Reshape(x, 2, -1, 1), "f64[i=2 j=3 1]: 1 2 3 4 5 6"},
		{"Reshape loses the others", ops.Reshape(x, 3, 2), "f64[3 2]: 1 2 3 4 5 6"},
		{"Transpose", ops.Transpose(x), "f64[j=3 i=2]: 1 4 2 5 3 6"},
		{"Slice from the end", ops.Slice(x, "j", -2, 0), "f64[i=2 j=2]: 2 3 5 6"},
		{"Slice of a row", ops.Slice(x, 0, 0, 1), "f64[i=1 j=3]: 1 2 3"},
		{"SliceStep", ops.SliceStep(x, 1, 0, 0, 2), "f64[i=2 j=2]: 1 3 4 6"},
		{"Reverse", ops.Reverse(x, "i"), "f64[i=2 j=3]: 4 5 6 1 2 3"},
		{"Greater", ops.Greater(x, ops.Lit(x, 3)), "bool[i=2 j=3]: 0 0 0 1 1 1"},
		{"GreaterEqual", ops.GreaterEqual(x, ops.Lit(x, 3)), "bool[i=2 j=3]: 0 0 1 1 1 1"},
		{"Scale", ops.Scale(x, 2), "f64[i=2 j=3]: 2 4 6 8 10 12"},
		{"Shift", ops.Shift(x, -1), "f64[i=2 j=3]: 0 1 2 3 4 5"},
		{"OneMinus", ops.OneMinus(x), "f64[i=2 j=3]: 0 -1 -2 -3 -4 -5"},
		{"OneHot before", ops.OneHot(k, 0, graph.Ax("j", 3), graph.F64), "f64[j=3 k=2]: 0 1 0 0 1 0"},
		{"At", ops.At(x, "j", -1), "f64[i=2]: 3 6"},
		{"At of a node", ops.At(x, "j", ops.At(k, 0, 0)), "f64[i=2]: 3 6"},
		{"Unstack", ops.Unstack(x, "j")[1], "f64[i=2]: 2 5"},
		{"TakeAlong", ops.TakeAlong(x, ops.Expand(ops.Rename(k, "k", "i"), 1, "j"), "j"), "f64[i=2 j=1]: 3 4"},
		{"TakeAlong the first axis", ops.TakeAlong(x, g.Constant(graph.I32, []float64{1, 0, 1}, graph.Ax("k", 1), graph.Ax("j", 3)), "i"), "f64[k=1 j=3]: 4 2 6"},
		{"Pick", ops.Pick(x, ops.Rename(k, "k", "i"), "j"), "f64[i=2]: 3 4"},
		{"Pick along the first axis", ops.Pick(x, g.Constant(graph.I32, []float64{1, 0, 1}, graph.Dims(3)...), 0), "f64[j=3]: 4 2 6"},
		{"Pick of a vector", ops.Pick(ops.At(x, "i", 1), ops.At(k, 0, 0), -1), "f64[]: 6"},
		{"Flatten", ops.Flatten(x), "f64[6]: 1 2 3 4 5 6"},
		{"Flatten a vector", ops.Flatten(k), "i64[2]: 2 0"},
		{"Flatten several", ops.Flatten(ops.Slice(x, "i", 1, 2), ops.Sum(x), ops.At(x, "j", 0), ops.Transpose(x)), "f64[12]: 4 5 6 21 1 4 1 4 2 5 3 6"},
		{"AddAlong", ops.AddAlong(g.Constant(graph.I64, []float64{1, 1, 0, 0, 1, 0}, graph.Dims(2, 3)...), x, "j", graph.Ax("k", 2)), "f64[i=2 k=2]: 3 3 10 5"},
		{"Full", ops.Full(g, graph.I32, 7, graph.Ax("i", 2)), "i32[i=2]: ×7"},
		{"Zeros", ops.Zeros(g, graph.Bool, graph.Ax("i", 2)), "bool[i=2]: ×0"},
		{"Ones", ops.Ones(g, graph.F64), "f64[]: 1"},
		{"FullLike", ops.FullLike(k, 3), "i64[k=2]: ×3"},
		{"ZerosLike", ops.ZerosLike(k), "i64[k=2]: ×0"},
		{"OnesLike", ops.OnesLike(k), "i64[k=2]: ×1"},
		{"CumProd", ops.CumProd(x, "j"), "f64[i=2 j=3]: 1 2 6 4 20 120"},
		{"CumMax of ties", ops.CumMax(ops.Scale(x, 0), "j"), "f64[i=2 j=3]: ×0"},
		{"LinearRecurrence", ops.LinearRecurrence(ops.Lit(x, 2), x, "i"), "f64[i=2 j=3]: 1 2 3 6 9 12"},
		{"Arange", ops.Arange(g, graph.I32, graph.Ax("i", 3)), "i32[i=3]: 0 1 2"},
		{"Linspace", ops.Linspace(g, graph.F64, -1, 1, graph.Ax("i", 5)), "f64[i=5]: -1 -0.5 0 0.5 1"},
		{"Linspace of one", ops.Linspace(g, graph.F64, 2, 1, graph.Ax("i", 1)), "f64[i=1]: 2"},
		{"Eye", ops.Eye(g, graph.F32, graph.Ax("i", 2), graph.Ax("j", 3)), "f32[i=2 j=3]: 1 0 0 0 1 0"},
		{"ArgSort", ops.ArgSort(ops.Neg(x), "j"), "i64[i=2 j=3]: 2 1 0 2 1 0"},
		{"ArgSort of ties", ops.ArgSort(ops.Scale(x, 0), "j", ops.Descending), "i64[i=2 j=3]: 0 1 2 0 1 2"},
		{"SearchSorted", ops.SearchSorted(x, g.Constant(graph.F64, []float64{2, 0, 6, 7}, graph.Dims(2, 2)...), "j"), "i32[2 2]: 1 0 2 3"},
		{"SearchSorted to the right", ops.SearchSorted(g.Constant(graph.I64, []float64{0, 1, 2}, graph.Ax("q", 3)), k, "q", ops.Right), "i32[k=2]: 3 1"},
		{"DynamicSlice", ops.DynamicSlice(x, ops.Lit(k, 1), 2, "j"), "f64[i=2 j=2]: 2 3 5 6"},
		{"DynamicSlice of each row", ops.DynamicSlice(x, ops.Rename(k, 0, "i"), 1, "j"), "f64[i=2 j=1]: 3 4"},
		{"DynamicUpdate", ops.DynamicUpdate(x, ops.Lit(k, 1), ops.Ones(g, graph.F64, graph.Ax("i", 1), graph.Ax("j", 3)), "i"), "f64[i=2 j=3]: 1 2 3 1 1 1"},
		{"DynamicUpdate of each row", ops.DynamicUpdate(x, ops.Rename(k, 0, "i"), ops.Zeros(g, graph.F64, graph.Ax("i", 2), graph.Dims(1)[0]), "j"), "f64[i=2 j=3]: 1 2 0 0 5 6"},
		{"Sort", ops.Sort(x, "i", ops.Descending), "f64[i=2 j=3]: 4 5 6 1 2 3"},
		{"TopK", ops.At(ops.Stack(0, "", topK(x, 2, "j")...), 0, 0), "f64[i=2 j=2]: 3 2 6 5"},
		{"Gather", ops.Gather(x, k, "j"), "f64[i=2 k=2]: 3 1 6 4"},
		{"ScatterAdd", ops.ScatterAdd(k, ops.Slice(x, 1, 0, 2), -1, graph.Ax("i", 2), graph.Ax("j", 3)), "f64[i=2 j=3]: 2 0 1 5 0 4"},
		{"Sum of nothing to sum", ops.Sum(ops.Sum(x)), "f64[]: 21"},
		{"Max over two axes, kept", ops.Max(x, "i", "j", ops.Keep), "f64[i=1 j=1]: 6"},
		{"LogSumExp of -∞", ops.LogSumExp(ops.Log(ops.Scale(x, 0)), "j"), "f64[i=2]: ×-Inf"},
		{"ArgMax of ties", ops.ArgMax(ops.Scale(x, 0), "j"), "i64[i=2]: ×0"},
	} {
		if !c.y.IsValid() {
			t.Errorf("%s: %v", c.name, g.Err())
			continue
		}
		v, err := ref.Eval(trait.Env{}, nil, c.y)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := v[0].String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		t.Run(c.name, func(t *testing.T) { agree(t, nil, c.y) })
	}
}

// topK is ops.TopK with both results as floats.
func topK(x node, k int, axis any) []node {
	values, indices := ops.TopK(x, k, axis)
	return []node{values, ops.Cast(indices, x.DType())}
}
