// Own-optimiser trains a small net on handwritten digits by three optimisers that are no part of
// package train: Lion, Muon and Shampoo, each a rule of a few lines for train.Custom.
package main

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// expected is the accuracy on held-out digits that each is to reach.
const expected = 0.93

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		var missed []error
		for _, o := range []train.Optimiser{lion(0.01, train.DecoupledDecay(0.1)), muon(0.02), shampoo(0.3)} {
			accuracy, err := learn(ctx, l, o)
			if err != nil {
				return err
			}
			missed = append(missed, l.AtLeast("accuracy of "+o.String(), accuracy, expected))
		}
		g := graph.New("lion")
		w, x := g.Param("w", graph.F32, graph.Ax("d", 4)), g.Input("x", graph.F32, graph.Ax("d", 4))
		step := lion(0.01).Minimize(ops.Mean(ops.Square(ops.Sub(w, x))).As("loss"), w)
		missed = append(missed, l.Draw("lion.svg", step[0].Value))
		return errors.Join(missed...)
	})
}

// net reads digits with one hidden layer of 16 units.
func net(rows int, _ train.Mode) *train.Net {
	g := graph.New("digits")
	n, pixels, hidden, digit := graph.Ax("n", rows), graph.Ax("p", 64), graph.Ax("h", 16), graph.Ax("c", 10)
	x, y := g.Input("x", graph.F64, n, pixels), g.Input("y", graph.I32, n)
	h := ops.ReLU(nn.NewLinear(g, "fc1", graph.F64, pixels, hidden).Of(ops.Scale(x, 1.0/16)))
	logits := nn.NewLinear(g, "fc2", graph.F64, hidden, digit).Of(h)
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// learn trains for five epochs on four fifths of the digits, and returns the accuracy on the others.
func learn(ctx context.Context, l *lesson.Lesson, o train.Optimiser) (float64, error) {
	all, err := data.Digits().Set("x", "y", tensor.Float64)
	if err != nil {
		return 0, err
	}
	fit, test, err := all.Split(func(i int) bool { return i%5 == 4 })
	if err != nil {
		return 0, err
	}
	t := &train.Trainer{Build: net, Optimiser: o, Seed: 1 + l.Seed, Workers: l.Workers}
	defer t.Close()
	if err := t.Fit(ctx, l.Plan(o.Name(), train.Plan{Data: data.Shuffled(fit, 64, 1+l.Seed), Epochs: l.Few(5, 1)})); err != nil {
		return 0, err
	}
	scores, err := t.Evaluate(ctx, data.InOrder(test, 0), metric.Accuracy("y"))
	if err != nil {
		return 0, err
	}
	return scores[1].Value, nil
}
