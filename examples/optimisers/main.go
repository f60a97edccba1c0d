// Optimisers trains one net with every optimiser and every schedule of the learning rate, each at
// the best of several rates, and shows how fast and how far each comes.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// mlp reads digits with one hidden layer of 32 units.
func mlp(rows int, _ train.Mode) *train.Net {
	g := graph.New("digits")
	n, pixels, hidden, digit := graph.Ax("n", rows), graph.Ax("p", 64), graph.Ax("h", 32), graph.Ax("c", 10)
	x, y := g.Input("x", graph.F32, n, pixels), g.Input("y", graph.I32, n)
	h := ops.ReLU(nn.NewLinear(g, "fc1", graph.F32, pixels, hidden).Of(ops.Scale(x, 1.0/16)))
	logits := nn.NewLinear(g, "fc2", graph.F32, hidden, digit).Of(h).As("logits")
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// optimisers are tried at a ninth, a third, three and nine times the given rate as well.
var optimisers = []struct {
	name string
	rate float64
}{
	{"sgd", 0.9}, {"momentum", 0.1}, {"smoothed-momentum", 1}, {"nesterov", 0.1}, {"nesterov-peek", 0.1},
	{"adagrad", 0.1}, {"rmsprop", 0.01}, {"adam", 0.03}, {"adamw", 0.03},
}

// schedule takes a rate to its course over n steps.
type schedule struct {
	name   string
	course func(rate float64, n int) train.Schedule
}

var schedules = []schedule{
	{"constant", func(rate float64, _ int) train.Schedule { return train.Constant(rate) }},
	{"step decay", func(rate float64, n int) train.Schedule { return train.StepDecay(rate, 0.3, max(1, n/4)) }},
	{"1/t", func(rate float64, n int) train.Schedule { return train.InverseTime(rate, float64(n)/8) }},
	{"exponential", func(rate float64, n int) train.Schedule {
		return train.Exponential(rate, math.Pow(0.01, 1/float64(n)))
	}},
	{"cosine", func(rate float64, n int) train.Schedule { return train.Cosine(rate, n) }},
	{"warm-up, cosine", func(rate float64, n int) train.Schedule {
		return train.Warmup(max(1, n/20), train.Cosine(rate, n-n/20))
	}},
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		digits, err := data.Digits().Set("x", "y", tensor.Float32)
		if err != nil {
			return err
		}
		fit, test, err := digits.Split(func(i int) bool { return i%5 == 4 })
		if err != nil {
			return err
		}
		b := &bench{fit: fit, test: test, epochs: l.Few(15, 1), seeds: l.Few(3, 1), first: l.Seed, workers: l.Workers}
		all, err := b.tryAll(ctx, l.Few(5, 1))
		if err != nil {
			return err
		}
		fmt.Printf("digits to learn: %d, batch: %d, epochs: %d, seeds: %d; medians over the seeds, each at the rate with the least loss\n", fit.Rows(), batch, b.epochs, b.seeds)
		all.print("training loss, last epoch", func(t *trial) string { return fmt.Sprintf("%.4f", t.loss()) })
		all.print("test accuracy", func(t *trial) string { return fmt.Sprintf("%.3f", t.accuracy()) })
		all.print("rate", func(t *trial) string { return fmt.Sprintf("%.2g", t.rate) })
		loss := func(optimiser, schedule string) float64 { return all.best(optimiser, schedule).loss() }
		return errors.Join(
			l.Picture("optimisers.svg", all.drawOptimisers),
			l.Picture("schedules.svg", all.drawSchedules),
			l.AtMost("with a cosine, loss by momentum over that by plain descent", loss("momentum", "cosine")/loss("sgd", "cosine"), 0.5),
			l.AtMost("loss by adam with a cosine over that at a constant rate", loss("adam", "cosine")/loss("adam", "constant"), 0.5),
			l.AtLeast("test accuracy by adam with a cosine", all.best("adam", "cosine").accuracy(), 0.955),
		)
	})
}
