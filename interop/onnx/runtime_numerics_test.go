package onnx_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestRuntimeExtremes: what is stable here is stable there, at numbers that are large, small, infinite or none.
func TestRuntimeExtremes(t *testing.T) {
	rt := runtime(t)
	numbers := []float64{0, 1e-20, -1e-20, 1e-9, -1e-9, 1e-4, -1e-4, 0.3, -0.3, 0.999, -0.999, 1, -1, 1.5, -1.5, 7, -7, 30, -30, 85, -85, 1e3, -1e3, 1e15, -1e15, math.Inf(1), math.Inf(-1), math.NaN()}
	type function struct {
		name     string
		f        func(x *graph.Node) *graph.Node
		min, max float64
		limit    float64
	}
	all := math.Inf(1)
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for _, f := range []function{
			{"log1p", ops.Log1p, -1, all, 0}, {"expm1", ops.Expm1, -all, all, 0}, {"softplus", ops.Softplus, -all, all, 0},
			{"logsigmoid", ops.LogSigmoid, -all, all, 0}, {"sigmoid", ops.Sigmoid, -all, all, 0}, {"tanh", ops.Tanh, -all, all, 0},
			{"erf", ops.Erf, -all, all, 0}, {"erfc", ops.Erfc, -all, all, 0}, {"erfinv", ops.Erfinv, -1, 1, 0}, {"asinh", ops.Asinh, -all, all, 0},
			{"acosh", ops.Acosh, 1, all, 0}, {"atanh", ops.Atanh, -1, 1, 0}, {"asin", ops.Asin, -1, 1, 0}, {"acos", ops.Acos, -1, 1, 0}, {"atan", ops.Atan, -all, all, 0},
			{"sinh", ops.Sinh, -85, 85, 0}, {"cosh", ops.Cosh, -85, 85, 0}, {"log", ops.Log, 0, all, 0}, {"log2", ops.Log2, 0, all, 0}, {"sqrt", ops.Sqrt, 0, all, 0},
			{"round", ops.Round, -all, all, 0}, {"sign", ops.Sign, -all, all, 0}, {"lgamma", ops.Lgamma, -30, 1e3, 1e-8}, {"digamma", ops.Digamma, -2, 1e3, 0}, {"relu", ops.ReLU, -all, all, 0},
			{"trunc", ops.Trunc, -all, all, 0}, {"exp2", ops.Exp2, -100, 100, 0},
		} {
			g := graph.New("extremes")
			var data []float64
			for _, x := range numbers {
				if x >= f.min && x <= f.max || x != x {
					data = append(data, dt.Round(x))
				}
			}
			x := g.Input("x", dt, graph.Dims(len(data))...)
			v := graph.NewValue(x.Type())
			copy(v.Data, data)
			// Each number is a node of its own, as the largest of several would hide the others.
			c := comparison{name: "extremes " + f.name, feed: graph.Values{x: v}, limit: max(f.limit, map[graph.DType]float64{graph.F32: 1e-5, graph.F64: 1e-12}[dt])}
			y := f.f(x)
			for i := range data {
				if f.name != "erf" || dt != graph.F32 || data[i] == data[i] { // of which ONNX Runtime 1.20 makes 1
					c.nodes = append(c.nodes, ops.Slice(y, 0, i, i+1))
				}
			}
			if off, err := c.run(t, rt); err != nil {
				t.Errorf("%s, %v: %s", f.name, dt, short(err))
			} else if off > c.limit {
				t.Errorf("%s, %v: off by %.2g", f.name, dt, off)
			}
		}
	}
	g := graph.New("rows")
	x := g.Input("x", graph.F32, graph.Dims(6, 3)...)
	v := graph.NewValue(x.Type())
	copy(v.Data, []float64{1e3, 1e3, -1e3, -1e3, -1e3, -1e3, 80, 90, 100, 0, math.Inf(-1), 1, math.Inf(-1), math.Inf(-1), math.Inf(-1), 1, 2, math.Inf(1)})
	naive := ops.Log(ops.Sum(ops.Exp(x), 1, ops.Keep))
	for i, y := range []*graph.Node{ops.LogSumExp(x, 1), ops.Softmax(x, 1), ops.LogSoftmax(x, 1), naive, ops.Div(ops.Exp(x), ops.Sum(ops.Exp(x), 1, ops.Keep)), grad.OrZero(ops.Sum(ops.Slice(naive, 0, 0, 3)), x)[0]} {
		c := comparison{name: "rows", feed: graph.Values{x: v}, limit: 1e-5}
		for r := range min(6, y.Dim(0)) {
			c.nodes = append(c.nodes, ops.Slice(y, 0, r, r+1))
		}
		if off, err := c.run(t, rt); err != nil {
			t.Errorf("%v: %v", y, short(err))
		} else if off > c.limit {
			t.Errorf("function %d: off by %.2g", i, off)
		}
	}
}
