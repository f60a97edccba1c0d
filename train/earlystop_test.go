package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// scripted is a runner without a tape: the values are read from a list.
type scripted struct{ runs int }

func (s *scripted) Run(context.Context, tape.Feed) error { s.runs++; return nil }

// follow runs a loop whose measured values are listed, and gives the steps done.
func follow(t *testing.T, stop *train.EarlyStop, values ...float64) int {
	t.Helper()
	i := 0
	stop.Value = func() (float64, error) { i++; return values[i-1], nil }
	r := &scripted{}
	n, err := train.Loop{VM: r, Steps: len(values) * max(1, stop.Every), After: stop.After}.Run(context.Background())
	if err != nil || n != r.runs {
		t.Fatalf("%d steps of %d, %v", n, r.runs, err)
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
		{train.EarlyStop{}, []float64{3, 2, 2, 1}, 3, 1, 2},
		{train.EarlyStop{Patience: 2}, []float64{3, 2, 4, 5, 1, 6, 7, 8, 0}, 8, 4, 1},
		{train.EarlyStop{Patience: 1}, []float64{5, 4, 3}, 3, 2, 3},
		{train.EarlyStop{Patience: 1, Margin: 0.5}, []float64{5, 4.6, 4.4, 4.2, 4.1, 1}, 5, 2, 4.4},
		{train.EarlyStop{Every: 10}, []float64{3, 2, 2, 1}, 30, 19, 2},
		{train.EarlyStop{Patience: 1}, []float64{nan, 3, nan, nan, 1}, 4, 1, 3},
		{train.EarlyStop{Patience: 1}, []float64{inf, 3, 4, 5}, 4, 1, 3},
	} {
		n := follow(t, &c.stop, c.values...)
		step, value, ok := c.stop.Best()
		if n != c.steps || step != c.best || value != c.value || !ok {
			t.Errorf("%v: %d steps, best %v after step %d, %v; want %d steps, %v after %d", c.values, n, value, step, ok, c.steps, c.value, c.best)
		}
	}
}

// TestEarlyStopRestores: the store comes back to the best step, moments included, and
// training goes on from there as it did the first time.
func TestEarlyStopRestores(t *testing.T) {
	_, _, _, vm := quadratic(t, train.Adam(0.1))
	var path [][]float64 // the weights after each step
	all := func() []float64 {
		var out []float64
		for _, p := range vm.Store().Paths() {
			d, err := vm.Store().Get(p)
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
	stop := &train.EarlyStop{Store: vm.Store(), Patience: 2, Value: func() (float64, error) {
		path = append(path, all())
		return math.Abs(weights(t, vm)[0] - 0.5), nil // worse beyond the middle
	}}
	n, err := train.Loop{VM: vm, Steps: 100, After: stop.After}.Run(context.Background())
	best, value, ok := stop.Best()
	if err != nil || n != best+4 || !ok || math.Abs(value) > 0.1 {
		t.Fatalf("%d steps, best %v after step %d, %v", n, value, best, err)
	}
	if err := stop.Restore(); err != nil || !slices.Equal(all(), path[best]) || slices.Equal(path[best], path[n-1]) {
		t.Errorf("restored %v, %v: want %v", all(), err, path[best])
	}
	if err := vm.Run(context.Background(), nil); err != nil || !slices.Equal(all(), path[best+1]) {
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
	if done, err := (&train.EarlyStop{}).After(0); !done || err == nil || err.Error() != "early stop: no value to watch" {
		t.Errorf("without a value: %v, %v", done, err)
	}
	if done, err := (&train.EarlyStop{Value: value(1, broken)}).After(3); !done || !errors.Is(err, broken) {
		t.Errorf("with a broken value: %v, %v", done, err)
	}
	if err := (&train.EarlyStop{}).Restore(); err == nil || err.Error() != "early stop: no store to restore" {
		t.Errorf("without a store: %v", err)
	}
	nan := &train.EarlyStop{Value: value(math.NaN(), nil), Store: vm.Store()}
	if done, err := nan.After(0); !done || err != nil {
		t.Errorf("NaN without patience: %v, %v", done, err)
	}
	if err := nan.Restore(); err == nil || err.Error() != "early stop: no step was measured as a number" {
		t.Errorf("with NaN only: %v", err)
	}
}
