package train_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestDecayEndsTheWiggle: at the minimum the gradients of single points do not vanish, though their
// mean does; so with a constant rate SGD keeps moving around it, and with a rate that falls as 1/t
// it settles.
func TestDecayEndsTheWiggle(t *testing.T) {
	const n, epochs = 20, 40
	points, mean := make([]float64, n), 0.0
	for i := range points {
		points[i] = math.Cos(3 * float64(i))
		mean += points[i] / n
	}
	// wiggle is the root mean squared distance from the best place over the last epochs.
	wiggle := func(rate train.Schedule) float64 {
		trainer := &train.Trainer{Optimiser: train.SGD(0.25), Build: func(int, train.Mode) *train.Net {
			g := graph.New("mean")
			return &train.Net{Loss: ops.Square(ops.Sub(g.Input("x", graph.F64), g.Param("w", graph.F64)))}
		}}
		defer trainer.Close()
		sum, late := 0.0, 0
		run := train.Run{
			Trainer: trainer, Steps: epochs * n, Rate: rate,
			Data: data.Generated("points", 1, func(t int) (map[string]*tensor.Dense, error) { // in an order of its own in every epoch
				return map[string]*tensor.Dense{"x": tape.Scalar(graph.F64, points[data.Order(1, t/n, n)[t%n]])}, nil
			}),
			Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
				if e.Step > (epochs-5)*n {
					late++
					w, err := trainer.Store().Get("w")
					if err != nil {
						return err
					}
					off := w.Float64s()[0] - mean
					sum += off * off
				}
				return nil
			})},
		}
		if err := run.Do(context.Background()); err != nil {
			t.Fatal(err)
		}
		return math.Sqrt(sum / float64(late))
	}
	constant, falling := wiggle(train.Constant(0.25)), wiggle(train.InverseTime(0.5, 1))
	if !(constant > 0.1) || !(falling < 0.02) {
		t.Errorf("from the best place: %v with a constant rate, %v with a falling one", constant, falling)
	}
}
