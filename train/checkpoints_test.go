package train_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// bumpy is a course of validation: best after steps 3, 6, 15 and 21, then never.
var bumpy = map[int]float64{3: 5, 6: 4, 9: 4.5, 12: 4.2, 15: 3, 18: 3.5, 21: 2, 24: 2.5, 27: 3, 30: 3, 33: 3}

// bumpyPlan trains with all that a checkpoint must carry: batches of 64, 64 and 22 rows,
// a schedule over the whole, early stopping that ends it after step 30.
func bumpyPlan(t testing.TB, tr *train.Trainer, dir string) train.Plan {
	plan := train.Plan{
		Data: data.Shuffled(iris(t), 64, 3), Epochs: 12, Rate: train.Warmup(4, train.Cosine(0.05, 32)),
		Scheduled: map[string]train.Schedule{"drop": train.Geometric(0.4, 0.1)},
		Every:     3, Patience: 2,
		Checkpoints: train.Checkpoints{Dir: dir, Every: 4, Meta: map[string]string{"notes": "bumpy"}},
	}
	held := data.InOrder(iris(t), 60)
	script := byStep(tr, bumpy)
	plan.Validate = func(ctx context.Context) (metric.Scores, error) {
		s, err := script(ctx)
		if err != nil {
			return nil, err
		}
		seen, err := tr.Evaluate(ctx, held, metric.Accuracy("y"))
		return append(s, seen...), err
	}
	return plan
}

// course is what happened, without checkpoints and ends: what an interruption must not change.
func course(r *recorder) (lines []string) {
	for _, e := range r.events {
		if e.Kind == train.Stepped || e.Kind == train.Validated {
			lines = append(lines, fmt.Sprintf("%d %d %v %x %x %v", e.Kind, e.Step, e.Position, e.Loss, e.Rate, e.Scores))
		}
	}
	return lines
}

// undisturbed is the whole training of bumpyPlan at once.
func undisturbed(t testing.TB) (bitsOf string, lines []string) {
	tr, r := noisyTrainer(t), &recorder{}
	plan := bumpyPlan(t, tr, "")
	plan.Observers = []train.Observer{r}
	if err := tr.Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	if tr.Store().Step() != 30 {
		t.Fatalf("%d steps", tr.Store().Step())
	}
	return bits(t, tr.Store()), course(r)
}

// TestResume: a training stopped after any step, in any of the ways, goes on in a new
// trainer as if it had never stopped: every loss, rate, measurement and bit.
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

// TestResumeAmidMeasuring: interrupted while it is measured, the model is measured when
// training goes on.
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
		{plan.Resume, "resume: early stopping wants the best step, 6: " + filepath.Join(dir, "best.safetensors") + " is of step 21; without Patience it goes on all the same"},
		{"", "fit: " + dir + " holds checkpoints up to step 30, and this training is at step 0: resume from there, or take another folder"},
		{filepath.Join(dir, "step-00000024.safetensors"), "fit: " + dir + " holds checkpoints up to step 30, and this training is at step 24: resume from there, or take another folder"},
	} {
		plan.Resume = c.resume
		if err := other.Fit(context.Background(), plan); err == nil || err.Error() != c.want || other.Store().Step() != 0 || plan.Data.Position() != (data.Position{}) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestSaves: checkpoints are written when they are due, at the end and at an interruption.
func TestSaves(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		what  string
		plan  train.Plan
		fail  int // the step after which an observer fails
		kinds string
		names []string
	}{
		{"each epoch", train.Plan{Epochs: 2}, 0, "BsssSsssSE", []string{"step-00000003", "step-00000006"}},
		{"and at the end", train.Plan{Steps: 4}, 0, "BsssSsSE", []string{"step-00000003", "step-00000004"}},
		{"every 2 steps", train.Plan{Steps: 5, Checkpoints: train.Checkpoints{Every: 2, Keep: 2}}, 0, "BssSssSsSE", []string{"step-00000004", "step-00000005"}},
		{"in time", train.Plan{Steps: 3, Checkpoints: train.Checkpoints{Interval: time.Nanosecond, Keep: -1}}, 0, "BsSsSsSE", []string{"step-00000001", "step-00000002", "step-00000003"}},
		{"not yet in time", train.Plan{Steps: 5, Checkpoints: train.Checkpoints{Interval: time.Hour}}, 0, "BsssssSE", []string{"step-00000005"}},
		{"when interrupted", train.Plan{Steps: 5, Checkpoints: train.Checkpoints{Every: 10}}, 4, "BssssSE", []string{"step-00000004"}},
		{"with the best", train.Plan{Steps: 12, Every: 3, Checkpoints: train.Checkpoints{Every: 10}}, 0, "BsssVSsssVSsssVsSssVSE", []string{"best", "step-00000010", "step-00000012"}},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		tr, r := noisyTrainer(t), &recorder{}
		c.plan.Data = data.Shuffled(iris(t), 64, 3)
		c.plan.Checkpoints.Dir = dir
		if c.plan.Every > 0 {
			c.plan.Validate = byStep(tr, bumpy)
		}
		c.plan.Observers = []train.Observer{r, train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped && e.Step == c.fail {
				return broken
			}
			return nil
		})}
		if err := tr.Fit(context.Background(), c.plan); err != nil && (err != broken || c.fail == 0) {
			t.Errorf("%s: %v", c.what, err)
		}
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		var names []string
		for _, p := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(p), ".safetensors"))
		}
		if r.kinds() != c.kinds || !slices.Equal(names, c.names) || err != nil {
			t.Errorf("%s: %s, %q: want %s, %q", c.what, r.kinds(), names, c.kinds, c.names)
		}
		for _, e := range r.events {
			if e.Kind == train.Saved && filepath.Dir(e.Path) != dir {
				t.Errorf("saved %q", e.Path)
			}
		}
	}
}

// TestPassedOver: a damaged checkpoint is told of, and training goes on from the one before.
func TestPassedOver(t *testing.T) {
	want, _ := undisturbed(t)
	dir := t.TempDir()
	tr := noisyTrainer(t)
	plan := bumpyPlan(t, tr, dir)
	ctx, cancel := cancelAfter(17)
	plan.Observers = []train.Observer{cancel}
	if err := tr.Fit(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	newest := filepath.Join(dir, "step-00000017.safetensors")
	if err := os.Truncate(newest, 1000); err != nil {
		t.Fatal(err)
	}
	tr = noisyTrainer(t)
	plan = bumpyPlan(t, tr, dir)
	plan.Resume, plan.Checkpoints.Every = dir, 1
	r := &recorder{}
	plan.Observers = []train.Observer{r}
	if err := tr.Fit(context.Background(), plan); err != nil || bits(t, tr.Store()) != want {
		t.Errorf("%v", err)
	}
	begun := r.events[0]
	if begun.Path != filepath.Join(dir, "step-00000016.safetensors") || !errors.Is(begun.Err, safetensors.ErrFormat) || !strings.HasPrefix(begun.Err.Error(), newest+": ") {
		t.Errorf("%+v", begun)
	}
	for _, path := range []string{newest, filepath.Join(dir, "step-00000016.safetensors"), filepath.Join(dir, "best.safetensors")} {
		os.Truncate(path, 100)
	}
	s, _, err := (checkpoint.Folder{Dir: dir}).Latest()
	if err != nil || s.Store.Step() != 30 {
		t.Fatal(s, err)
	}
	tr = noisyTrainer(t)
	plan = bumpyPlan(t, tr, dir)
	plan.Resume = dir
	if err := tr.Fit(context.Background(), plan); !errors.Is(err, safetensors.ErrFormat) || !strings.HasPrefix(err.Error(), "resume: early stopping wants the best step, 21: "+filepath.Join(dir, "best.safetensors")) {
		t.Errorf("the best is damaged: %v", err)
	}
}

// TestResumeRefused: what does not fit is refused by its kind, and nothing is changed.
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
		{"another seed", fresh, data.Shuffled(iris(t), 64, 4), dir, "resume: " + path + ` fits the model, but its data were "shuffled(150 rows, batches of 64, seed 3)", these are "shuffled(150 rows, batches of 64, seed 4)": training would not go on as it began; with ResumeChanged it goes on all the same`, nil, true},
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

// TestResumeChangesNothing: what the batches do not depend on may be another on resuming.
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

// TestResumeFewerBatches: with ResumeChanged a training goes on with data of fewer batches than
// it was interrupted after, too, from the next epoch.
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

// TestUnwritten: a checkpoint that cannot be written ends the training; the trainer goes
// on when there is room again.
func TestUnwritten(t *testing.T) {
	want, _ := undisturbed(t)
	dir := filepath.Join(t.TempDir(), "runs")
	tr := noisyTrainer(t)
	plan := bumpyPlan(t, tr, dir)
	plan.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped && e.Step == 7 {
			return os.RemoveAll(dir)
		}
		return nil
	})}
	err := tr.Fit(context.Background(), plan)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "checkpoint "+filepath.Join(dir, "step-00000008.safetensors")+": no such file or directory" {
		t.Fatal(err)
	}
	plan.Observers = nil
	if err := tr.Fit(context.Background(), plan); err != nil || bits(t, tr.Store()) != want {
		t.Error(err)
	}
	plan = bumpyPlan(t, noisyTrainer(t), dir+"-gone")
	ctx, cancel := cancelAfter(2)
	plan.Observers = []train.Observer{cancel, train.ObserverFunc(func(train.Event) error { return os.RemoveAll(dir + "-gone") })}
	err = noisyTrainer(t).Fit(ctx, plan)
	if want := "context canceled; no checkpoint of it was written: checkpoint " + filepath.Join(dir+"-gone", "step-00000002.safetensors") + ": no such file or directory"; !errors.Is(err, context.Canceled) ||
		!errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := os.WriteFile(dir+"-file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	tr = noisyTrainer(t)
	if err := tr.Fit(context.Background(), bumpyPlan(t, tr, dir+"-file")); err == nil || err.Error() != "fit: checkpoint "+dir+"-file: not a directory" || tr.Store().Step() != 0 {
		t.Error(err)
	}
}

// TestLoad: to predict, a trainer needs no optimiser, and wants all that the model uses.
func TestLoad(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	tr := noisyTrainer(t)
	if err := tr.Fit(ctx, train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 3, Checkpoints: train.Checkpoints{Dir: dir, Meta: map[string]string{"classes": "3"}}}); err != nil {
		t.Fatal(err)
	}
	held := data.InOrder(iris(t), 0)
	want, err := tr.Evaluate(ctx, held, metric.Accuracy("y"))
	if err != nil {
		t.Fatal(err)
	}
	reader := &train.Trainer{Build: noisy}
	defer reader.Close()
	if _, err := reader.Evaluate(ctx, held); err != nil { // with fresh values, before
		t.Fatal(err)
	}
	s, err := reader.Load(dir)
	if err != nil || s.Meta["classes"] != "3" {
		t.Fatal(s, err)
	}
	if got, err := reader.Evaluate(ctx, held, metric.Accuracy("y")); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v: want %v", got, err, want)
	}
	other := &train.Trainer{Build: wild}
	if _, err := other.Load(s.Path); err == nil || err.Error() != "load: "+s.Path+" is of another model: it has no w f32[]" || len(other.Store().Paths()) > 0 {
		t.Error(err)
	}
	if _, err := reader.Load(filepath.Join(dir, "absent")); !errors.Is(err, checkpoint.ErrNone) {
		t.Error(err)
	}
}

// TestTransfer: a part of a checkpoint is where another training begins.
func TestTransfer(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	first := noisyTrainer(t)
	if err := first.Fit(ctx, train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 3, Checkpoints: train.Checkpoints{Dir: dir}}); err != nil {
		t.Fatal(err)
	}
	second := noisyTrainer(t)
	s, err := second.Prepare(64)
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := s.Get("fc2/w")
	paths, err := checkpoint.LoadPart(filepath.Join(dir, "step-00000009.safetensors"), s, "fc1", "fc1")
	if err != nil || !slices.Equal(paths, []string{"fc1/b", "fc1/w"}) {
		t.Fatal(paths, err)
	}
	w, _ := s.Get("fc1/w")
	trained, _ := first.Store().Get("fc1/w")
	other, _ := s.Get("fc2/w")
	if !slices.Equal(w.Float32s(), trained.Float32s()) || !slices.Equal(fresh.Float32s(), other.Float32s()) || s.Step() != 0 {
		t.Error("other values than those asked for")
	}
	if err := second.Fit(ctx, train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 1}); err != nil {
		t.Error(err)
	}
}

// TestResumeSources: sources that read ahead or change rows at random stand where they
// stood, and gradients that are gathered over several steps are there in the middle.
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
