package ops_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// show computes nodes and prints their shapes and values.
func show(nodes ...*graph.Node) {
	g := nodes[0].Graph()
	program, err := tape.Compile(g, tape.Fetch(nodes...))
	if err != nil {
		log.Fatal(err)
	}
	vm, err := program.NewVM(tape.NewStore(g, tape.Seed(1)))
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Run(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	for _, y := range nodes {
		v, err := vm.Value(y)
		if err != nil {
			log.Fatal(err)
		}
		format := "%v %v\n"
		if y.DType().IsFloat() {
			format = "%v %.3v\n"
		}
		fmt.Printf(format, y.Shape(), v.Data())
	}
}

// Squared distances of every point from every centre, each axis by its name.
func Example() {
	g := graph.New("distances")
	x := g.Input("x", graph.F32, graph.Ax("i", 150), graph.Ax("d", 4))
	r := g.Param("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 4))
	difference := ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))
	D := ops.Sum(ops.Square(difference), "d").As("D")
	fmt.Println(D.Shape(), viz.Formula(D))
	fmt.Println(g.Err())
	// Output:
	// [i=150 j=3] Dᵢⱼ = ‖xᵢ − rⱼ‖²
	// <nil>
}

// Arrays of different shapes are repeated to a common one.
func ExampleAdd() {
	g := graph.New("add")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("d", 3))
	b := g.Constant(graph.F32, []float64{10, 20, 30}, graph.Ax("d", 3))
	show(ops.Add(x, b))
	// Output: [i=2 d=3] [11 22 33 14 25 36]
}

// A column and a list do not make all pairs by accident; Over asks for them.
func ExampleSub() {
	g := graph.New("sub")
	y := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("i", 3))
	show(ops.Sub(ops.Over(y, "i", "j"), ops.Rename(y, "i", "j")))
	// Output: [i=3 j=3] [0 -1 -2 1 0 -1 2 1 0]
}

func ExampleMul() {
	g := graph.New("mul")
	a := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("i", 3))
	b := g.Constant(graph.F32, []float64{4, 5, 6}, graph.Ax("i", 3))
	show(ops.Mul(a, b), ops.Div(b, a))
	// Output:
	// [i=3] [4 10 18]
	// [i=3] [4 2.5 2]
}

// A quotient by zero is infinite, as in Go.
func ExampleDiv() {
	g := graph.New("div")
	a := g.Constant(graph.F64, []float64{1, -1, 3}, graph.Ax("i", 3))
	b := g.Constant(graph.F64, []float64{0, 0, 2}, graph.Ax("i", 3))
	show(ops.Div(a, b))
	// Output: [i=3] [+Inf -Inf 1.5]
}

// A number takes the element type of the array beside it.
func ExampleLit() {
	g := graph.New("lit")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	k := g.Input("k", graph.I64, graph.Ax("i", 3))
	fmt.Println(ops.Lit(x, 0.5).Type(), ops.Lit(k, 2).Type())
	ops.Lit(k, 0.5)
	fmt.Println(g.Err() != nil)
	// Output:
	// f32[] i64[]
	// true
}

// The affine map 2x + 1, and its complement.
func ExampleScale() {
	g := graph.New("affine")
	x := g.Constant(graph.F32, []float64{0, 1, 2}, graph.Ax("i", 3))
	y := ops.Shift(ops.Scale(x, 2), 1)
	show(y, ops.OneMinus(y))
	// Output:
	// [i=3] [1 3 5]
	// [i=3] [0 -2 -4]
}

func ExampleShift() {
	g := graph.New("shift")
	x := g.Constant(graph.I32, []float64{1, 2, 3}, graph.Ax("i", 3))
	show(ops.Shift(x, -1))
	// Output: [i=3] [0 1 2]
}

func ExampleNeg() {
	g := graph.New("neg")
	x := g.Constant(graph.F32, []float64{1, -2, 0}, graph.Ax("i", 3))
	show(ops.Neg(x), ops.Abs(x), ops.Sign(x))
	// Output:
	// [i=3] [-1 2 -0]
	// [i=3] [1 2 0]
	// [i=3] [1 -1 0]
}

// The derivative of x² is 2x.
func ExampleSquare() {
	g := graph.New("square")
	x := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("i", 3))
	y := ops.Square(x)
	show(y, grad.Of(ops.Sum(y), x)[0])
	// Output:
	// [i=3] [1 4 9]
	// [i=3] [2 4 6]
}

func ExampleSqrt() {
	g := graph.New("sqrt")
	x := g.Constant(graph.F32, []float64{4, 2, 0, -1}, graph.Ax("i", 4))
	show(ops.Sqrt(x))
	// Output: [i=4] [2 1.41 0 NaN]
}

func ExamplePow() {
	g := graph.New("pow")
	x := g.Constant(graph.F32, []float64{-2, 2, 3}, graph.Ax("i", 3))
	show(ops.Pow(x, ops.Lit(x, 3)), ops.Pow(x, ops.Lit(x, 0.5)))
	// Output:
	// [i=3] [-8 8 27]
	// [i=3] [NaN 1.41 1.73]
}

func ExampleExp() {
	g := graph.New("exp")
	x := g.Constant(graph.F32, []float64{0, 1, -1}, graph.Ax("i", 3))
	show(ops.Exp(x), ops.Log(ops.Exp(x)))
	// Output:
	// [i=3] [1 2.72 0.368]
	// [i=3] [0 1 -1]
}

// Log1p keeps the digits that the sum 1 + x loses; a program computes the first as the second.
func ExampleLog() {
	g := graph.New("log")
	x := g.Constant(graph.F32, []float64{1e-10, 1}, graph.Ax("i", 2))
	show(ops.Log(ops.Shift(x, 1)), ops.Log1p(x))
	// Output:
	// [i=2] [1e-10 0.693]
	// [i=2] [1e-10 0.693]
}

func ExampleSin() {
	g := graph.New("sin")
	x := g.Constant(graph.F64, []float64{0, 1, 2}, graph.Ax("i", 3))
	show(ops.Sin(x), ops.Cos(x))
	// Output:
	// [i=3] [0 0.841 0.909]
	// [i=3] [1 0.54 -0.416]
}

// The larger and the smaller of two arrays.
func ExampleMaximum() {
	g := graph.New("maximum")
	a := g.Constant(graph.F32, []float64{1, 5, 3}, graph.Ax("i", 3))
	b := g.Constant(graph.F32, []float64{2, 4, 3}, graph.Ax("i", 3))
	show(ops.Maximum(a, b), ops.Minimum(a, b))
	// Output:
	// [i=3] [2 5 3]
	// [i=3] [1 4 3]
}

func ExampleClip() {
	g := graph.New("clip")
	x := g.Constant(graph.F32, []float64{-2, 0.5, 3}, graph.Ax("i", 3))
	show(ops.Clip(x, ops.Lit(x, -1), ops.Lit(x, 1)))
	// Output: [i=3] [-1 0.5 1]
}

// A mask is an array of bools; as numbers, true is 1.
func ExampleLess() {
	g := graph.New("less")
	a := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("i", 3))
	m := ops.Less(a, ops.Lit(a, 2))
	show(m, ops.Cast(m, graph.F32), ops.Not(m))
	// Output:
	// [i=3] [true false false]
	// [i=3] [1 0 0]
	// [i=3] [false true true]
}

// The side that is not chosen has no influence, not even as NaN: neither here nor in derivatives.
func ExampleSelect() {
	g := graph.New("select")
	x := g.Constant(graph.F32, []float64{4, -1, 0}, graph.Ax("i", 3))
	y := ops.Select(ops.Greater(x, ops.Lit(x, 0)), ops.Sqrt(x), ops.Lit(x, 0))
	show(y, grad.Of(ops.Sum(y), x)[0])
	// Output:
	// [i=3] [2 0 0]
	// [i=3] [0.25 0 0]
}

func ExampleCast() {
	g := graph.New("cast")
	x := g.Constant(graph.F32, []float64{2.7, -2.7, 1e30}, graph.Ax("i", 3))
	show(ops.Cast(x, graph.I32), ops.Cast(x, graph.Bool))
	// Output:
	// [i=3] [2 -2 2147483647]
	// [i=3] [true true true]
}

func ExampleReLU() {
	g := graph.New("relu")
	x := g.Constant(graph.F32, []float64{-1, 0, 2}, graph.Ax("i", 3))
	y := ops.ReLU(x)
	show(y, grad.Of(ops.Sum(y), x)[0])
	// Output:
	// [i=3] [0 0 2]
	// [i=3] [0 0 1]
}

func ExampleTanh() {
	g := graph.New("tanh")
	x := g.Constant(graph.F32, []float64{-1, 0, 1}, graph.Ax("i", 3))
	show(ops.Tanh(x), ops.Sigmoid(ops.Scale(x, 2)))
	// Output:
	// [i=3] [-0.762 0 0.762]
	// [i=3] [0.119 0.5 0.881]
}

// LogSigmoid is finite where the logarithm of Sigmoid is not; a program computes the second as the
// third.
func ExampleSigmoid() {
	g := graph.New("sigmoid")
	x := g.Constant(graph.F32, []float64{0, 2, -200}, graph.Ax("i", 3))
	show(ops.Sigmoid(x), ops.Log(ops.Sigmoid(x)), ops.LogSigmoid(x))
	// Output:
	// [i=3] [0.5 0.881 0]
	// [i=3] [-0.693 -0.127 -200]
	// [i=3] [-0.693 -0.127 -200]
}

func ExampleGELU() {
	g := graph.New("gelu")
	x := g.Constant(graph.F32, []float64{-1, 0, 1}, graph.Ax("i", 3))
	show(ops.GELU(x), ops.GELUTanh(x), ops.SiLU(x))
	// Output:
	// [i=3] [-0.159 0 0.841]
	// [i=3] [-0.159 0 0.841]
	// [i=3] [-0.269 0 0.731]
}

// A target that is made of the model itself, but is not learnt.
func ExampleStopGradient() {
	g := graph.New("stop")
	x := g.Constant(graph.F32, []float64{3}, graph.Ax("i", 1))
	y := ops.Sum(ops.Mul(x, ops.StopGradient(x)))
	show(grad.Of(y, x)[0])
	// Output: [i=1] [3]
}

// A categorical draw takes each class as often as the softmax of its logits says.
func ExampleRandomCategorical() {
	g := graph.New("draw")
	p := g.Constant(graph.F64, []float64{.7, .2, .1}, graph.Ax("c", 3))
	rows, _ := graph.NewShape(graph.Ax("i", 10000), graph.Ax("c", 3))
	k := ops.RandomCategorical("k", ops.BroadcastTo(ops.Log(p), rows), "c")
	show(ops.Mean(ops.OneHot(k, 1, graph.Ax("c", 3), graph.F64), "i"))
	// Output: [c=3] [0.702 0.203 0.0945]
}

// Throws of dice, and coins that show heads one time in four.
func ExampleRandomInt() {
	g := graph.New("draw")
	show(ops.RandomInt(g, "dice", graph.I32, 1, 7, graph.Ax("i", 8)))
	p := g.Constant(graph.F32, []float64{0, .25, .25, .25, .25, 1}, graph.Ax("i", 6))
	show(ops.RandomBernoulli("heads", p))
	// Output:
	// [i=8] [6 3 1 2 3 2 3 3]
	// [i=6] [false false true false false true]
}

// Examples and their labels in one random order, which its own order undoes.
func ExampleRandomPermutation() {
	g := graph.New("shuffle")
	x := g.Constant(graph.F32, []float64{1, 10, 2, 20, 3, 30, 4, 40}, graph.Ax("i", 4), graph.Ax("d", 2))
	label := g.Constant(graph.I64, []float64{1, 2, 3, 4}, graph.Ax("i", 4))
	order := ops.RandomPermutation(g, "order", graph.Ax("i", 4))
	rows := ops.Gather(x, order, "i")
	show(rows, ops.Gather(label, order, "i"), ops.Gather(rows, ops.ArgSort(order, "i"), "i"))
	// Output:
	// [i=4 d=2] [4 40 2 20 3 30 1 10]
	// [i=4] [4 2 3 1]
	// [i=4 d=2] [1 10 2 20 3 30 4 40]
}

// The strongest message to each node of a graph: no array of nodes × edges is made.
func ExampleSegmentMax() {
	g := graph.New("messages")
	m := g.Constant(graph.F32, []float64{.3, .9, .1, .5}, graph.Ax("e", 4))
	to := g.Constant(graph.I64, []float64{2, 0, 2, 0}, graph.Ax("e", 4))
	show(ops.SegmentMax(m, to, graph.Ax("n", 3)))
	// Output: [n=3] [0.9 -Inf 0.3]
}

// Of equal indices the last one counts.
func ExampleSetAt() {
	g := graph.New("table")
	x := g.Constant(graph.F32, []float64{0, 1, 2, 3}, graph.Ax("v", 4))
	at := g.Constant(graph.I64, []float64{3, 1, 3}, graph.Ax("k", 3))
	show(ops.SetAt(x, at, g.Constant(graph.F32, []float64{7, 8, 9}, graph.Ax("k", 3)), "v"))
	// Output: [v=4] [0 8 2 9]
}

// Draws of one name in one scope are the same; the seed is the store's.
func ExampleRandomNormal() {
	g := graph.New("draw")
	ε := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 3))
	show(ε, ops.RandomUniform(g, "u", graph.F32, graph.Ax("i", 3)))
	// Output:
	// [i=3] [-0.497 -0.24 0.889]
	// [i=3] [0.0254 0.799 0.409]
}
