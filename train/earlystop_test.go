package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
)

// observe tells stop of steps after which the listed values are measured, and returns the number of
// steps until it ends the training.
func observe(t *testing.T, stop *train.EarlyStop, values ...float64) int {
	t.Helper()
	i := 0
	stop.Value = func() (float64, error) { i++; return values[i-1], nil }
	n := 0
	run := train.Run{Trainer: quadraticTrainer(t, train.SGD(0.1)), Data: nothing(), Steps: len(values) * max(1, stop.Every),
		Observers: []train.Observer{train.ObserverFunc(func(train.Event) error { n++; return nil }), stop}}
	if err := run.Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEarlyStop(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		stop   train.EarlyStop
		values []float64
		steps  int
		best   int
		value  float64
	}{
		{train.EarlyStop{}, []float64{3, 2, 2, 1}, 3, 2, 2},
		{train.EarlyStop{Patience: 2}, []float64{3, 2, 4, 5, 1, 6, 7, 8, 0}, 8, 5, 1},
		{train.EarlyStop{Patience: 1}, []float64{5, 4, 3}, 3, 3, 3},
		{train.EarlyStop{Patience: 1, Margin: 0.5}, []float64{5, 4.6, 4.4, 4.2, 4.1, 1}, 5, 3, 4.4},
		{train.EarlyStop{Every: 10}, []float64{3, 2, 2, 1}, 30, 20, 2},
		{train.EarlyStop{Patience: 1}, []float64{nan, 3, nan, nan, 1}, 4, 2, 3},
		{train.EarlyStop{Patience: 1}, []float64{inf, 3, 4, 5}, 4, 2, 3},
	} {
		n := observe(t, &c.stop, c.values...)
		step, value, ok := c.stop.Best()
		if n != c.steps || step != c.best || value != c.value || !ok {
			t.Errorf("%v: %d steps, best %v after step %d, %v; want %d steps, %v after %d", c.values, n, value, step, ok, c.steps, c.value, c.best)
		}
	}
}

// TestEarlyStopRestores: the store is restored to the best step, moments included, and training
// continues from there as it did the first time.
func TestEarlyStopRestores(t *testing.T) {
	trainer := quadraticTrainer(t, train.Adam(0.1))
	if _, err := trainer.Prepare(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	var path [][]float64 // the weights after each step
	all := func() []float64 {
		var out []float64
		for _, p := range trainer.Store().Paths() {
			d, err := trainer.Store().Get(p)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok := d.Data().([]float64); ok {
				out = append(out, v...)
			} else {
				out = append(out, d.Data().(float64))
			}
		}
		return out
	}
	path = append(path, all())
	stop := &train.EarlyStop{Store: trainer.Store(), Patience: 2, Value: func() (float64, error) {
		path = append(path, all())
		w, err := trainer.Store().Get("w")
		return math.Abs(w.Float64s()[0] - 0.5), err // worse beyond the middle
	}}
	run := train.Run{Trainer: trainer, Data: nothing(), Steps: 100, Observers: []train.Observer{stop}}
	err := run.Do(context.Background())
	n := int(trainer.Store().Step())
	best, value, ok := stop.Best()
	if err != nil || n != best+3 || !ok || math.Abs(value) > 0.1 {
		t.Fatalf("%d steps, best %v after step %d, %v", n, value, best, err)
	}
	if err := stop.Restore(); err != nil || !slices.Equal(all(), path[best]) || slices.Equal(path[best], path[n]) {
		t.Errorf("restored %v, %v: want %v", all(), err, path[best])
	}
	if err := run.Step(context.Background()); err != nil && !errors.Is(err, train.ErrStop) || !slices.Equal(all(), path[best+1]) {
		t.Errorf("the next step gives %v, %v: want %v", all(), err, path[best+1])
	}
	if err := stop.Restore(); err != nil || !slices.Equal(all(), path[best]) {
		t.Errorf("restored again: %v, %v", all(), err)
	}
}

func TestEarlyStopMistakes(t *testing.T) {
	_, _, _, vm := quadratic(t, train.SGD(0.1))
	broken := errors.New("broken")
	value := func(v float64, err error) func() (float64, error) { return func() (float64, error) { return v, err } }
	stepped := train.Event{Kind: train.Stepped, Step: 1}
	if err := (&train.EarlyStop{}).Observe(stepped); err == nil || err.Error() != "early stop: no value to watch" {
		t.Errorf("without a value: %v", err)
	}
	if err := (&train.EarlyStop{Value: value(1, broken)}).Observe(stepped); !errors.Is(err, broken) {
		t.Errorf("with a broken value: %v", err)
	}
	if err := (&train.EarlyStop{}).Restore(); err == nil || err.Error() != "early stop: no store to restore" {
		t.Errorf("without a store: %v", err)
	}
	nan := &train.EarlyStop{Value: value(math.NaN(), nil), Store: vm.Store()}
	if err := nan.Observe(stepped); !errors.Is(err, train.ErrStop) {
		t.Errorf("NaN without patience: %v", err)
	}
	if err := nan.Restore(); err == nil || err.Error() != "early stop: no step was measured as a number" {
		t.Errorf("with NaN only: %v", err)
	}
}
