package ops_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Which rows have a negative number, how many in each, and the fraction of all.
func ExampleAny() {
	g := graph.New("masks")
	x := g.Constant(graph.F32, []float64{1, -2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("k", 3))
	negative := ops.Less(x, ops.Lit(x, 0))
	show(ops.Any(negative, "k"), ops.All(negative), ops.Sum(negative, "k"), ops.Mean(negative))
	// Output:
	// [i=2] [true false]
	// [] false
	// [i=2] [1 0]
	// [] 0.167
}

// Weights of three scores: the last is so far below the others that it has none.
func ExampleSparsemax() {
	g := graph.New("weights")
	x := g.Constant(graph.F32, []float64{1, .8, -.5}, graph.Ax("k", 3))
	show(ops.Sparsemax(x, "k"), ops.Softmax(x, "k"))
	// Output:
	// [k=3] [0.6 0.4 0]
	// [k=3] [0.49 0.401 0.109]
}

// Over one axis by its name, by number, and over all; Keep leaves the axis with size 1.
func ExampleSum() {
	g := graph.New("sum")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("d", 3))
	show(ops.Sum(x, "d"), ops.Sum(x, 0), ops.Sum(x), ops.Sum(x, "d", ops.Keep))
	// Output:
	// [i=2] [6 15]
	// [d=3] [5 7 9]
	// [] 21
	// [i=2 d=1] [6 15]
}

// Rows without their mean.
func ExampleMean() {
	g := graph.New("mean")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 9}, graph.Ax("i", 2), graph.Ax("d", 3))
	m := ops.Mean(x, "d", ops.Keep)
	show(m, ops.Sub(x, m))
	// Output:
	// [i=2 d=1] [2 6]
	// [i=2 d=3] [-1 0 1 -2 -1 3]
}

func ExampleMax() {
	g := graph.New("max")
	x := g.Constant(graph.F32, []float64{1, 7, 3, 4, 5, 0}, graph.Ax("i", 2), graph.Ax("d", 3))
	show(ops.Max(x, "d"), ops.Min(x, "d"), ops.ArgMax(x, "d"))
	// Output:
	// [i=2] [7 5]
	// [i=2] [1 0]
	// [i=2] [1 1]
}

func ExampleVar() {
	g := graph.New("var")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Ax("i", 4))
	show(ops.Var(x), ops.Norm(x), ops.Prod(x))
	// Output:
	// [] 1.25
	// [] 5.48
	// [] 24
}

func ExampleCumSum() {
	g := graph.New("running")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Ax("t", 4))
	show(ops.CumSum(x, "t"))
	// Output: [t=4] [1 3 6 10]
}

func ExampleCumProd() {
	g := graph.New("running")
	x := g.Constant(graph.F32, []float64{1, 3, 2, 4}, graph.Ax("t", 4))
	show(ops.CumProd(x, "t"), ops.CumMax(x, "t"), ops.CumMin(x, "t"), ops.LogCumSumExp(ops.Log(x), "t"))
	// Output:
	// [t=4] [1 3 6 24]
	// [t=4] [1 3 3 4]
	// [t=4] [1 1 1 1]
	// [t=4] [0 1.39 1.79 2.3]
}

// A moving average that forgets half with each step.
func ExampleLinearRecurrence() {
	g := graph.New("average")
	x := g.Constant(graph.F32, []float64{8, 0, 0, 8}, graph.Ax("t", 4))
	half := ops.Lit(x, .5)
	show(ops.LinearRecurrence(half, ops.Mul(half, x), "t"))
	// Output: [t=4] [4 2 1 4.5]
}

// Attention weights: every row sums to 1.
func ExampleSoftmax() {
	g := graph.New("softmax")
	e := g.Constant(graph.F32, []float64{0, 0, 1000, 1000, 0, -1000}, graph.Ax("t", 2), graph.Ax("u", 3))
	α := ops.Softmax(e, "u")
	show(α, ops.Sum(α, "u"))
	// Output:
	// [t=2 u=3] [0 0 1 1 0 0]
	// [t=2] [1 1]
}

// LogSoftmax keeps what Softmax rounds to 0.
func ExampleLogSoftmax() {
	g := graph.New("logsoftmax")
	z := g.Constant(graph.F32, []float64{0, 1000, 500}, graph.Ax("class", 3))
	show(ops.Softmax(z, "class"), ops.LogSoftmax(z, "class"), ops.LogSumExp(z, "class"))
	// Output:
	// [class=3] [0 1 0]
	// [class=3] [-1e+03 0 -500]
	// [] 1e+03
}

// Each row gets mean 0 and variance 1.
func ExampleStandardise() {
	g := graph.New("standardise")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 10, 20, 30}, graph.Ax("i", 2), graph.Ax("d", 3))
	show(ops.Standardise(x, 1e-5, "d"))
	// Output: [i=2 d=3] [-1.22 0 1.22 -1.22 0 1.22]
}

// Leading axes are a batch: here one matrix multiplies both.
func ExampleMatMul() {
	g := graph.New("product")
	a := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6, 7, 8}, graph.Ax("b", 2), graph.Ax("m", 2), graph.Ax("k", 2))
	w := g.Constant(graph.F32, []float64{1, 0, 1, 0, 1, 1}, graph.Ax("k", 2), graph.Ax("n", 3))
	show(ops.MatMul(a, w))
	// Output: [b=2 m=2 n=3] [1 2 3 3 4 7 5 6 11 7 8 15]
}

// Products over named axes: a linear map, an outer product, a trace.
func ExampleEinsum() {
	g := graph.New("einsum")
	x := g.Constant(graph.F32, []float64{1, 2}, graph.Ax("d", 2))
	w := g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Ax("d", 2), graph.Ax("e", 2))
	show(ops.Einsum("d, d e -> e", x, w), ops.Einsum("a, b -> a b", x, x), ops.Einsum("i i ->", w))
	// Output:
	// [e=2] [7 10]
	// [a=2 b=2] [1 2 2 4]
	// [] 5
}

func ExampleSqDist() {
	g := graph.New("distances")
	x := g.Constant(graph.F32, []float64{0, 0, 3, 4}, graph.Ax("i", 2), graph.Ax("d", 2))
	r := g.Constant(graph.F32, []float64{0, 1, 3, 0, 3, 4}, graph.Ax("j", 3), graph.Ax("d", 2))
	show(ops.SqDist(x, r))
	// Output: [i=2 j=3] [1 9 25 18 16 0]
}
