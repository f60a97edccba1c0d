package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Plan says how [Trainer.Fit] trains a model: on which data, for how long, and what it measures,
// saves and reports.
type Plan struct {
	// Data are what each step is fed. Several ranks need the same data each, and read the rows of
	// their own lanes.
	Data data.Source
	// Epochs and Steps are counted from the beginning of the training. It ends when one of them is
	// reached; 0 is no limit, and at least one must be given.
	Epochs, Steps int

	// Rate is the learning rate of each step; the zero value leaves it to the optimiser.
	Rate Schedule
	// Scheduled has the values of other float scalars by path, fed in each step.
	Scheduled map[string]Schedule

	// Validate measures the model; nil is never. Its first score decides which step is the best:
	// smaller is better. All of several ranks call it, and it must give the same scores on all.
	Validate func(ctx context.Context) (metric.Scores, error)
	// Every is the number of steps between two measurements; 0 measures after each epoch. The model
	// is measured at the end in any case.
	Every int
	// Patience is the number of measurements in a row that may fail to be better than the best; one
	// more ends training. When training is done, the store is set back to the best step. 0 trains
	// to the end and keeps the last step.
	Patience int

	Checkpoints Checkpoints
	// Resume is the path of a checkpoint from which to go on, or of a folder, of which the newest
	// whole checkpoint is taken. Every step is then, bit for bit, what it would have been without a
	// stop, if the plan and the trainer's fields are the same. "" begins, or goes on with what the
	// trainer has. An empty folder is an error, unless it is that of Checkpoints, where training
	// then begins: so a command that resumes can be repeated until it is done.
	//
	// A checkpoint of another model is a [*checkpoint.Mismatch]. One whose training would not go on
	// as it began, because the objective or the batches or order of the data differ, is a
	// [*checkpoint.Changed], unless ResumeChanged is set; then, if the epoch has too few batches
	// for the checkpoint's position, the next epoch begins. Neither error changes anything.
	//
	// Of several ranks the first reads the checkpoint and passes it on; they need no folder in
	// common. Their number may be another than before, but another number of lanes is a
	// [*checkpoint.Changed].
	Resume        string
	ResumeChanged bool

	Observers []Observer
}

// Fit trains as planned. It returns nil when the plan is done or Patience is; ctx's error when ctx
// ends, after the step under way; and a [*Diverged] when the loss is not finite. If no step was
// taken yet, it begins at the beginning of the data, whatever their position.
//
// A second call goes on from where the first ended: Steps and Epochs count from the beginning of
// the training. After an error the data stand before the batch whose step failed, and a second call
// also goes on with the measurements that Patience counts.
//
// A label that is no class of a nn.CrossEntropy, nor ignored by it, is an error that names it and
// its row. A schedule whose value is not finite is an error, too.
//
// With several ranks all of them call it with the same plan, and first compare what must be the
// same on all: where something differs, all get an error that names it and the ranks. An error of
// one rank ends all: the others' names the rank and its cause. When the context of one ends, all
// take the same step as their last, write a checkpoint, and return an error that wraps the
// context's: "rank 2 was interrupted". Observers are told the same on all ranks, and those that
// return [ErrStop] must do so on all: a rank that stops alone is lost to the others.
func (t *Trainer) Fit(ctx context.Context, plan Plan) error {
	if t == nil {
		return errNoTrainer
	}
	f, err := t.newFitting(ctx, plan)
	release := func() {}
	if err == nil {
		release, err = f.open() // before it reads where to go on from: another training may be about to write
	}
	defer func() { release() }()
	if err = t.together(ctx, "beginning to fit", err); err != nil {
		return err
	}
	if t.several() {
		if err := t.agree(ctx, append(f.run.facts(), plan.facts()...)...); err != nil {
			return err
		}
	}
	begun, err := f.start(ctx)
	if err = t.together(ctx, "resuming", err); err != nil {
		return err
	}
	t.measured, f.run.measured = f.validation, f.validation
	f.validation.Store = nil // keeping a copy of the store is only worth it where it may be restored
	if plan.Patience > 0 {
		f.validation.Store = f.Store()
	}
	if err = t.abort(f.run.tell(begun)); err == nil {
		err = f.do(ctx)
	} else if errors.Is(err, ErrStop) {
		err = nil
	}
	t.pending = nil
	if err != nil {
		t.pending = f.validation
		err = f.rescue(ctx, err)
	} else {
		f.validation.kept = nil // the store has been restored from it
	}
	if told := f.run.tell(Event{Kind: Ended, Err: err}); err == nil && !errors.Is(told, ErrStop) {
		err = told
	}
	return t.together(ctx, "ending", err)
}

// start sets the training to where it goes on from, and returns the event of its beginning.
func (f *fitting) start(ctx context.Context) (Event, error) {
	from, err := f.checkpoint(ctx)
	if err != nil {
		return Event{}, err
	}
	if f.first() {
		if err := f.behind(from); err != nil {
			return Event{}, err
		}
	}
	begun, err := f.resume(from)
	if err != nil {
		return Event{}, err
	}
	if start := (data.Position{}); f.step() == 0 && f.plan.Data.Position() != start {
		if err := f.plan.Data.Seek(start); err != nil {
			return Event{}, fmt.Errorf("fit: %w", err)
		}
	}
	return begun, nil
}

// fitting is one call of Fit.
type fitting struct {
	*Trainer
	plan       Plan
	run        *Run
	validation *validation
	damaged    error // why newer checkpoints than that from which it goes on were skipped
	alone      bool  // the other ranks are out of reach

	model   checkpoint.Identity // once it is known
	nets    map[string]string   // the texts of the nets that predict, once they are known
	saved   int                 // the step of the last checkpoint; −1 at first
	savedAt time.Time
}

// validation is the state of the measurements.
type validation struct {
	EarlyStop
	last int // the step of the last measurement; −1 at first
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
		return nil, fmt.Errorf("fit: %d epochs and %d steps: want at least one of them above 0, and none below", plan.Epochs, plan.Steps)
	case plan.Every < 0 || plan.Patience < 0:
		return nil, fmt.Errorf("fit: Every %d, Patience %d: want neither below 0", plan.Every, plan.Patience)
	case plan.Patience > 0 && plan.Validate == nil:
		return nil, errors.New("fit: Patience without Validate: nothing is measured")
	case plan.Checkpoints.Every < 0 || plan.Checkpoints.Interval < 0:
		return nil, fmt.Errorf("fit: checkpoints every %d steps and %v: want neither below 0", plan.Checkpoints.Every, plan.Checkpoints.Interval)
	case slices.Contains(plan.Observers, nil):
		return nil, errors.New("fit: an observer is nil")
	}
	if v := f.validation; v == nil || plan.Patience > 0 && v.found && v.kept == nil { // the values of the best step are gone
		f.validation = newValidation()
	}
	f.run = &Run{Trainer: t, Data: plan.Data, Epochs: plan.Epochs, Steps: plan.Steps, Rate: plan.Rate, Scheduled: plan.Scheduled, Observers: plan.Observers, between: f.between, due: f.clock}
	return f, nil
}

// step returns the number of steps committed.
func (f *fitting) step() int { return f.run.step() }

// between measures and saves what is due between two steps and, with done, after the last. It ends
// the training when patience is exhausted.
func (f *fitting) between(ctx context.Context, done bool) (end bool, err error) {
	if err := f.validate(ctx, done); err != nil {
		return false, err
	}
	end = f.plan.Patience > 0 && f.validation.waiting > f.plan.Patience
	if done || end || f.saveDue() {
		err = f.save(ctx)
	}
	return end, err
}

// do trains, and with Patience goes back to the best step.
func (f *fitting) do(ctx context.Context) error {
	if err := f.run.Do(ctx); err != nil {
		if diverged := new(Diverged); errors.As(err, &diverged) && f.Engine == nil { // the autopsy explains the tape's run, not that of another engine
			return f.autopsy(ctx, diverged)
		}
		return err
	}
	if f.plan.Patience > 0 {
		return f.validation.Restore()
	}
	return nil
}

// Best returns the best measurement of the last Fit, to which Patience would go back; ok is false
// if nothing was measured as a number.
func (t *Trainer) Best() (best Best, ok bool) {
	if t.measured == nil {
		return Best{}, false
	}
	best.Step, best.Score, ok = t.measured.Best()
	return best, ok
}

// rescue writes a checkpoint of a training that was interrupted. One that diverged gets none: it
// would diverge again, and the older checkpoints are worth more. The first of several ranks writes
// it even if it has lost the others, unless the states are shared out among them.
func (f *fitting) rescue(ctx context.Context, err error) error {
	if diverged, full, apart := new(Diverged), new(unwritten), new(disagreement); errors.As(err, &diverged) || errors.As(err, &full) || errors.As(err, &apart) {
		return err
	}
	if f.alone = over(err); f.alone && (!f.first() || f.Ranks.Sharded()) {
		return err
	}
	if failed := f.save(ctx); failed != nil {
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

// validate measures the model if that is due, or at the end, unless it was measured after this
// step.
func (f *fitting) validate(ctx context.Context, end bool) error {
	v := f.validation
	if f.plan.Validate == nil || v.last == f.step() || !end && (f.step() == 0 || !f.measureDue()) {
		return nil
	}
	was, store := *v, f.Store()
	runs := store.Runs()
	scores, err := f.plan.Validate(ctx)
	if err = f.alike(ctx, scores, err); err == nil {
		err = f.judge(ctx, scores)
	}
	if err != nil && !errors.Is(err, ErrStop) { // training that goes on measures again, with the same random draws
		*v = was
		store.Resume(store.Seed(), store.Step(), runs)
	}
	return err
}

// alike returns an error where Validate failed on a rank, or gave other scores on one than on
// another: whether training ends, and what is the best, would then differ.
func (f *fitting) alike(ctx context.Context, scores metric.Scores, err error) error {
	if !f.several() {
		return err
	}
	var mine []byte
	for _, s := range scores {
		mine = fmt.Appendf(mine, "%s %v, ", s.Name, s.Value)
	}
	all, err := f.exchange(ctx, "validating", mine, err)
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if !bytes.Equal(theirs, all[0]) {
			return &told{error: fmt.Errorf("fit: Validate gave %son rank 0 and %son rank %d: it must give the same on all", all[0], theirs, rank)}
		}
	}
	return nil
}

// judge compares the scores with the best, tells the observers, and saves the best checkpoint.
func (f *fitting) judge(ctx context.Context, scores metric.Scores) (err error) {
	v, best := f.validation, false
	switch {
	case len(scores) > 0:
		if best, err = v.take(f.step(), scores[0].Value); err != nil {
			return err
		}
	case f.plan.Patience > 0:
		return errors.New("fit: Patience needs a score, and Validate returned none")
	}
	if v.last = f.step(); f.saved == v.last {
		f.saved-- // that checkpoint was written by a training that ended before it measured
	}
	told := f.abort(f.run.tell(Event{Kind: Validated, Scores: scores}))
	if told != nil && !errors.Is(told, ErrStop) || !best {
		return told
	}
	return errors.Join(told, f.saveBest(ctx))
}
