package main

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Models of the tests alone: whatever the registry holds, there is one of each kind.
func init() {
	families = func() []builders.Family {
		return append(builders.Families(), builders.Family{Name: "tests", Builders: []builders.Builder{perceptron("test-perceptron", 0),
			perceptron("test-deep", 1), testDistance, testFrozen, testExplodes, testHuber, testSinks, testEdge, testTiny, testWrongRule}})
	}
}

// perceptron classifies points by the quarter of the plane that they lie in, and
// counts its steps.
func perceptron(name string, layers int) builders.Builder {
	return builders.Define(builders.Builder{
		Name: name, Title: "perceptron on the quarters of the plane", Notes: "tests", Formula: "y = softmax(tanh(x·W₁ + b₁)·W₂ + b₂)",
		Hyperparameters: []builders.Hyperparameter{
			{Name: "n", Default: 32, Doc: "points in a batch", Kind: builders.Count},
			{Name: "h", Default: 8, Doc: "hidden units", Kind: builders.Count},
			{Name: "act", Doc: "what follows a layer", Kind: builders.Choice, Choices: []string{"tanh", "relu"}},
			{Name: "count", Default: 1, Doc: "whether steps are counted", Kind: builders.Flag},
		},
	}, func(s builders.Settings, dt graph.DType, m *builders.Model) {
		g := m.Graph
		i, d, h, c := graph.Ax("i", s.Int("n")), graph.Ax("d", 2), graph.Ax("h", s.Int("h")), graph.Ax("c", 4)
		x, labels := g.Input("x", dt, i, d), g.Input("labels", graph.I64, i)
		act := []func(*graph.Node) *graph.Node{ops.Tanh, ops.ReLU}[s.Int("act")]
		y := act(nn.NewLinear(g, "in", dt, d, h).Of(x)).As("h")
		for range layers {
			y = act(nn.NewLinear(g, "between", dt, h, graph.Ax("k", h.Size)).Of(y)).As("k")
		}
		m.Output = nn.NewLinear(g, "out", dt, y.Shape().Axis(1), c).Of(y).As("y")
		m.Loss = nn.CrossEntropy(m.Output, labels).As("loss")
		if s.Is("count") {
			steps := g.State("steps", dt)
			m.Step = graph.Step{g.Assign(steps, ops.Shift(steps, 1))}
		}
		m.Examples = func(rng *rand.Rand) graph.Values {
			xs, ls := graph.NewValue(x.Type()), graph.NewValue(labels.Type())
			for p := range ls.Data {
				a, b := dt.Round(rng.NormFloat64()), dt.Round(rng.NormFloat64())
				xs.Data[2*p], xs.Data[2*p+1] = a, b
				if a > 0 {
					ls.Data[p]++
				}
				if b > 0 {
					ls.Data[p] += 2
				}
			}
			return graph.Values{x: xs, labels: ls}
		}
	})
}

// plain makes a model over one input x[i=4].
func plain(name string, sizes []builders.Hyperparameter, fill func(x *graph.Node, m *builders.Model)) builders.Builder {
	sizes = append(sizes, builders.Hyperparameter{Name: "n", Default: 4, Doc: "numbers", Kind: builders.Count})
	return builders.Define(builders.Builder{Name: name, Title: name, Notes: "tests", Formula: "–", Hyperparameters: sizes},
		func(s builders.Settings, dt graph.DType, m *builders.Model) {
			x := m.Graph.Input("x", dt, graph.Ax("i", s.Int("n")))
			fill(x, m)
			m.Examples = func(rng *rand.Rand) graph.Values {
				v := graph.NewValue(x.Type())
				for i := range v.Data {
					v.Data[i] = dt.Round(rng.NormFloat64())
				}
				return graph.Values{x: v}
			}
		})
}

// A model without a loss.
var testDistance = plain("test-distance", nil, func(x *graph.Node, m *builders.Model) {
	m.Output = ops.Sqrt(ops.Sum(ops.Square(x))).As("D")
})

// A parameter that no derivative reaches, beside one that it does.
var testFrozen = plain("test-frozen", nil, func(x *graph.Node, m *builders.Model) {
	w, frozen := m.Graph.Param("w", x.DType()), m.Graph.Param("frozen", x.DType())
	m.Output = ops.Mul(ops.Mul(x, w), ops.Shift(ops.StopGradient(frozen), 1)).As("y")
	m.Loss = ops.Mean(ops.Square(ops.Sub(m.Output, x))).As("loss")
})

// A loss that leaves the numbers of its type.
var testExplodes = plain("test-explodes", nil, func(x *graph.Node, m *builders.Model) {
	w := m.Graph.Param("w", x.DType()).Init(initial.Fill(2))
	m.Output = ops.Exp(ops.Exp(ops.Exp(ops.Exp(w)))).As("y")
	m.Loss = ops.Sub(ops.Mean(x), m.Output).As("loss")
})

// A loss without parameters.
var testHuber = plain("test-huber", nil, func(x *graph.Node, m *builders.Model) {
	m.Output = ops.Mul(ops.Square(x), ops.Lit(x, 0.5)).As("y")
	m.Loss = ops.Mean(m.Output).As("loss")
})
