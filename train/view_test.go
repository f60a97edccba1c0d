package train_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// irises returns a linear classifier of iris flowers.
func irises(t *testing.T, o train.Optimiser) (*train.Trainer, *data.Set) {
	t.Helper()
	set, err := data.Iris().Set("x", "y", tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Optimiser: o, Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("irises")
		n, d, c := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("c", 3)
		logits := nn.NewLinear(g, "fc", graph.F64, d, c).Of(g.Input("x", graph.F64, n, d))
		return &train.Net{Loss: nn.CrossEntropy(logits, g.Input("y", graph.I32, n)), Output: logits}
	}}
	t.Cleanup(tr.Close)
	return tr, set
}

// TestAverages: evaluating with the averages is the same as with a store that has them for
// parameters, anew at every call, and does not affect the training.
func TestAverages(t *testing.T) {
	ctx := context.Background()
	tr, set := irises(t, train.Adam(0.1, train.EMA(0.9)))
	other, _ := irises(t, train.Adam(0.1, train.EMA(0.9)))
	averages := tr.Averages()
	defer averages.Close()
	if _, err := averages.Evaluate(ctx, data.InOrder(set, 0)); err == nil || err.Error() != "averages: no step has been taken" {
		t.Error(err)
	}
	var seen []float64
	validate := func(ctx context.Context) (metric.Scores, error) {
		scores, err := averages.Evaluate(ctx, data.InOrder(set, 40), metric.Accuracy("y"))
		if err != nil {
			return nil, err
		}
		store, err := train.Averaged(tr.Store())
		if err != nil {
			return nil, err
		}
		fresh := tr.With(store)
		defer fresh.Close()
		want, err := fresh.Evaluate(ctx, data.InOrder(set, 40), metric.Accuracy("y"))
		if err != nil || !slices.Equal(scores, want) {
			t.Errorf("with the averages %v, want %v (%v)", scores, want, err)
		}
		own, err := tr.Evaluate(ctx, data.InOrder(set, 40), metric.Accuracy("y"))
		if err != nil || own[0] == scores[0] {
			t.Errorf("with the parameters %v as with the averages (%v)", own, err)
		}
		err = averages.Predict(ctx, data.InOrder(set, 0), func(b data.Batch, output *tensor.Dense) error {
			if b.Rows != 150 || math.IsNaN(output.Float64s()[0]) {
				t.Errorf("%d rows, %v", b.Rows, output.Float64s()[0])
			}
			return nil
		})
		seen = append(seen, scores[0].Value)
		return scores, err
	}
	if err := tr.Fit(ctx, train.Plan{Data: data.Shuffled(set, 64, 1), Epochs: 4, Validate: validate}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 4 || !(seen[3] < seen[0]) {
		t.Errorf("measured are %v", seen)
	}
	if err := other.Fit(ctx, train.Plan{Data: data.Shuffled(set, 64, 1), Epochs: 4}); err != nil {
		t.Fatal(err)
	}
	for _, p := range other.Store().Paths() {
		a, _ := tr.Store().Get(p)
		b, _ := other.Store().Get(p)
		if !a.Eq(b) {
			t.Errorf("being looked at changes %s", p)
		}
	}
}

// TestCompiledOnce: a trainer, its averages and trainers on other stores share compiled programs,
// also after one of them is closed, and while they run at the same time.
func TestCompiledOnce(t *testing.T) {
	ctx := context.Background()
	tr, set := irises(t, train.Adam(0.1, train.EMA(0.9)))
	built, build := map[string]int{}, tr.Build
	tr.Build = func(rows int, mode train.Mode) *train.Net {
		built[fmt.Sprint(rows, " ", mode)]++
		return build(rows, mode)
	}
	fit := func(tr *train.Trainer) error {
		return tr.Fit(ctx, train.Plan{Data: data.InOrder(set, 75), Steps: 3})
	}
	if err := fit(tr); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		averages := tr.Averages()
		if _, err := averages.Evaluate(ctx, data.InOrder(set, 50)); err != nil {
			t.Fatal(err)
		}
		averages.Close()
	}
	var others sync.WaitGroup
	for range 3 {
		other := tr.With(tape.NewStore(nil, tape.Seed(tr.Seed)))
		others.Go(func() {
			defer other.Close()
			if err := fit(other); err != nil {
				t.Error(err)
			}
			for _, p := range tr.Store().Paths() {
				a, _ := tr.Store().Get(p)
				if b, err := other.Store().Get(p); err != nil || !a.Eq(b) {
					t.Errorf("%s is %v on another store, want %v (%v)", p, b, a, err)
				}
			}
			if _, err := other.Evaluate(ctx, data.InOrder(set, 30)); err != nil {
				t.Error(err)
			}
		})
	}
	others.Wait()
	if _, err := tr.Evaluate(ctx, data.InOrder(set, 50)); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"75 training": 1, "50 evaluating": 1, "30 evaluating": 1}; !maps.Equal(built, want) {
		t.Errorf("built are %v, want %v", built, want)
	}
}

// TestNoAverages: there are none without EMA, and none before enough runs are gathered for a first
// update.
func TestNoAverages(t *testing.T) {
	tr, set := irises(t, train.SGD(0.1))
	if err := tr.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 0), Steps: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Averages().Trainer(); err == nil || err.Error() != `averages: store: nothing below "ema": it has ["fc/b" "fc/w"]` {
		t.Error(err)
	}
	tr, set = irises(t, train.SGD(0.1, train.EMA(0.5), train.Accumulate(3)))
	for steps := 1; steps <= 3; steps++ {
		if err := tr.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 0), Steps: steps}); err != nil {
			t.Fatal(err)
		}
		averages := tr.Averages()
		_, err := averages.Trainer()
		averages.Close()
		if (err == nil) != (steps == 3) || err != nil && err.Error() != "averages: no step has moved the parameters yet" {
			t.Errorf("after %d runs: %v", steps, err)
		}
	}
	var none *tape.Store
	if _, err := train.Averaged(none); err == nil {
		t.Error("no store has averages")
	}
}

// TestWithNoStore: without a store there is a fresh one, of the trainer's seed, and a missing
// function is an error, not a panic.
func TestWithNoStore(t *testing.T) {
	ctx := context.Background()
	tr, set := irises(t, train.Adam(0.1))
	want, err := tr.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		t.Fatal(err)
	}
	fresh := tr.With(nil)
	defer fresh.Close()
	if got, err := fresh.Evaluate(ctx, data.InOrder(set, 0)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if fresh.Store() == tr.Store() {
		t.Error("the store is the trainer's")
	}
	if err := tr.Look(ctx, data.InOrder(set, 0), []string{"x"}, nil); err == nil || err.Error() != "look: no function takes the values" {
		t.Errorf("error %v", err)
	}
}
