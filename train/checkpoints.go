package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Checkpoints says where and when [Trainer.Fit] writes checkpoints; see package train/checkpoint.
// It writes one when it is due, at the end, and when training is interrupted: by its context, by an
// observer, or by data that cannot be read. Where the plan has Validate, the checkpoint of the best
// measurement is kept as well, as best.safetensors.
//
// The folder is held by Fit until it returns: another training that is to write there, in this
// process or another, is refused with [checkpoint.ErrBusy], where the system can tell.
//
// Of several ranks, the first writes and holds the folder; the others need none, only a Dir that is
// not empty. Its clock tells all when Interval has passed. They wait for the file to be written, no
// longer than a rank waits for another. If the job loses a rank, the first still writes a
// checkpoint of the last step, unless the optimiser's states are shared out among the ranks.
//
// A checkpoint that cannot be written ends the training with the error. What was trained is still
// in the trainer, whose next Fit continues it.
type Checkpoints struct {
	Dir  string // the folder, made if it does not exist; "" for no checkpoints
	Keep int    // how many of the newest to keep; 0 is 3, below 0 all

	// Every is the number of steps between two checkpoints, Interval the time. Whichever is due
	// first counts; with neither, a checkpoint is due after each epoch. With Interval, the first is
	// due after a tenth of it, so that little of a new training can be lost.
	Every    int
	Interval time.Duration

	Meta map[string]string // further texts for each checkpoint, such as infer.GeneratorMeta and infer.MetaClasses
}

func (c *Checkpoints) folder() checkpoint.Folder { return checkpoint.Folder{Dir: c.Dir, Keep: c.Keep} }

// open makes the folder ready, and holds it until release is called. Of several ranks the first
// does.
func (f *fitting) open() (release func(), err error) {
	none := func() {}
	if f.plan.Checkpoints.Dir == "" || !f.first() {
		return none, nil
	}
	if release, err = f.plan.Checkpoints.folder().Open(); err != nil {
		return none, fmt.Errorf("fit: %w", err)
	}
	return release, nil
}

// behind refuses a folder that holds newer checkpoints than the training, which goes on from the
// checkpoint from: they would be taken for its own.
func (f *fitting) behind(from *checkpoint.State) error {
	c := &f.plan.Checkpoints
	if c.Dir == "" {
		return nil
	}
	step := f.Store().Step()
	if from != nil {
		step = from.Store.Step()
		if sameFile(c.Dir, f.plan.Resume) {
			return nil // what is newer is damaged
		}
	}
	newest, ok, err := c.folder().Newest()
	switch {
	case err != nil:
		return fmt.Errorf("fit: %w", err)
	case ok && newest > step:
		return fmt.Errorf("fit: %s holds checkpoints up to step %d, and this training is at step %d: resume from there, or take another folder", c.Dir, newest, step)
	}
	return nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err == nil && other == nil && os.SameFile(x, y)
}

// checkpoint loads the plan's checkpoint and checks that it fits; it returns nil where there is
// none to go on from.
func (f *fitting) checkpoint(ctx context.Context) (*checkpoint.State, error) {
	if f.plan.Resume == "" {
		return nil, nil
	}
	s, err := f.newest(ctx)
	if s == nil || err != nil {
		return nil, err
	}
	if f.model, err = f.identify(size{rows: s.Model.Rows, sizes: s.Model.Sizes}); err != nil {
		return nil, err
	}
	changed := new(checkpoint.Changed)
	switch err := s.Check(f.model, f.plan.Data.Batches(), data.Describe(f.plan.Data)); {
	case errors.As(err, &changed) && !f.plan.ResumeChanged:
		return nil, fmt.Errorf("resume: %w; with ResumeChanged training goes on all the same", err)
	case err != nil && changed.Path == "":
		return nil, fmt.Errorf("resume: %w", err)
	}
	if f.validation, err = f.resumeValidation(ctx, s); err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return s, nil
}

// newest returns the plan's checkpoint, as the first rank reads it; nil where there is none to go
// on from.
func (f *fitting) newest(ctx context.Context) (s *checkpoint.State, err error) {
	skipped := ""
	if f.first() {
		var damaged []error
		s, damaged, err = latest(f.plan.Resume)
		switch {
		case errors.Is(err, checkpoint.ErrNone) && f.plan.Checkpoints.Dir != "" && sameFile(f.plan.Resume, f.plan.Checkpoints.Dir):
			s, err = nil, nil // the first run of a command that resumes
		case err != nil:
			err = fmt.Errorf("resume: %w", err)
		}
		if f.damaged = errors.Join(damaged...); f.damaged != nil {
			skipped = f.damaged.Error()
		}
	}
	all, err := f.exchange(ctx, "reading the newest checkpoint", []byte(skipped), err)
	if err != nil {
		return nil, err
	}
	if text := string(all[0]); f.damaged == nil && text != "" {
		f.damaged = &RankError{Text: text}
	}
	return f.pass(ctx, s)
}

// resume goes on from a checkpoint, if there is one, and returns the event of the beginning.
func (f *fitting) resume(s *checkpoint.State) (Event, error) {
	if s == nil {
		return Event{Kind: Begun}, nil
	}
	was, at := f.plan.Data.Position(), s.Position
	if n := f.plan.Data.Batches(); f.plan.ResumeChanged && n > 0 && at.Batch >= n { // an epoch of fewer batches is over
		at = data.Position{Epoch: at.Epoch + 1}
	}
	if err := f.plan.Data.Seek(at); err != nil {
		return Event{}, fmt.Errorf("resume: %s: %w", s.Path, err)
	}
	if err := f.Store().Load(s.Store); err != nil {
		return Event{}, errors.Join(fmt.Errorf("resume: %s: %w", s.Path, err), f.plan.Data.Seek(was))
	}
	f.keepOwn()
	f.saved = f.step()
	return Event{Kind: Begun, Path: s.Path, Err: f.damaged}, nil
}

// latest loads a checkpoint: a file, or the newest of a folder.
func latest(path string) (*checkpoint.State, []error, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		s, err := checkpoint.Load(path)
		return s, nil, err
	}
	return checkpoint.Folder{Dir: path}.Latest()
}

// resumeValidation returns the validation as it stood at the checkpoint. The values that early
// stopping restores are in best.safetensors beside the checkpoint, unless that is of the best step
// itself.
func (f *fitting) resumeValidation(ctx context.Context, s *checkpoint.State) (*validation, error) {
	v := newValidation()
	if s.Validation == nil {
		return v, nil
	}
	v.last = s.Validation.Step
	v.waiting = s.Validation.Waiting
	if math.IsNaN(s.Validation.Best) {
		return v, nil
	}
	v.found, v.best, v.step = true, s.Validation.Best, s.Validation.At
	if f.plan.Patience == 0 {
		return v, nil
	}
	best := s
	if uint64(s.Validation.At) != s.Store.Step() {
		var err error
		if best, err = f.best(ctx, filepath.Dir(s.Path)); err != nil {
			return nil, fmt.Errorf("early stopping needs the checkpoint of the best step, %d: %w", s.Validation.At, err)
		}
		if best.Store.Step() != uint64(s.Validation.At) {
			return nil, fmt.Errorf("early stopping needs the checkpoint of the best step, %d: %s is of step %d; without Patience training can go on", s.Validation.At, best.Path, best.Store.Step())
		}
	}
	v.kept = map[string]*tensor.Dense{}
	for _, path := range best.Store.Paths() {
		t, err := best.Store.Get(path)
		if err != nil {
			return nil, err
		}
		v.kept[path] = t
	}
	return v, nil
}

// best returns the checkpoint of the best step in a folder, as the first rank reads it.
func (f *fitting) best(ctx context.Context, dir string) (s *checkpoint.State, err error) {
	if f.first() {
		s, err = checkpoint.Folder{Dir: dir}.LoadBest()
	}
	if err = f.together(ctx, "reading the best checkpoint", err); err != nil {
		return nil, err
	}
	return f.pass(ctx, s)
}

// identity returns the identity of the model, once a step was taken or a checkpoint read.
func (f *fitting) identity() (_ checkpoint.Identity, err error) {
	if f.model.Fingerprint == "" {
		f.model, err = f.identify(size{rows: f.rows, sizes: f.sizes})
	}
	return f.model, err
}

// state returns the checkpoint of the training as it stands, with a store of all its values.
func (f *fitting) state(store *tape.Store) (*checkpoint.State, error) {
	model, err := f.identity()
	if err != nil {
		return nil, err
	}
	meta, err := f.meta()
	if err != nil {
		return nil, err
	}
	from := f.plan.Data
	s := &checkpoint.State{Store: store, Position: from.Position(), Batches: from.Batches(), Data: data.Describe(from), Model: model, Meta: meta}
	if v := f.validation; v.last >= 0 {
		s.Validation = &checkpoint.Validation{Step: v.last, Best: math.NaN(), Waiting: v.waiting}
		if v.found {
			s.Validation.Best, s.Validation.At = v.best, v.step
		}
	}
	return s, nil
}

// identify returns the identity of what the trainer trains, by a net of a size.
func (t *Trainer) identify(s size) (checkpoint.Identity, error) {
	rows, lanes := s.rows, 0
	if t.Ranks != nil { // the net is that of a lane
		_, s.rows = t.Ranks.Rows(0, rows)
		lanes = t.Ranks.Lanes()
	}
	s.mode = Training
	p, err := t.net(s)
	if err != nil {
		return checkpoint.Identity{}, err
	}
	id := checkpoint.Identify(rows, p.net.Loss, p.step)
	id.Sizes, id.Lanes = s.sizes, lanes
	return id, nil
}

// saves reports whether checkpoints are written, and the model is known.
func (f *fitting) saves() bool {
	return f.plan.Checkpoints.Dir != "" && f.step() > 0 && (f.rows > 0 || f.model.Fingerprint != "")
}

// saveDue reports whether a checkpoint is due after the step that was done.
func (f *fitting) saveDue() bool {
	c := &f.plan.Checkpoints
	switch {
	case c.Every > 0 && f.step()%c.Every == 0:
		return true
	case c.Interval > 0 && f.several():
		return f.run.save
	case c.Interval > 0:
		return f.clock()
	}
	return c.Every <= 0 && f.plan.Data.Position().Batch == 0
}

// clock reports whether Interval has passed, by the clock of the rank that writes.
func (f *fitting) clock() bool {
	wait := f.plan.Checkpoints.Interval
	if wait <= 0 || !f.first() {
		return false
	}
	if f.saved < 0 {
		wait /= 10
	}
	return time.Since(f.savedAt) >= wait
}

// save writes a checkpoint, unless that of this step is written.
func (f *fitting) save(ctx context.Context) error {
	if !f.saves() || f.saved == f.step() {
		return nil
	}
	return f.write(ctx, checkpoint.Folder.Save, func() { f.saved, f.savedAt = f.step(), time.Now() })
}

// saveBest writes the checkpoint of the best step.
func (f *fitting) saveBest(ctx context.Context) error {
	if !f.saves() {
		return nil
	}
	return f.write(ctx, checkpoint.Folder.SaveBest, func() {})
}

// write writes a checkpoint on the first rank, and tells the observers of all.
func (f *fitting) write(ctx context.Context, to func(checkpoint.Folder, *checkpoint.State) (string, error), done func()) error {
	path := ""
	store, err := f.collect(ctx)
	if err == nil && f.first() {
		path, err = f.file(to, store)
	}
	if !f.alone {
		all, err := f.exchange(ctx, "writing a checkpoint", []byte(path), err)
		if err != nil {
			return err
		}
		path = string(all[0])
	} else if err != nil {
		return err
	}
	done()
	return f.abort(f.run.tell(Event{Kind: Saved, Path: path}))
}

// file writes a checkpoint with the values of a store, and returns its path.
func (f *fitting) file(to func(checkpoint.Folder, *checkpoint.State) (string, error), store *tape.Store) (string, error) {
	s, err := f.state(store)
	if err != nil {
		return "", err
	}
	path, err := to(f.plan.Checkpoints.folder(), s)
	if err != nil {
		return "", &unwritten{err}
	}
	return path, nil
}

// unwritten is the error of a checkpoint that could not be written; another would fail, too.
type unwritten struct{ error }

func (u *unwritten) Unwrap() error { return u.error }

// Load copies the values of a checkpoint into the trainer's store, to evaluate and predict with
// them. The path is that of a file, or of a folder, of which the newest whole checkpoint is taken.
// A checkpoint that lacks values that the model needs for evaluating is a [*checkpoint.Mismatch];
// any error leaves the store as it was. To resume training, see [Plan].
func (t *Trainer) Load(path string) (*checkpoint.State, error) {
	s, _, err := latest(path)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	p, err := t.net(size{rows: s.Model.Rows, sizes: s.Model.Sizes, mode: Evaluating})
	if err != nil {
		return nil, err
	}
	if err := s.CheckUse(checkpoint.Identify(s.Model.Rows, p.net.Loss, nil, p.net.Output)); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if err := t.Store().Load(s.Store); err != nil {
		return nil, fmt.Errorf("load: %s: %w", s.Path, err)
	}
	return s, nil
}

// Prepare compiles the training for batches of so many rows, and of sizes for a trainer with
// BuildSizes, and returns the store with fresh values
// for all that it needs, before the first step, so that [checkpoint.LoadPart] can replace some.
// Once ctx is done it compiles no further.
func (t *Trainer) Prepare(ctx context.Context, rows int, sizes ...int) (*tape.Store, error) {
	if t == nil {
		return nil, errNoTrainer
	}
	if _, err := t.program(ctx, size{rows: rows, sizes: attr.IntsOf(sizes...), mode: Training}); err != nil {
		return nil, err
	}
	return t.Store(), nil
}
