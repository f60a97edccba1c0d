package builders_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

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

// A recurrence of any length is one node; its step is any function of nodes.
func ExampleRecur() {
	g := graph.New("echo")
	h := graph.Ax("h", 4)
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("t", 1000), graph.Ax("m", 3))
	cell := rnn.NewLSTM(g, "lstm", graph.F32, graph.Ax("m", 3), h)
	y := rnn.Recur{Cell: cell}.Of(x)
	fmt.Println(y.Shape(), g.Len() < 60, g.Err())
	// Output: [b=2 t=1000 h=4] true <nil>
}
