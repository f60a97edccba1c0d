package lab_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// TestHeldOneAtATime: what a training is judged on is drawn when it is wanted: nobody holds all of it.
func TestHeldOneAtATime(t *testing.T) {
	m, err := builders.Build("regression-ols", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	drawn, examples := 0, m.Examples
	m.Examples = func(rng *rand.Rand) builders.Feed { drawn++; return examples(rng) }
	held := lab.LearnConfig{Steps: 5}.Settled(m, 1)
	if len(held) < 2 || drawn != 0 {
		t.Fatalf("%d batches, %d of them drawn before they are wanted", len(held), drawn)
	}
	for i, next := range held {
		if feed, err := next(); err != nil || len(feed) == 0 || drawn != i+1 {
			t.Errorf("batch %d: %v, %d drawn", i, err, drawn)
		}
	}
}

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
		_, err := lab.Learn(context.Background(), build, lab.LearnConfig{Steps: steps, Seeds: 1, Stepped: gone})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gone after step %d: %v", c.after, err)
		}
		there = 1 << 40
		_, err = lab.Compare(context.Background(), lab.Plan{Steps: steps, Seeds: 1, Workers: 1, Stepped: gone, Optimisers: []train.Optimiser{train.SGD(1e-9)}}, lab.Objective("", build))
		if err == nil || !strings.Contains(err.Error(), "it takes 28.6 MiB for a batch") && !strings.Contains(err.Error(), "gradient at the end") {
			t.Errorf("compared, gone after step %d: %v", c.after, err)
		}
	}
}
