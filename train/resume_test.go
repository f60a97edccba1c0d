package train_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// TestResume: a training stopped after any step, in any of the ways, resumes in a new trainer as if
// it had never stopped: every loss, rate, measurement and bit is the same.
func TestResume(t *testing.T) {
	want, lines := undisturbed(t)
	for stop := 1; stop <= 30; stop++ {
		if !slices.Contains([]int{1, 3, 8, 10, 17, 21, 29, 30}, stop) && os.Getenv("TAPESTRY_LONG") == "" {
			continue
		}
		dir := t.TempDir()
		r := &recorder{}
		tr := noisyTrainer(t)
		ctx, cancel := cancelAfter(stop)
		plan := bumpyPlan(t, tr, dir)
		plan.Resume = dir
		plan.Observers = []train.Observer{r, cancel}
		if err := tr.Fit(ctx, plan); err != context.Canceled {
			t.Fatalf("stop %d: %v", stop, err)
		}
		tr.Close()
		if step, ok, err := (checkpoint.Folder{Dir: dir}).Newest(); step != uint64(stop) || !ok || err != nil {
			t.Fatalf("stop %d: the newest checkpoint is of step %d, %v, %v", stop, step, ok, err)
		}
		tr = noisyTrainer(t)
		tr.Seed = 99 // that of the checkpoint counts
		plan = bumpyPlan(t, tr, dir)
		plan.Resume = dir
		plan.Observers = []train.Observer{r}
		if err := tr.Fit(context.Background(), plan); err != nil {
			t.Fatalf("stop %d: %v", stop, err)
		}
		if got := bits(t, tr.Store()); got != want {
			t.Errorf("stopped after step %d, the training ends with\n%s\nnot\n%s", stop, got, want)
		}
		if got := course(r); !slices.Equal(got, lines) {
			t.Errorf("stopped after step %d, the course is\n%s\nnot\n%s", stop, strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
		// Once more: there is nothing left to do, and early stopping brings the best back.
		again := noisyTrainer(t)
		plan = bumpyPlan(t, again, dir)
		plan.Resume = dir
		if err := again.Fit(context.Background(), plan); err != nil || bits(t, again.Store()) != want {
			t.Errorf("stopped after step %d, resuming from the end: %v", stop, err)
		}
	}
}

// TestResumeAmidMeasuring: if training is interrupted during a measurement, the model is measured
// when training resumes.
func TestResumeAmidMeasuring(t *testing.T) {
	want, lines := undisturbed(t)
	broken := errors.New("broken")
	for _, fail := range []int{3, 9, 21, 30} {
		dir := t.TempDir()
		r := &recorder{}
		for run := range 2 {
			tr := noisyTrainer(t)
			plan := bumpyPlan(t, tr, dir)
			plan.Resume = dir
			measure := plan.Validate
			plan.Validate = func(ctx context.Context) (metric.Scores, error) {
				if run == 0 && tr.Store().Step() == uint64(fail) {
					return nil, broken
				}
				return measure(ctx)
			}
			plan.Observers = []train.Observer{r}
			if err := tr.Fit(context.Background(), plan); (run == 0) != errors.Is(err, broken) {
				t.Fatal(err)
			}
			if run == 1 && (bits(t, tr.Store()) != want || !slices.Equal(course(r), lines)) {
				t.Errorf("stopped in measuring after step %d, the course is\n%s\nnot\n%s", fail, strings.Join(course(r), "\n"), strings.Join(lines, "\n"))
			}
		}
	}
}

// TestResumeElsewhere: from a file, from an older one, from the best, into the same
// trainer, into another folder.
func TestResumeElsewhere(t *testing.T) {
	want, _ := undisturbed(t)
	dir := t.TempDir()
	tr := noisyTrainer(t)
	plan := bumpyPlan(t, tr, dir)
	plan.Checkpoints.Keep = -1
	if err := tr.Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"step-00000024.safetensors", "step-00000028.safetensors", "best.safetensors"} {
		for _, again := range []*train.Trainer{tr, noisyTrainer(t)} {
			plan := bumpyPlan(t, again, t.TempDir())
			plan.Resume = filepath.Join(dir, name)
			if err := again.Fit(context.Background(), plan); err != nil || bits(t, again.Store()) != want {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	other := noisyTrainer(t)
	plan = bumpyPlan(t, other, dir)
	plan.Resume = filepath.Join(dir, "step-00000008.safetensors")
	for _, c := range []struct{ resume, want string }{
		{plan.Resume, "resume: early stopping needs the checkpoint of the best step, 6: " + filepath.Join(dir, "best.safetensors") + " is of step 21; without Patience training can go on"},
		{"", "fit: " + dir + " holds checkpoints up to step 30, and this training is at step 0: resume from there, or take another folder"},
		{filepath.Join(dir, "step-00000024.safetensors"), "fit: " + dir + " holds checkpoints up to step 30, and this training is at step 24: resume from there, or take another folder"},
	} {
		plan.Resume = c.resume
		if err := other.Fit(context.Background(), plan); err == nil || err.Error() != c.want || other.Store().Step() != 0 || plan.Data.Position() != (data.Position{}) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestResumeRefused: a checkpoint that does not fit is refused with the right error, and nothing
// changes.
func TestResumeRefused(t *testing.T) {
	dir := t.TempDir()
	first := noisyTrainer(t)
	if err := first.Fit(context.Background(), train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 4, Checkpoints: train.Checkpoints{Dir: dir, Every: 4}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "step-00000004.safetensors")
	empty := t.TempDir()
	fresh := func() *train.Trainer { return noisyTrainer(t) }
	for _, c := range []struct {
		what    string
		trainer func() *train.Trainer
		source  data.Source
		resume  string
		want    string
		is      error
		goesOn  bool // with ResumeChanged
	}{
		{"another model", func() *train.Trainer {
			return &train.Trainer{Build: wild, Optimiser: train.SGD(1)}
		}, nil, dir, "resume: " + path + " is of another model: it has no w f32[]; the model has no adam/", nil, false},
		{"another optimiser", func() *train.Trainer {
			tr := noisyTrainer(t)
			tr.Optimiser = train.Adam(0.02, train.ClipNorm(1), train.WeightDecay(1e-4))
			return tr
		}, nil, dir, "resume: " + path + " is of another model: the model has no adam/ema-begun f32[], ema/fc1/b f32[h=8], ema/fc1/w f32[d=4 h=8], ema/fc2/b f32[c=3], ema/fc2/w f32[h=8 c=3], ema/norm/bias f32[h=8], ema/norm/gain f32[h=8]", nil, false},
		{"another objective", func() *train.Trainer {
			tr := noisyTrainer(t)
			tr.Optimiser = train.Adam(0.02, train.ClipNorm(2), train.WeightDecay(1e-4), train.EMA(0.9))
			return tr
		}, nil, dir, "resume: " + path + " fits the model, but the training graph computes something else (fingerprint ", nil, true},
		{"other batches", fresh, data.Shuffled(iris(t), 32, 3), dir, "resume: " + path + " fits the model, but its data had 3 batches an epoch, these have 5: training would not go on as it began", nil, true},
		{"another seed", fresh, data.Shuffled(iris(t), 64, 4), dir, "resume: " + path + ` fits the model, but its data were "shuffled(150 rows, batches of 64, seed 3)", these are "shuffled(150 rows, batches of 64, seed 4)": training would not go on as it began; with ResumeChanged training goes on all the same`, nil, true},
		{"no such file", fresh, nil, filepath.Join(dir, "absent.safetensors"), "resume: " + filepath.Join(dir, "absent.safetensors") + ": no checkpoint there", checkpoint.ErrNone, false},
		{"an empty folder", fresh, nil, empty, "resume: " + empty + ": no checkpoint there", checkpoint.ErrNone, false},
	} {
		tr := c.trainer()
		source := c.source
		if source == nil {
			source = data.Shuffled(iris(t), 64, 3)
		}
		plan := train.Plan{Data: source, Steps: 6, Resume: c.resume}
		err := tr.Fit(context.Background(), plan)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
		changed, mismatch := new(checkpoint.Changed), new(checkpoint.Mismatch)
		if errors.As(err, &changed) != c.goesOn || errors.As(err, &mismatch) != (c.is == nil && !c.goesOn) {
			t.Errorf("%s: of the wrong type: %v", c.what, err)
		}
		if tr.Store().Step() != 0 || len(tr.Store().Paths()) != 0 || source.Position() != (data.Position{}) {
			t.Errorf("%s: something was done: %d steps, %q, %v", c.what, tr.Store().Step(), tr.Store().Paths(), source.Position())
		}
		plan.ResumeChanged = true
		if err := tr.Fit(context.Background(), plan); (err == nil) != c.goesOn || c.goesOn && tr.Store().Step() != 6 {
			t.Errorf("%s, all the same: %v, %d steps", c.what, err, tr.Store().Step())
		}
		tr.Close()
	}
}

// TestResumeChangesNothing: settings that the batches do not depend on may change on resuming.
func TestResumeChangesNothing(t *testing.T) {
	dir := t.TempDir()
	plan := train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 4, Checkpoints: train.Checkpoints{Dir: dir, Every: 4}}
	if err := noisyTrainer(t).Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	ahead := data.Prefetch(data.Shuffled(iris(t), 64, 3), 2)
	defer ahead.Close()
	validated := noisyTrainer(t)
	for what, c := range map[string]struct {
		trainer *train.Trainer
		plan    train.Plan
	}{
		"more epochs": {noisyTrainer(t), train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 5}},
		"read ahead":  {noisyTrainer(t), train.Plan{Data: ahead, Steps: 15}},
		"workers": {func() *train.Trainer {
			tr := noisyTrainer(t)
			tr.Workers = 1
			return tr
		}(), train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 15}},
		"validation": {validated, train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 15, Validate: func(ctx context.Context) (metric.Scores, error) {
			return validated.Evaluate(ctx, data.InOrder(iris(t), 50))
		}}},
		"a source that says nothing": {noisyTrainer(t), train.Plan{Data: struct{ data.Source }{data.Shuffled(iris(t), 64, 3)}, Steps: 15}},
	} {
		c.plan.Resume = dir
		if err := c.trainer.Fit(context.Background(), c.plan); err != nil || c.trainer.Store().Step() != 15 {
			t.Errorf("%s: %v, %d steps", what, err, c.trainer.Store().Step())
		}
	}
}

// TestResumeFewerBatches: with ResumeChanged a training resumes from the next epoch if the data
// have fewer batches than it had done in its epoch.
func TestResumeFewerBatches(t *testing.T) {
	dir := t.TempDir()
	plan := train.Plan{Data: data.Shuffled(iris(t), 10, 3), Steps: 12, Checkpoints: train.Checkpoints{Dir: dir, Every: 12}}
	if err := noisyTrainer(t).Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	source, tr := data.Shuffled(iris(t), 64, 3), noisyTrainer(t)
	if err := tr.Fit(context.Background(), train.Plan{Data: source, Steps: 13, Resume: dir, ResumeChanged: true}); err != nil {
		t.Fatal(err)
	}
	if want := (data.Position{Epoch: 1, Batch: 1}); source.Position() != want || tr.Store().Step() != 13 {
		t.Errorf("after step %d at %v, want %v", tr.Store().Step(), source.Position(), want)
	}
}

// TestResumeSources: sources that read ahead or change rows at random resume at their position, and
// gradients that are gathered over several steps resume in the middle.
func TestResumeSources(t *testing.T) {
	for name, source := range map[string]func() data.Source{
		"prefetched": func() data.Source {
			p := data.Prefetch(data.Shuffled(iris(t), 64, 3), 3)
			t.Cleanup(func() { p.Close() })
			return p
		},
		"drawn": func() data.Source {
			b := data.Batch{Rows: 4, Values: map[string]*tensor.Dense{
				"x": tensor.New(tensor.WithShape(4, 4), tensor.Of(tensor.Float32)), "y": tensor.New(tensor.WithShape(4), tensor.Of(tensor.Int32))}}
			return data.Drawn(b, 5, 1, func(rng *rand.Rand, b data.Batch) error {
				for i := range b.Values["x"].Float32s() {
					b.Values["x"].Float32s()[i] = rng.Float32()
				}
				for i := range b.Values["y"].Int32s() {
					b.Values["y"].Int32s()[i] = rng.Int32N(3)
				}
				return nil
			})
		},
	} {
		fit := func(ctx context.Context, plan train.Plan) string {
			tr := noisyTrainer(t)
			tr.Optimiser = train.AdamW(0.02, train.Accumulate(3), train.EMA(0.9))
			plan.Data, plan.Steps, plan.Rate = source(), 11, train.Cosine(0.05, 11)
			if err := tr.Fit(ctx, plan); err != nil && err != context.Canceled {
				t.Fatal(name, err)
			}
			return bits(t, tr.Store())
		}
		want := fit(context.Background(), train.Plan{})
		for _, stop := range []int{1, 5, 6} {
			dir := t.TempDir()
			ctx, cancel := cancelAfter(stop)
			fit(ctx, train.Plan{Checkpoints: train.Checkpoints{Dir: dir}, Observers: []train.Observer{cancel}})
			if got := fit(context.Background(), train.Plan{Resume: dir}); got != want {
				t.Errorf("%s, stopped after step %d: the training ends with\n%s\nnot\n%s", name, stop, got, want)
			}
		}
	}
}
