package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Plan says how long a model is trained, on what, and who looks on.
type Plan struct {
	Data   data.Source
	Epochs int // of the data, and
	Steps  int // in all: whichever is reached first. 0 is no limit; one must be given

	// Rate is the learning rate of each step; that of the optimiser if it is the zero value.
	Rate Schedule
	// Scheduled are other float scalars by path, set before each step.
	Scheduled map[string]Schedule

	// Validate measures the model; nil for never. The first score decides on early stopping:
	// the smaller the better.
	Validate func(ctx context.Context) (metric.Scores, error)
	// Every is the number of steps between two measurements; 0 is after each epoch. It is
	// measured at the end in any case.
	Every int
	// Patience is how many measurements in a row may fail to be better than the best; then
	// training ends and the store is set back to where it was best. 0 trains to the end.
	Patience int

	Checkpoints Checkpoints
	// Resume is a checkpoint from which to go on, or a folder, of which the newest one that
	// is whole is taken: every step is then, bit for bit, what it would have been without a
	// stop, if the plan and the trainer's fields are the same. "" begins, or goes on with
	// what the trainer has. The folder of Checkpoints may be empty, so that a command that
	// resumes from it can be given again and again.
	//
	// A checkpoint of another model is a [*checkpoint.Mismatch]; one whose training would not
	// go on as it began, for another objective or another cut or order of the data, a
	// [*checkpoint.Changed], unless ResumeChanged. Nothing is changed by either. Where with
	// ResumeChanged an epoch has too few batches for the position, the next one begins.
	Resume        string
	ResumeChanged bool

	Observers []Observer
}

// Fit trains as planned. Where no step was taken yet, it begins at the beginning of the
// data, wherever another training has left them. It ends well when the plan is done, or
// Patience is; with ctx's error after the step under way when ctx ends; with a [*Diverged]
// when the loss is not finite. A second call goes on from where the first ended: Steps and
// Epochs count from the beginning. After an error the data stand before the batch whose
// step was not done, and a second call also goes on with the measurements that Patience
// counts.
//
// A label that is no class of a nn.CrossEntropy, nor ignored by it, is an error that
// names it and its row; so is a schedule that gives no number.
func (t *Trainer) Fit(ctx context.Context, plan Plan) error {
	if t == nil {
		return errNoTrainer
	}
	f, err := t.newFitting(ctx, plan)
	if err != nil {
		return err
	}
	release, err := f.open() // before it reads where to go on from: another training may be about to write
	if err != nil {
		return err
	}
	defer release()
	from, err := f.checkpoint()
	if err != nil {
		return err
	}
	if err := f.behind(from); err != nil {
		return err
	}
	begun, err := f.resume(from)
	if err != nil {
		return err
	}
	t.measured, f.run.measured = f.validation, f.validation
	if start := (data.Position{}); f.step() == 0 && plan.Data.Position() != start {
		if err := plan.Data.Seek(start); err != nil {
			return fmt.Errorf("fit: %w", err)
		}
	}
	f.validation.Store = nil // which nothing is kept of, unless it may be wanted again
	if plan.Patience > 0 {
		f.validation.Store = f.Store()
	}
	if err = f.run.tell(begun); err == nil {
		err = f.do(ctx)
	} else if errors.Is(err, ErrStop) {
		err = nil
	}
	t.pending = nil
	if err != nil {
		t.pending = f.validation
		err = f.rescue(err)
	} else {
		f.validation.kept = nil // what was wanted of it is back in the store
	}
	if told := f.run.tell(Event{Kind: Ended, Err: err}); err == nil && !errors.Is(told, ErrStop) {
		err = told
	}
	return err
}

// fitting is one call of Fit.
type fitting struct {
	*Trainer
	plan       Plan
	run        *Run
	validation *validation
	damaged    error // newer checkpoints than that from which it goes on

	model   checkpoint.Identity // once it is known
	nets    map[string]string   // the texts of those that predict, once they are
	saved   int                 // the step of the last checkpoint; −1 at first
	savedAt time.Time
}

// validation is how far measuring has come.
type validation struct {
	EarlyStop
	last int // step after which the model was measured; −1 at first
}

func newValidation() *validation { return &validation{last: -1} }

func (t *Trainer) newFitting(ctx context.Context, plan Plan) (*fitting, error) {
	f := &fitting{Trainer: t, plan: plan, validation: t.pending, saved: -1, savedAt: time.Now()}
	switch {
	case ctx == nil:
		return nil, errors.New("fit: the context is nil")
	case plan.Data == nil:
		return nil, errors.New("fit: no data")
	case plan.Epochs < 0 || plan.Steps < 0 || plan.Epochs == 0 && plan.Steps == 0:
		return nil, fmt.Errorf("fit: %d epochs and %d steps: want at least one of either", plan.Epochs, plan.Steps)
	case plan.Every < 0 || plan.Patience < 0:
		return nil, fmt.Errorf("fit: Every %d, Patience %d: want none below 0", plan.Every, plan.Patience)
	case plan.Patience > 0 && plan.Validate == nil:
		return nil, errors.New("fit: patience without Validate: there is nothing to wait for")
	case plan.Checkpoints.Every < 0 || plan.Checkpoints.Interval < 0:
		return nil, fmt.Errorf("fit: checkpoints every %d steps, %v: want none below 0", plan.Checkpoints.Every, plan.Checkpoints.Interval)
	case slices.Contains(plan.Observers, nil):
		return nil, errors.New("fit: an observer is nil")
	}
	if v := f.validation; v == nil || plan.Patience > 0 && v.found && v.kept == nil { // of what was best, nothing is left
		f.validation = newValidation()
	}
	f.run = &Run{Trainer: t, Data: plan.Data, Epochs: plan.Epochs, Steps: plan.Steps, Rate: plan.Rate, Scheduled: plan.Scheduled, Observers: plan.Observers, between: f.between}
	return f, nil
}

// step is the number of steps committed.
func (f *fitting) step() int { return f.run.step() }

// between measures and keeps what is due between two steps and, with done, after the last. It ends
// the training when patience does.
func (f *fitting) between(ctx context.Context, done bool) (end bool, err error) {
	if err := f.validate(ctx, done); err != nil {
		return false, err
	}
	end = f.plan.Patience > 0 && f.validation.waiting > f.plan.Patience
	if done || end || f.saveDue() {
		err = f.save()
	}
	return end, err
}

// do trains, and goes back to the best step where patience is given.
func (f *fitting) do(ctx context.Context) error {
	if err := f.run.Do(ctx); err != nil {
		if diverged := new(Diverged); errors.As(err, &diverged) && f.Engine == nil { // another engine says what it knows
			return f.autopsy(ctx, diverged)
		}
		return err
	}
	if f.plan.Patience > 0 {
		return f.validation.Restore()
	}
	return nil
}

// Best is the measurement of the last Fit that Patience would go back to; ok is false where
// nothing was measured as a number.
func (t *Trainer) Best() (best Best, ok bool) {
	if t.measured == nil {
		return Best{}, false
	}
	best.Step, best.Score, ok = t.measured.Best()
	return best, ok
}

// rescue writes a checkpoint of a training that was interrupted. One that diverged gets
// none: it would diverge again, and the older ones are worth more.
func (f *fitting) rescue(err error) error {
	if diverged, full := new(Diverged), new(unwritten); errors.As(err, &diverged) || errors.As(err, &full) {
		return err
	}
	if failed := f.save(); failed != nil {
		return fmt.Errorf("%w; no checkpoint of it was written: %w", err, failed)
	}
	return err
}

// measureDue reports whether the model is to be measured after the step that was done.
func (f *fitting) measureDue() bool {
	if f.plan.Every > 0 {
		return f.step()%f.plan.Every == 0
	}
	return f.plan.Data.Position().Batch == 0
}

// validate measures the model if it is due, or at the end, and has not been done after this
// step.
func (f *fitting) validate(ctx context.Context, end bool) error {
	v := f.validation
	if f.plan.Validate == nil || v.last == f.step() || !end && (f.step() == 0 || !f.measureDue()) {
		return nil
	}
	was, store := *v, f.Store()
	runs := store.Runs()
	scores, err := f.plan.Validate(ctx)
	if err == nil {
		err = f.judge(scores)
	}
	if err != nil && !errors.Is(err, ErrStop) { // it is measured again when training goes on, with the same random draws
		*v = was
		store.Resume(store.Seed(), store.Step(), runs)
	}
	return err
}

// judge takes what was measured.
func (f *fitting) judge(scores metric.Scores) (err error) {
	v, best := f.validation, false
	switch {
	case len(scores) > 0:
		if best, err = v.take(f.step(), scores[0].Value); err != nil {
			return err
		}
	case f.plan.Patience > 0:
		return errors.New("fit: Validate gives no score to stop by")
	}
	v.last = f.step()
	told := f.run.tell(Event{Kind: Validated, Scores: scores})
	if told != nil && !errors.Is(told, ErrStop) || !best {
		return told
	}
	return errors.Join(told, f.saveBest())
}
