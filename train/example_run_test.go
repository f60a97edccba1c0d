package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// A weight learns to double a number. The batches are functions of the step, and an observer ends
// the run when the loss is small.
func ExampleRun() {
	t := &train.Trainer{Optimiser: train.SGD(0.05), Build: func(int, train.Mode) *train.Net {
		g := graph.New("double")
		x, w := g.Input("x", graph.F64), g.Param("w", graph.F64)
		return &train.Net{Loss: ops.Square(ops.Sub(ops.Mul(w, x), ops.Scale(x, 2)))}
	}}
	defer t.Close()
	run := train.Run{
		Trainer: t, Steps: 1000,
		Data: data.Generated("1, 2, 3, 1, …", 1, func(step int) (map[string]*tensor.Dense, error) {
			return map[string]*tensor.Dense{"x": tape.Scalar(graph.F64, float64(1+step%3))}, nil
		}),
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped && e.Loss < 1e-6 {
				return train.ErrStop
			}
			return nil
		})},
	}
	if err := run.Do(context.Background()); err != nil {
		log.Fatal(err)
	}
	w, err := t.Store().Get("w")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("w = %.3f after %d steps\n", w.ScalarValue(), t.Store().Step())
	// Output: w = 2.000 after 10 steps
}
