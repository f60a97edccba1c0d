package train_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// tiny is a linear classifier of iris flowers.
func tiny(rows int, _ train.Mode) *train.Net {
	g := graph.New("iris: linear")
	n, features, classes := graph.Ax("n", rows), graph.Ax("p", 4), graph.Ax("c", 3)
	x, y := g.Input("x", graph.F32, n, features), g.Input("y", graph.I32, n)
	logits := nn.NewLinear(g, "fc", graph.F32, features, classes).Of(ops.Scale(x, 0.1)).As("logits")
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// TestSoak trains for very many steps, with everything that surrounds a training, and checks that
// neither memory nor goroutines grow: ten million steps with TAPESTRY_LONG, which takes some
// minutes.
func TestSoak(t *testing.T) {
	steps := 200_000
	switch {
	case os.Getenv("TAPESTRY_LONG") != "":
		steps = 10_000_000
	case testing.Short():
		steps = 20_000
	}
	set, err := data.Iris().Set("x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := set.StratifiedSplit("y", 1, 0.8, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	before := runtime.NumGoroutine()

	source := data.Prefetch(data.Shuffled(parts[0], 7, 1), 4) // the last batch is of one row
	trainer := &train.Trainer{Build: tiny, Optimiser: train.Adam(1e-3), Seed: 1, Workers: 1}
	accuracy, validation := metric.Accuracy("y"), data.InOrder(parts[1], 0)
	var early, late uint64 // bytes of the heap
	seen, begun := 0, time.Now()
	heap := func() uint64 {
		var m runtime.MemStats
		for range 2 { // what the first one finalises is gone with the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	err = trainer.Fit(ctx, train.Plan{
		Data:  source,
		Steps: steps,
		Rate:  train.Cosine(1e-3, steps, 1e-5),
		Every: steps / 100,
		Validate: func(ctx context.Context) (metric.Scores, error) {
			return trainer.Evaluate(ctx, validation, accuracy)
		},
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			switch {
			case e.Kind != train.Stepped:
			case e.Step == steps/10:
				early = heap()
			case e.Step == steps:
				late = heap()
			}
			if e.Kind == train.Stepped {
				seen++
			}
			return nil
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	scores, err := trainer.Evaluate(ctx, validation, accuracy)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	trainer.Close()
	if right, _ := scores.Get("accuracy"); right < 0.8 || seen != steps {
		t.Errorf("%d of %d steps seen; %v", seen, steps, scores)
	}
	const slack = 100 << 10
	if grown := int64(late) - int64(early); grown > slack || grown < -slack {
		t.Errorf("the heap has %d bytes after a tenth and %d at the end", early, late)
	}
	after := runtime.NumGoroutine()
	for wait := 0; after > before && wait < 100; wait++ { // one that has ended may still be counted
		time.Sleep(10 * time.Millisecond)
		after = runtime.NumGoroutine()
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	t.Logf("%d steps in %v, heap %d and %d bytes, %d and %d goroutines, %v", steps, took, early, late, before, after, scores)
}
