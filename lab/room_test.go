package lab_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// TestNoRoomInTheEnd: memory that is gone by the time of a batch is an error before the batch is drawn: in training, in the test of
// convergence, and where others judge.
func TestNoRoomInTheEnd(t *testing.T) {
	defer func(was func() (int64, bool)) { memory.System = was }(memory.System)
	const steps = 3
	build := func() (*builders.Model, error) {
		return builders.Build("regression-ols", builders.Settings{"n": 500_000}, graph.F32) // batches of 22 MiB and more
	}
	for _, c := range []struct {
		after int
		want  string
	}{
		{1, "step 2: regression-ols: it takes 28.6 MiB for a batch of its examples, and there are 0 B: the largest is X["},
		{steps, "gradient at the end: "},
	} {
		there := int64(1 << 40)
		memory.System = func() (int64, bool) { return there, true }
		gone := func(done, _ int, _ string) {
			if done == c.after {
				there = 0
			}
		}
		_, err := lab.Learn(context.Background(), build, lab.Config{Steps: steps, Seeds: 1, Stepped: gone})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gone after step %d: %v", c.after, err)
		}
		there = 1 << 40
		_, err = lab.Compare(context.Background(), lab.Config{Steps: steps, Seeds: 1, Workers: 1, Stepped: gone, Optimisers: []train.Optimiser{train.SGD(1e-9)}}, lab.Objective("", build))
		if err == nil || !strings.Contains(err.Error(), "it takes 28.6 MiB for a batch") && !strings.Contains(err.Error(), "gradient at the end") {
			t.Errorf("compared, gone after step %d: %v", c.after, err)
		}
	}
}
