package nn_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// BenchmarkLogisticRegression is a step of gradient descent, on one core, with the loss as it may
// be written.
func BenchmarkLogisticRegression(b *testing.B) {
	const examples, features = 26733, 10
	for name, loss := range map[string]func(z, y *graph.Node) *graph.Node{
		"sigmoids": func(z, y *graph.Node) *graph.Node {
			p := ops.Sigmoid(z)
			return ops.Neg(ops.Mean(ops.Add(ops.Mul(y, ops.Log(p)), ops.Mul(ops.OneMinus(y), ops.Log(ops.OneMinus(p))))))
		},
		"softplus": func(z, y *graph.Node) *graph.Node {
			return ops.Mean(ops.Sub(ops.Log(ops.Shift(ops.Exp(z), 1)), ops.Mul(y, z)))
		},
		"BinaryCrossEntropy": func(z, y *graph.Node) *graph.Node { return nn.BinaryCrossEntropy(z, y, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			g := graph.New("logistic regression")
			x, y := g.Input("x", graph.F32, graph.Ax("i", examples), graph.Ax("d", features)), g.Input("y", graph.F32, graph.Ax("i", examples))
			w, c := g.Param("w", graph.F32, graph.Ax("d", features), graph.Ax("k", 1)), g.Param("b", graph.F32)
			l := loss(ops.Add(ops.Reshape(ops.MatMul(x, w), examples), c), y)
			var step graph.Step
			for i, d := range grad.Of(l, w, c) {
				p := []*graph.Node{w, c}[i]
				step = append(step, g.Assign(p, ops.Sub(p, ops.Scale(d, 0.1))))
			}
			prog, err := tape.Compile(g, tape.Fetch(l), tape.Do(step))
			if err != nil {
				b.Fatal(err)
			}
			vm := tapetest.VM(b, prog, tape.NewStore(g), tape.Workers(1))
			defer vm.Close()
			rnd := rand.New(rand.NewPCG(1, 2))
			rows, labels := graph.NewValue(x.Type()), graph.NewValue(y.Type())
			for i := range rows.Data {
				rows.Data[i] = rnd.NormFloat64()
			}
			for i := range labels.Data {
				labels.Data[i] = float64(rnd.IntN(2))
			}
			feed := tape.Feed{x: tape.Tensor(rows), y: tape.Tensor(labels)}
			for b.Loop() {
				if err := vm.Run(context.Background(), feed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
