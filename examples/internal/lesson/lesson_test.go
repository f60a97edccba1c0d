package lesson

import (
	"path/filepath"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
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
