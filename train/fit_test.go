package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// noisy returns a net for iris with everything that a training has besides parameters: running
// statistics, and noise.
func noisy(rows int, mode train.Mode) *train.Net {
	g := graph.New("noisy")
	n, d, h, c := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("h", 8), graph.Ax("c", 3)
	x := g.Input("x", graph.F32, n, d)
	y := g.Input("y", graph.I32, n)
	v := nn.NewLinear(g, "fc1", graph.F32, d, h).Of(x)
	norm := nn.NewBatchNorm(g, "norm", graph.F32, h)
	var step graph.Step
	if mode == train.Training {
		v, step = norm.OfTrain(v)
		v = nn.Dropout(ops.ReLU(v), g.Scalar("drop", 0.2))
	} else {
		v = ops.ReLU(norm.Of(v))
	}
	logits := nn.NewLinear(g, "fc2", graph.F32, h, c).Of(v).As("logits")
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits, Step: step}
}

// iris returns the data set in columns x and y.
func iris(t testing.TB) *data.Set {
	t.Helper()
	s, err := data.Iris().Set("x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noisyTrainer returns a trainer of noisy with an optimiser that has moments, averages and a norm.
func noisyTrainer(t testing.TB) *train.Trainer {
	tr := &train.Trainer{Build: noisy, Optimiser: train.Adam(0.02, train.ClipNorm(1), train.WeightDecay(1e-4), train.EMA(0.9)), Seed: 7}
	t.Cleanup(tr.Close)
	return tr
}

// bits returns a store as text, bit for bit.
func bits(t testing.TB, s *tape.Store) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d step %d runs %d\n", s.Seed(), s.Step(), s.Runs())
	for _, p := range s.Paths() {
		d, err := s.Get(p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %x\n", p, d.Data())
	}
	return b.String()
}

// recorder keeps the events.
type recorder struct{ events []train.Event }

func (r *recorder) Observe(e train.Event) error {
	e.Scores = slices.Clone(e.Scores)
	r.events = append(r.events, e)
	return nil
}

// kinds is what happened, a letter each: Begun, stepped, Validated, Saved, Ended.
func (r *recorder) kinds() string {
	var b strings.Builder
	for _, e := range r.events {
		b.WriteByte("BsVSE"[e.Kind])
	}
	return b.String()
}

// cancelAfter returns an observer that ends a training after a step.
func cancelAfter(step int) (context.Context, train.Observer) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped && e.Step == step {
			cancel()
		}
		return nil
	})
}

// TestFit: epochs and steps, ragged batches, measurements, and the order of events.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		plan  train.Plan
		steps int
		kinds string
	}{
		{train.Plan{Epochs: 2}, 6, "BsssVsssVE"},
		{train.Plan{Epochs: 2, Every: 4}, 6, "BssssVssVE"},
		{train.Plan{Steps: 4}, 4, "BsssVsVE"},
		{train.Plan{Steps: 4, Epochs: 1}, 3, "BsssVE"},
		{train.Plan{Steps: 4, Epochs: 9}, 4, "BsssVsVE"},
	} {
		tr, r := noisyTrainer(t), &recorder{}
		rest := data.InOrder(iris(t), 40)
		c.plan.Data = data.Shuffled(iris(t), 64, 3) // batches of 64, 64 and 22 rows
		c.plan.Observers = []train.Observer{r}
		c.plan.Validate = func(ctx context.Context) (metric.Scores, error) { return tr.Evaluate(ctx, rest, metric.Accuracy("y")) }
		if err := tr.Fit(context.Background(), c.plan); err != nil {
			t.Fatal(err)
		}
		if r.kinds() != c.kinds || tr.Store().Step() != uint64(c.steps) {
			t.Errorf("%d epochs, %d steps: %s and %d steps, want %s and %d", c.plan.Epochs, c.plan.Steps, r.kinds(), tr.Store().Step(), c.kinds, c.steps)
		}
		for _, e := range r.events {
			if e.Steps != c.steps || e.Epochs != c.plan.Epochs || e.Kind == train.Stepped && (!(e.Loss > 0) || e.Rate != 0.02) || e.Kind == train.Validated && len(e.Scores) != 2 {
				t.Errorf("%+v", e)
			}
		}
	}
}

// TestFitIsTheLoop: Fit does the same as a loop written by hand, with one program for each size.
func TestFitIsTheLoop(t *testing.T) {
	rate := train.Warmup(2, train.Cosine(0.05, 7))
	tr := noisyTrainer(t)
	plan := train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 3, Rate: rate, Scheduled: map[string]train.Schedule{"drop": train.Geometric(0.4, 0.1)}}
	if err := tr.Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	s := tape.NewStore(nil, tape.Seed(7))
	source := data.Shuffled(iris(t), 64, 3)
	for step := range 9 {
		b, err := source.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		net := noisy(b.Rows, train.Training)
		g, opt := net.Loss.Graph(), tr.Optimiser
		prog, err := tape.Compile(g, tape.Fetch(net.Loss), tape.Do(opt.Minimize(net.Loss), net.Step))
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, s)
		if err := vm.Run(context.Background(), tape.Feed{g.Lookup("x"): b.Values["x"], g.Lookup("y"): b.Values["y"],
			opt.Rate(g): tape.Scalar(graph.F32, rate.At(step, 9)), g.Lookup("drop"): tape.Scalar(graph.F32, plan.Scheduled["drop"].At(step, 9))}); err != nil {
			t.Fatal(err)
		}
		vm.Close()
	}
	if got, want := bits(t, tr.Store()), bits(t, s); got != want {
		t.Errorf("Fit gives\n%s\nby hand\n%s", got, want)
	}
}

// scripted measures by a list: the value of step i is values[i].
func byStep(tr *train.Trainer, values map[int]float64) func(context.Context) (metric.Scores, error) {
	return func(context.Context) (metric.Scores, error) {
		v, ok := values[int(tr.Store().Step())]
		if !ok {
			return nil, fmt.Errorf("measured after step %d", tr.Store().Step())
		}
		return metric.Scores{{Name: "loss", Value: v}}, nil
	}
}

// TestPatience: training ends when patience is exhausted, with the values of the best step.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		values map[int]float64
		steps  uint64
		best   int
	}{
		{map[int]float64{2: 5, 4: 4, 6: 4, 8: 6, 10: 3, 12: 3.5, 14: 7, 16: 3}, 16, 10},
		{map[int]float64{2: 5, 4: 6, 6: 7, 8: math.NaN()}, 8, 2},
		{map[int]float64{2: 9, 4: 8, 6: 7, 8: 6, 10: 5, 12: 4, 14: 3, 16: 2, 18: 1, 20: 0}, 20, 20},
	} {
		tr := noisyTrainer(t)
		at := map[int]string{}
		watch := train.ObserverFunc(func(e train.Event) error {
			switch e.Kind {
			case train.Stepped:
				at[e.Step] = bits(t, tr.Store())
			case train.Validated:
				if best := slices.Min(measured(c.values, e.Step)); e.Best.Score != best || c.values[e.Best.Step] != best {
					t.Errorf("%v: after step %d the best is %+v, want %v", c.values, e.Step, e.Best, best)
				}
			case train.Ended:
				if want := (train.Best{Step: c.best, Score: c.values[c.best]}); e.Best != want {
					t.Errorf("%v: ended with the best %+v, want %+v", c.values, e.Best, want)
				}
			}
			return nil
		})
		if _, ok := tr.Best(); ok {
			t.Error("there is a best measurement before the first")
		}
		plan := train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 20, Every: 2, Patience: 2, Validate: byStep(tr, c.values), Observers: []train.Observer{watch}}
		if err := tr.Fit(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(bits(t, tr.Store()), "\n")
		_, want, _ := strings.Cut(at[c.best], "\n")
		if tr.Store().Step() != c.steps || got != want {
			t.Errorf("%v: %d steps, the values of step %d are back: %v; want %d", c.values, tr.Store().Step(), c.best, got == want, c.steps)
		}
		if best, ok := tr.Best(); !ok || best.Step != c.best || best.Score != c.values[c.best] {
			t.Errorf("%v: the best is %+v, %v; want that of step %d", c.values, best, ok, c.best)
		}
	}
}

// measured are the values up to a step that are numbers.
func measured(values map[int]float64, step int) (v []float64) {
	for s, x := range values {
		if s <= step && !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	return v
}

// TestSecondFit: a second Fit continues where the first ended, or was interrupted.
func TestSecondFit(t *testing.T) {
	whole := noisyTrainer(t)
	if err := whole.Fit(context.Background(), train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 4}); err != nil {
		t.Fatal(err)
	}
	want := bits(t, whole.Store())
	parts, source := noisyTrainer(t), data.Shuffled(iris(t), 64, 3)
	ctx, stop := cancelAfter(5)
	broken := errors.New("broken")
	for _, c := range []struct {
		ctx  context.Context
		plan train.Plan
		want error
		step uint64
	}{
		{context.Background(), train.Plan{Steps: 2}, nil, 2},
		{context.Background(), train.Plan{Epochs: 1}, nil, 3},
		{context.Background(), train.Plan{Epochs: 1}, nil, 3}, // nothing is left to do
		{ctx, train.Plan{Epochs: 4, Observers: []train.Observer{stop}}, context.Canceled, 5},
		{ctx, train.Plan{Epochs: 4}, context.Canceled, 5},
		{context.Background(), train.Plan{Epochs: 4, Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped && e.Step == 7 {
				return broken
			}
			return nil
		})}}, broken, 7},
		{context.Background(), train.Plan{Epochs: 4}, nil, 12},
	} {
		c.plan.Data = source
		if err := parts.Fit(c.ctx, c.plan); err != c.want || parts.Store().Step() != c.step {
			t.Fatalf("%v after %d steps: want %v after %d", err, parts.Store().Step(), c.want, c.step)
		}
		parts.Close() // what is compiled again goes on, too
	}
	if bits(t, parts.Store()) != want {
		t.Error("training in parts gives other bits than at once")
	}
}

// TestInterruptedPatience: measurements before an interruption still count after it.
func TestInterruptedPatience(t *testing.T) {
	values := map[int]float64{2: 5, 4: 6, 6: 7, 8: 8, 10: 9}
	tr := noisyTrainer(t)
	plan := train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 20, Every: 2, Patience: 2, Validate: byStep(tr, values)}
	ctx, stop := cancelAfter(5)
	interrupted := plan
	interrupted.Observers = []train.Observer{stop}
	if err := tr.Fit(ctx, interrupted); err != context.Canceled {
		t.Fatal(err)
	}
	if err := tr.Fit(context.Background(), plan); err != nil || tr.Store().Step() != 8 {
		t.Errorf("%d steps, %v: want 8", tr.Store().Step(), err)
	}
	// One that ended well is done with: the next begins to measure anew.
	values[8], values[12], values[14] = 1, 2, 3
	plan.Steps = 16
	if err := tr.Fit(context.Background(), plan); err != nil || tr.Store().Step() != 14 {
		t.Errorf("%d steps, %v: want 14", tr.Store().Step(), err)
	}
}

func TestFitMistakes(t *testing.T) {
	source := data.Shuffled(iris(t), 64, 3)
	ok := func(context.Context) (metric.Scores, error) { return nil, nil }
	for _, c := range []struct {
		change func(tr *train.Trainer, p *train.Plan)
		want   string
	}{
		{func(tr *train.Trainer, p *train.Plan) { p.Data = nil }, "fit: no data"},
		{func(tr *train.Trainer, p *train.Plan) { p.Steps = 0 }, "fit: 0 epochs and 0 steps: want at least one of them above 0, and none below"},
		{func(tr *train.Trainer, p *train.Plan) { p.Epochs = -1 }, "fit: -1 epochs and 1 steps: want at least one of them above 0, and none below"},
		{func(tr *train.Trainer, p *train.Plan) { p.Patience = 1 }, "fit: Patience without Validate: nothing is measured"},
		{func(tr *train.Trainer, p *train.Plan) { p.Patience = -1 }, "fit: Every 0, Patience -1: want neither below 0"},
		{func(tr *train.Trainer, p *train.Plan) { p.Patience, p.Validate = 1, ok }, "fit: Patience needs a score, and Validate returned none"},
		{func(tr *train.Trainer, p *train.Plan) { p.Observers = []train.Observer{nil} }, "fit: an observer is nil"},
		{func(tr *train.Trainer, p *train.Plan) { p.Checkpoints.Every = -1 }, "fit: checkpoints every -1 steps and 0s: want neither below 0"},
		{func(tr *train.Trainer, p *train.Plan) {
			p.Scheduled = map[string]train.Schedule{"x": train.Constant(1)}
		}, `train: the schedule of "x": want the path of a float scalar, and a schedule`},
		{func(tr *train.Trainer, p *train.Plan) { p.Scheduled = map[string]train.Schedule{"drop": {}} }, `train: the schedule of "drop": want the path of a float scalar, and a schedule`},
		{func(tr *train.Trainer, p *train.Plan) { tr.Build = nil }, "train: no model: Build is nil"},
		{func(tr *train.Trainer, p *train.Plan) { tr.Build = func(int, train.Mode) *train.Net { return nil } }, "train: the net for 64 rows has neither a loss nor an output"},
		{func(tr *train.Trainer, p *train.Plan) {
			tr.Build = func(int, train.Mode) *train.Net { return &train.Net{} }
		}, "train: the net for 64 rows has neither a loss nor an output"},
		{func(tr *train.Trainer, p *train.Plan) {
			tr.Build = func(rows int, m train.Mode) *train.Net { return &train.Net{Output: noisy(rows, m).Output} }
		}, "train: noisy has no loss"},
		{func(tr *train.Trainer, p *train.Plan) { tr.Optimiser = train.Optimiser{} }, "train: no optimiser: set Trainer.Optimiser to one such as train.Adam(0.001), or to one of your own by train.Custom; a net that its Step alone trains has Params that are empty and not nil"},
		{func(tr *train.Trainer, p *train.Plan) {
			tr.Build = func(rows int, m train.Mode) *train.Net {
				g := graph.New("constant")
				x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4))
				return &train.Net{Loss: ops.Mean(x)}
			}
		}, "Minimize: the loss depends on no parameter"},
	} {
		tr := noisyTrainer(t)
		plan := train.Plan{Data: source, Steps: 1}
		c.change(tr, &plan)
		at := source.Position()
		if err := tr.Fit(context.Background(), plan); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if tr.Store().Step() == 0 && source.Position() != at {
			t.Errorf("%s: the data went on to %v", c.want, source.Position())
		}
		source.Seek(data.Position{})
	}
}

// A failing observer says so once, and what it fails of is the error of Fit.
func TestObserverFails(t *testing.T) {
	broken := errors.New("log: disk full")
	for kind := train.Begun; kind <= train.Ended; kind++ {
		if kind == train.Saved {
			continue
		}
		tr := noisyTrainer(t)
		o := train.ObserverFunc(func(e train.Event) error {
			if e.Kind >= kind {
				return broken
			}
			return nil
		})
		plan := train.Plan{Data: data.InOrder(iris(t), 64), Steps: 2, Observers: []train.Observer{o},
			Validate: func(context.Context) (metric.Scores, error) { return nil, nil }}
		if err := tr.Fit(context.Background(), plan); err != broken {
			t.Errorf("%d: %v", kind, err)
		}
	}
}
