package lesson

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// TestPlan: flags add to what a plan has, and each training has a folder of its own.
func TestPlan(t *testing.T) {
	own := train.ObserverFunc(func(train.Event) error { return nil })
	plan := train.Plan{Steps: 3, Observers: []train.Observer{own}, Checkpoints: train.Checkpoints{Keep: 2}}
	for _, c := range []struct {
		lesson      Lesson
		dir, resume string
	}{
		{Lesson{}, "", ""},
		{Lesson{Checkpoints: "run"}, filepath.Join("run", "mlp"), ""},
		{Lesson{Checkpoints: "run", Resume: true}, filepath.Join("run", "mlp"), filepath.Join("run", "mlp")},
	} {
		p := c.lesson.Plan("mlp", plan)
		if p.Checkpoints.Dir != c.dir || p.Resume != c.resume || p.Steps != 3 || p.Checkpoints.Keep != 2 || len(p.Observers) != 1+len(c.lesson.Observers()) {
			t.Errorf("%+v: %+v", c.lesson, p)
		}
	}
}

// TestConverged: a training ends when its last four steps gain less than is asked for, and not within the
// first five.
func TestConverged(t *testing.T) {
	o := Converged(0.1)
	if err := o.Observe(train.Event{Kind: train.Ended, Loss: 9}); err != nil {
		t.Error(err)
	}
	for i, loss := range []float64{5, 5, 5, 5, 5, 4, 3.99, 3.98, 3.97, 3.96} {
		err := o.Observe(train.Event{Kind: train.Stepped, Loss: loss})
		if last := i == 9; errors.Is(err, train.ErrStop) != last {
			t.Errorf("at loss %d: %v", i, err)
		}
	}
}

// TestArray: the numbers are shared, not copied.
func TestArray(t *testing.T) {
	v := []float32{1, 2, 3, 4, 5, 6}
	a := Array(v, 2, 3)
	v[5] = 7
	if got := a.Float32s()[5]; !a.Shape().Eq(tensor.Shape{2, 3}) || got != 7 {
		t.Errorf("of shape %v, with %v at the end", a.Shape(), got)
	}
}
