package train_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestDecayEndsTheWiggle: the gradients of single points do not cancel where that of all
// points does, so with a constant rate SGD keeps moving around the best place, and with
// a rate that falls as 1/t it settles.
func TestDecayEndsTheWiggle(t *testing.T) {
	const n, epochs = 20, 40
	points, mean := make([]float64, n), 0.0
	for i := range points {
		points[i] = math.Cos(3 * float64(i))
		mean += points[i] / n
	}
	// wiggle is the root mean squared distance from the best place over the last epochs.
	wiggle := func(rate train.Schedule) float64 {
		g := graph.New("mean")
		x, w, sgd := g.Input("x", graph.F64), g.Param("w", graph.F64), train.SGD(0.25)
		prog, err := tape.Compile(g, tape.Fetch(w), tape.Do(sgd.Minimize(ops.Square(ops.Sub(x, w)))))
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, tape.NewStore(g))
		defer vm.Close()
		sum, late := 0.0, 0
		loop := train.Loop{
			VM: vm, Steps: epochs * n, Scheduled: map[*graph.Node]train.Schedule{sgd.Rate(g): rate},
			Feed: func(t int) (tape.Feed, error) { // in an order of its own in every epoch
				return tape.Feed{x: tape.Scalar(graph.F64, points[data.Order(1, t/n, n)[t%n]])}, nil
			},
			After: func(step int) (bool, error) {
				if step >= (epochs-5)*n {
					late++
					off := tapetest.Float(t, vm, w) - mean
					sum += off * off
				}
				return false, nil
			},
		}
		if _, err := loop.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return math.Sqrt(sum / float64(late))
	}
	constant, falling := wiggle(train.Constant(0.25)), wiggle(train.InverseTime(0.5, 1))
	if !(constant > 0.1) || !(falling < 0.02) {
		t.Errorf("from the best place: %v with a constant rate, %v with a falling one", constant, falling)
	}
}
