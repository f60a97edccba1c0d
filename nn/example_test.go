package nn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// show computes a node and prints its shape and values.
func show(y *graph.Node) {
	values, err := tape.Eval(context.Background(), nil, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %.3v\n", y.Shape(), values[y].Data)
}

// A net of two layers: what the layers are called is what their parameters are called.
func Example() {
	const dt = graph.F32
	g := graph.New("perceptron")
	b, in, h, class := graph.Ax("b", 32), graph.Ax("in", 64), graph.Ax("h", 128), graph.Ax("class", 10)
	x, label := g.Input("x", dt, b, in), g.Input("label", graph.I64, b)

	fc, out := nn.NewLinear(g, "fc", dt, in, h), nn.NewLinear(g, "out", dt, h, class)
	hidden := ops.ReLU(fc.Of(x)).As("hidden")
	logits := out.Of(hidden).As("logits")
	loss := nn.CrossEntropy(logits, label).As("loss")

	for _, e := range viz.Equations(loss) {
		fmt.Println(e)
	}
	for _, p := range g.Leaves(graph.RoleParam) {
		fmt.Println(p.Path(), p.Shape())
	}
	fmt.Println(g.Err())
	// Output:
	// hidden_{bh} = relu(Σ_{in} x_{b,in}·fc.w_{in,h} + fc.bₕ)
	// logits_{b,class} = Σₕ hidden_{bh}·out.w_{h,class} + out.b_{class}
	// ℓ_b = −Σ_{class} [class = label_b]·log softmax_{class}(logits_{b,class})
	// loss = mean_b ℓ_b
	// fc/w [in=64 h=128]
	// fc/b [h=128]
	// out/w [h=128 class=10]
	// out/b [class=10]
	// <nil>
}

// Weights from elsewhere make a layer, too.
func ExampleLinear() {
	g := graph.New("linear")
	in, out := graph.Ax("in", 2), graph.Ax("out", 3)
	fc := nn.Linear{
		W: g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, in, out),
		B: g.Constant(graph.F32, []float64{0, 0, 100}, out),
	}
	x := g.Constant(graph.F32, []float64{1, 0, 0, 1}, graph.Ax("b", 2), in)
	show(fc.Of(x))
	// Output: [b=2 out=3] [1 2 103 4 5 106]
}

// A layer that is applied twice has its parameters once.
func ExampleNewLinear() {
	g := graph.New("siamese")
	in, out := graph.Ax("in", 8), graph.Ax("out", 2)
	left, right := g.Input("left", graph.F32, graph.Ax("b", 4), in), g.Input("right", graph.F32, graph.Ax("b", 4), in)
	fc := nn.NewLinear(g, "fc", graph.F32, in, out)
	distance := ops.Sub(fc.Of(left), fc.Of(right))
	fmt.Println(distance.Shape(), len(g.Leaves(graph.RoleParam)), "parameters")
	// Output: [b=4 out=2] 2 parameters
}

func ExampleEmbedding() {
	g := graph.New("embedding")
	e := nn.Embedding{Table: g.Constant(graph.F32, []float64{0, 0, 1, 10, 2, 20}, graph.Ax("v", 3), graph.Ax("m", 2))}
	tokens := g.Constant(graph.I64, []float64{2, 0, 1}, graph.Ax("t", 3))
	show(e.Of(tokens))
	// Output: [t=3 m=2] [2 20 0 0 1 10]
}

// Each row gets mean 0 and variance 1.
func ExampleLayerNorm() {
	g := graph.New("norm")
	b, d := graph.Ax("b", 2), graph.Ax("d", 4)
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 10, 20, 30, 40}, b, d)
	show(nn.NewLayerNorm(g, "norm", graph.F32, d).Of(x))
	// Output: [b=2 d=4] [-1.34 -0.447 0.447 1.34 -1.34 -0.447 0.447 1.34]
}

// In training a batch norm takes the statistics of the batch, and its step moves the running
// statistics towards them; in evaluation it takes the running statistics.
func ExampleBatchNorm() {
	g := graph.New("norm")
	c := graph.Ax("c", 2)
	x := g.Constant(graph.F32, []float64{1, 10, 3, 30}, graph.Ax("n", 2), c)
	norm := nn.NewBatchNorm(g, "norm", graph.F32, c)
	y, step := norm.OfTrain(x)
	show(y)
	show(norm.Of(x))
	for _, u := range step {
		fmt.Println(u.Target.Path())
	}
	// Output:
	// [n=2 c=2] [-1 -1 1 1]
	// [n=2 c=2] [1 10 3 30]
	// norm/mean
	// norm/var
}

// Fed a rate of 0, the same graph evaluates.
func ExampleDropout() {
	g := graph.New("dropout")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6, 7, 8}, graph.Ax("d", 8))
	p := g.Scalar("p", 0.5, graph.F32) // an input with a default
	y := nn.Dropout(x, p)
	show(y)
	// Output: [d=8] [0 4 6 8 10 12 14 16]
}

func ExampleCrossEntropy() {
	g := graph.New("loss")
	b, c := graph.Ax("b", 2), graph.Ax("class", 3)
	logits := g.Constant(graph.F32, []float64{2, 0, 0, 0, 0, 2}, b, c)
	labels := g.Constant(graph.I64, []float64{0, 1}, b)
	show(nn.CrossEntropy(logits, labels))
	show(nn.CrossEntropy(logits, labels, nn.Smoothed(ops.Lit(logits, 0.1))))
	show(nn.CrossEntropy(logits, labels, nn.Ignoring(1))) // the second example does not count
	// Output:
	// [] [1.24]
	// [] [1.27]
	// [] [0.24]
}

// Probabilities in the place of scores are a mistake, at the caller's line.
func ExampleBinaryCrossEntropy() {
	g := graph.New("loss")
	b := graph.Ax("b", 3)
	z := g.Constant(graph.F32, []float64{-100, 0, 100}, b)
	y := g.Constant(graph.F32, []float64{0, 1, 1}, b)
	show(nn.BinaryCrossEntropy(z, y, nil))
	nn.BinaryCrossEntropy(ops.Sigmoid(z), y, nil)
	fmt.Println(g.Err() != nil)
	// Output:
	// [] [0.231]
	// true
}

func ExampleHuber() {
	g := graph.New("loss")
	i := graph.Ax("i", 2)
	y, target := g.Constant(graph.F32, []float64{1, 10}, i), g.Constant(graph.F32, []float64{0, 0}, i)
	show(nn.SquaredError(y, target))
	show(nn.Huber(y, target, ops.Lit(y, 1))) // the outlier counts linearly
	// Output:
	// [] [50.5]
	// [] [5]
}

// A window that keeps the size, and one that halves it.
func ExampleNewConv2D() {
	g := graph.New("conv")
	c, d := graph.Ax("c", 3), graph.Ax("d", 16)
	x := g.Input("x", graph.F32, graph.Ax("n", 8), graph.Ax("h", 32), graph.Ax("w", 32), c)
	same := nn.NewConv2D(g, "same", graph.F32, c, d, ops.Size(3), ops.Same())
	half := nn.NewConv2D(g, "half", graph.F32, d, d, ops.Size(2), ops.Stride(2))
	y := half.Of(ops.ReLU(same.Of(x)))
	fmt.Println(y.Shape(), same.W.Shape(), g.Err())
	fmt.Println(nn.GlobalAverage(y).Shape())
	// Output:
	// [n=8 h=16 w=16 d=16] [kh=3 kw=3 c=3 d=16] <nil>
	// [n=8 d=16]
}

// An edge detector along one axis.
func ExampleConv() {
	g := graph.New("conv")
	c := graph.Ax("c", 1)
	w := g.Constant(graph.F32, []float64{-1, 1}, graph.Ax("k", 2), c, graph.Ax("o", 1))
	x := g.Constant(graph.F32, []float64{0, 0, 5, 5, 5, 0}, graph.Ax("t", 6), c)
	show(nn.Conv{W: w}.Of(ops.Expand(x, 0, "n")))
	// Output: [n=1 t=5 o=1] [0 5 0 0 -5]
}

func ExampleReceptiveField() {
	fmt.Print(nn.ReceptiveField(ops.Size(3), ops.Windows(ops.Size(2), ops.Stride(2)), ops.Size(3)))
	// Output:
	// layer  window stride padding dilation  field stride offset
	//     1       3      1       0        1      3      1      0
	//     2       2      2       0        1      4      2      0
	//     3       3      1       0        1      8      2      0
}

// What the mask leaves out has weight 0, exactly; a row without anything is 0.
func ExampleMaskedSoftmax() {
	g := graph.New("softmax")
	t, u := graph.Ax("t", 2), graph.Ax("u", 3)
	scores := g.Constant(graph.F32, []float64{1, 1, 1, 1, 2, 3}, t, u)
	mask := g.Constant(graph.Bool, []float64{1, 1, 0, 0, 0, 0}, t, u)
	show(nn.MaskedSoftmax(scores, mask))
	// Output: [t=2 u=3] [0.5 0.5 0 0 0 0]
}

// A block of any net beside a shortcut, the norm before it.
func ExampleResidual() {
	g := graph.New("residual")
	m := graph.Ax("m", 16)
	x := g.Input("x", graph.F32, graph.Ax("b", 4), m)
	block := nn.NewFeedForward(g, "block", graph.F32, m, graph.Ax("f", 64), ops.GELU)
	y := nn.Residual(x, nn.NewLayerNorm(g, "norm", graph.F32, m), false, block.Of)
	fmt.Println(y.Shape(), g.Err())
	// Output: [b=4 m=16] <nil>
}

// The average of members that start differently.
func ExampleNewEnsemble() {
	g := graph.New("ensemble")
	in, out := graph.Ax("in", 4), graph.Ax("out", 1)
	e := nn.NewEnsemble(g, 3, func(int) nn.Layer { return nn.NewLinear(g, "fc", graph.F32, in, out) })
	y := e.Of(g.Input("x", graph.F32, graph.Ax("b", 2), in))
	fmt.Println(y.Shape())
	for _, p := range g.Leaves(graph.RoleParam) {
		fmt.Println(p.Path())
	}
	// Output:
	// [b=2 out=1]
	// member1/fc/w
	// member1/fc/b
	// member2/fc/w
	// member2/fc/b
	// member3/fc/w
	// member3/fc/b
}
