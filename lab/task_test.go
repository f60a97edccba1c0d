package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// losses runs a task with a VM of its own, the steps' feeds asked for twice and out of
// order, and gives the loss of every step.
func losses(t *testing.T, task Task, steps int) []float64 {
	t.Helper()
	prog, err := tape.Compile(task.Model.Graph, tape.Fetch(task.Model.Loss), tape.Do(task.Step))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, task.Store)
	defer vm.Close()
	var out []float64
	for step := range steps {
		if _, err := task.Feed(steps - step); err != nil {
			t.Fatal(err)
		}
		feed, err := task.Feed(step)
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
		out = append(out, tapetest.Float(t, vm, task.Model.Loss))
	}
	return out
}

// TestTaskIsTheTraining compares the losses of a task with those of the training that
// it stands for.
func TestTaskIsTheTraining(t *testing.T) {
	const steps, seed = 25, 3
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy", "kmeans-sgd"} {
		c := Config{Table: data.Iris(), Seeds: 1, Seed: seed, Steps: steps, Batch: 7}
		v, err := c.Train(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.Variant(name).Build(graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		task, err := c.Task(m, seed)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, losses(t, task, len(v.Runs[0].Loss)), v.Runs[0].Loss)
	}
	for _, one := range []bool{false, true} {
		c := Config{Seeds: 1, Seed: seed, Steps: steps, OneBatch: one}
		l, err := Learn(context.Background(), func() (*builders.Model, error) { return builders.Build("dropout", nil, graph.F64) }, c)
		if err != nil {
			t.Fatal(err)
		}
		m, err := builders.Build("dropout", nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		task, err := c.Task(m, seed)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "dropout", losses(t, task, steps), l.Runs[0].Loss)
	}
}

func same(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%s: %d losses, want %d", name, len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*math.Abs(want[i]) {
			t.Fatalf("%s: the loss of step %d is %v, the training has %v", name, i, got[i], want[i])
		}
	}
}

// TestHeldOneAtATime: what a training is judged on is drawn when it is wanted: nobody holds all of it.
func TestHeldOneAtATime(t *testing.T) {
	m, err := builders.Build("regression-ols", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	drawn, examples := 0, m.Examples
	m.Examples = func(rng *rand.Rand) graph.Values { drawn++; return examples(rng) }
	held := exampleFeeder{c: Config{Steps: 5}, m: m}.settled(1)
	if len(held) < 2 || drawn != 0 {
		t.Fatalf("%d batches, %d of them drawn before they are wanted", len(held), drawn)
	}
	for i, next := range held {
		if feed, err := next(); err != nil || len(feed) == 0 || drawn != i+1 {
			t.Errorf("batch %d: %v, %d drawn", i, err, drawn)
		}
	}
}
