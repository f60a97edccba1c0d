package train_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
)

// bumpy lists values of validation: best after steps 3, 6, 15 and 21, then never.
var bumpy = map[int]float64{3: 5, 6: 4, 9: 4.5, 12: 4.2, 15: 3, 18: 3.5, 21: 2, 24: 2.5, 27: 3, 30: 3, 33: 3}

// bumpyPlan trains with everything that a checkpoint must hold: batches of 64, 64 and 22 rows, a
// schedule over the whole training, early stopping that ends it after step 30.
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

// undisturbed runs the whole training of bumpyPlan at once.
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

// TestPassedOver: a damaged checkpoint is reported, and training continues from the one before.
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
	if err := tr.Fit(context.Background(), plan); !errors.Is(err, safetensors.ErrFormat) || !strings.HasPrefix(err.Error(), "resume: early stopping needs the checkpoint of the best step, 21: "+filepath.Join(dir, "best.safetensors")) {
		t.Errorf("the best is damaged: %v", err)
	}
}

// TestUnwritten: a checkpoint that cannot be written ends the training; the trainer continues when
// there is room again.
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

// TestLoad: a trainer needs no optimiser to predict, but all values that the model uses.
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

// TestTransfer: another training begins with a part of a checkpoint.
func TestTransfer(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	first := noisyTrainer(t)
	if err := first.Fit(ctx, train.Plan{Data: data.Shuffled(iris(t), 64, 3), Epochs: 3, Checkpoints: train.Checkpoints{Dir: dir}}); err != nil {
		t.Fatal(err)
	}
	second := noisyTrainer(t)
	s, err := second.Prepare(t.Context(), 64)
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
