package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// dropped returns y_n = Σ_d w_d·dropout(x_nd), a net that keeps its dropout while evaluating.
func dropped(rows int, _ train.Mode) *train.Net {
	g := graph.New("dropped")
	n, d := graph.Ax("n", rows), graph.Ax("d", 5)
	x := g.Input("x", graph.F64, n, d)
	w := g.Param("w", graph.F64, d).Init(initial.Normal(0, 1))
	y := ops.Sum(ops.Mul(nn.Dropout(x, g.Scalar("p", 0.3, graph.F64)), w), "d").As("y")
	return &train.Net{Output: y, Loss: ops.Mean(ops.Square(ops.Shift(y, -1)))}
}

// droppedRows returns so many rows for dropped, also as a set.
func droppedRows(t testing.TB, n int) ([][]float64, *data.Set) {
	t.Helper()
	x, flat := make([][]float64, n), []float64{}
	for i := range x {
		for d := range 5 {
			x[i] = append(x[i], float64(i+1)/2-float64(d)*0.7+0.1)
		}
		flat = append(flat, x[i]...)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(n, 5), tensor.WithBacking(flat))})
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

// predicting is a trainer, or its averages.
type predicting interface {
	Predict(ctx context.Context, source data.Source, f func(b data.Batch, output *tensor.Dense) error) error
}

// predicted returns the outputs for all rows of a source.
func predicted(t testing.TB, p predicting, source data.Source) (out []float64) {
	t.Helper()
	if err := p.Predict(context.Background(), source, func(_ data.Batch, output *tensor.Dense) error {
		switch v := output.Data().(type) {
		case []float64:
			out = append(out, v...)
		case []float32:
			for _, x := range v {
				out = append(out, float64(x))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMonteCarloDropout: the predictions of a net that keeps its dropout have the mean and the
// variance that theory gives, row by row, in whole batches and the last, shorter one, by the
// trainer and by its averages.
func TestMonteCarloDropout(t *testing.T) {
	x, set := droppedRows(t, 7)
	tr := &train.Trainer{Build: dropped, Optimiser: train.SGD(0.01, train.EMA(0.5)), Seed: 2}
	defer tr.Close()
	if err := tr.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 0), Steps: 3}); err != nil {
		t.Fatal(err)
	}
	averages := tr.Averages()
	defer averages.Close()
	for name, c := range map[string]struct {
		path string
		p    predicting
	}{"trainer": {"w", tr}, "averages": {"ema/w", averages}} {
		t.Run(name, func(t *testing.T) {
			w, err := tr.Store().Get(c.path)
			if err != nil {
				t.Fatal(err)
			}
			source := data.InOrder(set, 3)
			before := tr.Store().Runs()
			samples := make([][]float64, 3000)
			for k := range samples {
				samples[k] = predicted(t, c.p, source)
			}
			tapetest.Dropped(t, samples, x, w.Float64s(), 0.3)
			if runs := tr.Store().Runs() - before; runs != 9000 || tr.Store().Step() != 3 {
				t.Errorf("after 3000 calls of 3 batches, %d runs are counted in step %d", runs, tr.Store().Step())
			}
		})
	}
}

// TestPredictionsRepeat: the same store, seed and number of runs give the same predictions, for any
// number of workers, whether or not batches are read ahead.
func TestPredictionsRepeat(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	_, set := droppedRows(t, 40000)
	var want [][]float64
	for _, workers := range []int{1, 2, 8} {
		for _, ahead := range []int{0, 2} {
			tr := &train.Trainer{Build: dropped, Seed: 2, Workers: workers}
			var source data.Source = data.InOrder(set, 25000)
			if ahead > 0 {
				p := data.Prefetch(source, ahead)
				defer p.Close()
				source = p
			}
			var got [][]float64
			for range 3 {
				got = append(got, predicted(t, tr, source))
			}
			tr.Close()
			if slices.Equal(got[0], got[1]) || slices.Equal(got[1], got[2]) || slices.Equal(got[0], got[2]) {
				t.Errorf("%d workers: two calls predict the same", workers)
			}
			if want == nil {
				want = got
			}
			for k := range got {
				if !slices.Equal(got[k], want[k]) {
					t.Errorf("%d workers, %d batches ahead: call %d predicts other numbers", workers, ahead, k)
				}
			}
		}
	}
}

// stochastic returns the noisy net with noise in its output while it is evaluated, too.
func stochastic(rows int, mode train.Mode) *train.Net {
	net := noisy(rows, mode)
	g := net.Output.Graph()
	net.Output = nn.GaussianNoise(net.Output, g.Scalar("strength", 0.7)).As("noisy logits")
	net.Loss = nn.CrossEntropy(net.Output, g.Lookup("y"))
	return net
}

func stochasticTrainer(t testing.TB) *train.Trainer {
	tr := noisyTrainer(t)
	tr.Build = stochastic
	return tr
}

// sampling predicts, which draws, after every second step.
func sampling(t testing.TB, tr *train.Trainer) train.Observer {
	source := data.InOrder(iris(t), 64)
	return train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped && e.Step%2 == 0 {
			predicted(t, tr, source)
		}
		return nil
	})
}

// TestMeasuringChangesNoTraining: a training has the same bits whether or not the model is measured
// and sampled between its steps, with random numbers.
func TestMeasuringChangesNoTraining(t *testing.T) {
	end := func(plan func(tr *train.Trainer) train.Plan) string {
		tr := stochasticTrainer(t)
		p := plan(tr)
		p.Data, p.Steps = data.Shuffled(iris(t), 64, 3), 12
		if err := tr.Fit(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		s := tr.Store()
		s.Resume(s.Seed(), s.Step(), 0)
		return bits(t, s)
	}
	want := end(func(*train.Trainer) train.Plan { return train.Plan{} })
	for name, plan := range map[string]func(tr *train.Trainer) train.Plan{
		"sampled": func(tr *train.Trainer) train.Plan {
			return train.Plan{Observers: []train.Observer{sampling(t, tr)}}
		},
		"measured": func(tr *train.Trainer) train.Plan {
			held := data.InOrder(iris(t), 60)
			return train.Plan{Every: 1, Validate: func(ctx context.Context) (metric.Scores, error) { return tr.Evaluate(ctx, held) }}
		},
		"measured by its averages": func(tr *train.Trainer) train.Plan {
			held, averages := data.InOrder(iris(t), 60), tr.Averages()
			t.Cleanup(averages.Close)
			return train.Plan{Every: 5, Validate: func(ctx context.Context) (metric.Scores, error) { return averages.Evaluate(ctx, held) }}
		},
	} {
		if got := end(plan); got != want {
			t.Errorf("%s in between, the training ends with\n%s\nnot\n%s", name, got, want)
		}
	}
}

// TestResumeStochastic: a training whose measurements draw random numbers, and whose early stopping
// depends on them, resumes as if it had never stopped, also if it was stopped in the middle of a
// measurement.
func TestResumeStochastic(t *testing.T) {
	plan := func(tr *train.Trainer, r *recorder, dir string) train.Plan {
		p := patientPlan(t, tr, 24)
		p.Checkpoints, p.Resume = train.Checkpoints{Dir: dir, Every: 4}, dir
		p.Observers = []train.Observer{sampling(t, tr), r}
		return p
	}
	tr, r := stochasticTrainer(t), &recorder{}
	if err := tr.Fit(context.Background(), plan(tr, r, t.TempDir())); err != nil {
		t.Fatal(err)
	}
	want, lines := bits(t, tr.Store()), course(r)
	broken := errors.New("broken")
	for stop := 1; stop <= 24; stop++ {
		if stop%5 != 1 && stop%9 != 0 && os.Getenv("TAPESTRY_LONG") == "" {
			continue
		}
		r, dir := &recorder{}, t.TempDir()
		first := stochasticTrainer(t)
		ctx, cancel := cancelAfter(stop)
		p := plan(first, r, dir)
		p.Observers = append(p.Observers, cancel)
		if stop%3 == 0 { // a step that is measured after
			measure := p.Validate
			p.Observers = p.Observers[:2]
			p.Validate = func(ctx context.Context) (metric.Scores, error) {
				scores, err := measure(ctx)
				if first.Store().Step() == uint64(stop) {
					return nil, broken
				}
				return scores, err
			}
		}
		if err := first.Fit(ctx, p); !errors.Is(err, context.Canceled) && !errors.Is(err, broken) {
			t.Fatalf("stop %d: %v", stop, err)
		}
		second := stochasticTrainer(t)
		if err := second.Fit(context.Background(), plan(second, r, dir)); err != nil {
			t.Fatalf("stop %d: %v", stop, err)
		}
		if got := bits(t, second.Store()); got != want {
			t.Errorf("stopped after step %d, the training ends with\n%s\nnot\n%s", stop, got, want)
		}
		if got := course(r); !slices.Equal(got, lines) {
			t.Errorf("stopped after step %d, the course is\n%s\nnot\n%s", stop, strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
	}
}

// unlucky has a loss that is NaN if a number that it draws in training is above 0.7.
func unlucky(rows int, mode train.Mode) *train.Net {
	g := graph.New("unlucky")
	x := g.Input("x", graph.F64, graph.Ax("n", rows), graph.Ax("d", 5))
	w := g.Param("w", graph.F64)
	u := ops.RandomUniform(g, "u", graph.F64).As("u")
	loss := ops.Add(ops.Mean(ops.Mul(x, w)), ops.Log(ops.Shift(ops.Neg(u), 0.7)))
	if mode == train.Evaluating {
		return &train.Net{Loss: u, Output: ops.Mul(ops.Sum(x, "d"), u)}
	}
	return &train.Net{Loss: loss}
}

// TestAutopsyOfTheStepItself: the autopsy of a step that diverged uses that step's own draws,
// whatever was drawn since the step before it.
func TestAutopsyOfTheStepItself(t *testing.T) {
	_, set := droppedRows(t, 4)
	tr := &train.Trainer{Build: unlucky, Optimiser: train.SGD(0.1), Seed: 3}
	defer tr.Close()
	sample := train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped {
			predicted(t, tr, data.InOrder(set, 1))
		}
		return nil
	})
	err := tr.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 0), Steps: 100, Observers: []train.Observer{sample}})
	var d *train.Diverged
	if !errors.As(err, &d) || d.Finding == nil || d.Step == 0 || tr.Store().Runs() != 4 {
		t.Fatalf("%v after %d runs: want a training that diverged after some steps", err, tr.Store().Runs())
	}
	g := graph.New("unlucky")
	u := ops.RandomUniform(g, "u", graph.F64)
	store := tape.NewStore(nil)
	store.Resume(tr.Store().Seed(), tr.Store().Step(), 0)
	r, err := inspect.Take(context.Background(), nil, store, u)
	if err != nil {
		t.Fatal(err)
	}
	at := r.Value(u).At(0)
	if want := fmt.Sprintf("log(−%.8g)", at-0.7); !strings.HasPrefix(d.Finding.Cause, "log of a negative: "+want[:10]) || at < 0.7 {
		t.Errorf("found %q, want %s", d.Finding.Cause, want)
	}
}
