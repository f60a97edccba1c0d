package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Run is one training, step by step. All training is a Run: [Trainer.Fit] adds what a [Plan] has
// besides, and package lab adds observers that measure.
//
//	run := &train.Run{Trainer: t, Data: data.Shuffled(rows, 64, 1), Steps: 300, Observers: watch}
//	err := run.Do(ctx)
//
// Step t of a run is a function of its fields and of the store: the batch depends on the position
// of Data, and schedules on the number of steps that the store counts. Set the fields before the
// first step. If the trainer has several ranks, all of them do the run, with the same fields, which
// they compare before their first step.
type Run struct {
	Trainer *Trainer    // the model, its store, and the engine
	Data    data.Source // what each step is fed
	// Epochs and Steps are counted from the beginning of the training. Do ends when one of them is
	// reached; 0 is no limit. Steps, or those of Epochs if they are fewer, are the n of schedules.
	Epochs, Steps int

	// Rate is the learning rate of each step; the zero value leaves it to the optimiser. A model
	// with only a step of its own has no learning rate, and ignores it.
	Rate Schedule
	// Scheduled has the values of other float scalars by path, fed in each step.
	Scheduled map[string]Schedule
	Observers []Observer

	// between is called before each step and, with done, after the last, for what a plan measures
	// and saves. It may end the training.
	between  func(ctx context.Context, done bool) (end bool, err error)
	under    context.Context // of the last step; running is the same without its end, kept because making it allocates
	running  context.Context
	measured *validation // how far measuring has come, for the events; nil where nothing is measured

	// With several ranks:
	own   data.Source // the rows of this rank's lanes
	begun bool        // they have agreed on what they train
	ask   bool        // the context of one may have ended
	save  bool        // the first one's clock says that a checkpoint is due
	due   func() bool // whether it does; nil for never
}

// ErrStop is the error with which an observer ends a training early as if its plan were done:
// Run.Do and Trainer.Fit then return nil.
var ErrStop = errors.New("stop")

// Engine runs training steps and returns their loss, as a tape.VM does. A loss that is not finite
// is to be an error that wraps a [*tape.NotFinite], before anything is committed.
type Engine interface {
	Run(ctx context.Context, feed tape.Feed) error
	Float(n *graph.Node) (float64, error)
	Close()
}

// NewEngine returns an engine that computes the loss and applies the step to the store. If the
// engine does not count its steps in the store, [Run] does. Once ctx is done it should compile no
// further.
type NewEngine func(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (Engine, error)

// check returns an error that says which field is wrong.
func (r *Run) check() error {
	switch {
	case r == nil || r.Trainer == nil:
		return errNoTrainer
	case r.Data == nil:
		return errors.New("train: no data")
	case r.Epochs < 0 || r.Steps < 0:
		return fmt.Errorf("train: %d epochs and %d steps: want neither below 0", r.Epochs, r.Steps)
	case r.Trainer.Optimiser.search != nil && r.Data.Batches() > 1:
		return fmt.Errorf("train: %s wants the whole objective in each step, but the data have %d batches an epoch: want one, as data.InOrder(rows, 0) gives", r.Trainer.Optimiser.name, r.Data.Batches())
	case slices.Contains(r.Observers, nil):
		return errors.New("train: an observer is nil")
	}
	return nil
}

// step returns the number of steps committed.
func (r *Run) step() int { return int(r.Trainer.Store().Step()) }

// steps returns the number of steps in all, or 0 where it is not known.
func (r *Run) steps() int {
	n := r.Data.Batches() * r.Epochs
	if n > 0 && (r.Steps == 0 || n < r.Steps) {
		return n
	}
	return r.Steps
}

// done reports whether the last step was done.
func (r *Run) done() bool {
	return r.Steps > 0 && r.step() >= r.Steps || r.Epochs > 0 && r.Data.Position().Epoch >= r.Epochs
}

// Do takes steps until Steps or Epochs are done or an observer returns [ErrStop], and then returns
// nil; or until ctx ends or something fails. At least one of the two limits must be given. It may
// be called again, and goes on where it ended.
func (r *Run) Do(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if ctx == nil {
		return errors.New("train: the context is nil")
	}
	if r.Epochs == 0 && r.Steps == 0 {
		return errors.New("train: 0 epochs and 0 steps: want at least one of them above 0, and none below")
	}
	stopped := false // by an observer
	r.ask, r.save = true, false
	for {
		if err := r.interrupted(ctx); err != nil { // what is due between the steps is then still due when training goes on
			return err
		}
		done := stopped || r.done()
		if r.between != nil {
			switch end, err := r.between(ctx, done); {
			case errors.Is(err, ErrStop) && !done:
				stopped = true
				continue
			case err != nil && !errors.Is(err, ErrStop):
				return err
			case end:
				done = true
			}
		}
		if done {
			return nil
		}
		err := r.Step(ctx)
		if stopped = errors.Is(err, ErrStop); err != nil && !stopped {
			return err
		}
	}
}

// interrupted returns the error of a context that has ended: of this rank's, or of another's, which
// a step told.
func (r *Run) interrupted(ctx context.Context) error {
	t := r.Trainer
	if !t.several() {
		return ctx.Err()
	}
	if !r.ask {
		return nil
	}
	r.ask = false
	return t.together(ctx, "asking whether to stop", ctx.Err())
}

// Step takes the next step and tells the observers, whose error it returns. A step that has begun
// is finished even if ctx ends. A step that fails changes nothing, and sets the data back to before
// its batch. A loss that is not finite is a [*Diverged].
//
// With several ranks all of them take the step, and none leaves it out because its ctx has ended:
// Do ends after the step in which the others hear of it.
func (r *Run) Step(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if ctx == nil {
		return errors.New("train: the context is nil")
	}
	at := r.Data.Position()
	e, err := r.advance(ctx)
	if err != nil {
		if r.Data.Position() != at {
			if lost := r.Data.Seek(at); lost != nil {
				err = fmt.Errorf("%w; the data do not go back to %v: %w", err, at, lost)
			}
		}
		if errors.As(err, new(*Diverged)) {
			return err // on all ranks
		}
		return r.Trainer.abort(err)
	}
	return r.Trainer.abort(r.tell(e))
}

// tell completes the event and passes it to the observers, up to the first that returns an error.
func (r *Run) tell(e Event) error {
	e.Step, e.Steps, e.Position, e.Epochs = r.step(), r.steps(), r.Data.Position(), r.Epochs
	if r.measured != nil {
		e.Best.Step, e.Best.Score, _ = r.measured.Best()
	}
	for _, o := range r.Observers {
		if err := o.Observe(e); err != nil {
			return err
		}
	}
	return nil
}

// source returns what steps are fed: on several ranks, the rows of this rank's lanes.
func (r *Run) source() data.Source {
	if !r.Trainer.several() {
		return r.Data
	}
	if r.own == nil {
		ranks := r.Trainer.Ranks
		first, end := ranks.Own()
		r.own = data.Share(r.Data, func(rows int) (from, to int) {
			from, _ = ranks.Rows(first, rows)
			_, to = ranks.Rows(end-1, rows)
			return from, to
		})
	}
	return r.own
}

// advance takes one step, and returns its event.
func (r *Run) advance(ctx context.Context) (Event, error) {
	e := Event{Kind: Stepped}
	// A step that has begun is finished, so that data and store stay together.
	if r.under != ctx {
		r.under, r.running = ctx, context.WithoutCancel(ctx)
	}
	t := r.Trainer
	if t.several() {
		ctx = r.running // the other ranks wait for this one
	}
	at := r.Data.Position()
	b, err := r.source().Next(ctx)
	if err != nil {
		return e, err
	}
	s := size{rows: max(b.Of, b.Rows), sizes: b.Sizes, mode: Training}
	p, err := t.program(ctx, s)
	if err != nil {
		return e, err
	}
	if t.several() && !r.begun {
		if err := r.begin(ctx, at, s, p); err != nil {
			return e, err
		}
		r.begun = true
	}
	if t.Ranks != nil {
		if err := t.meanOverRows(ctx, b); err != nil {
			return e, err
		}
	}
	p.fill(b)
	e.Rate = t.Optimiser.rate
	if !r.Rate.IsZero() && p.rate != nil {
		e.Rate = r.Rate.At(r.step(), r.steps())
		if err := r.schedule(p, p.rate, r.Rate); err != nil {
			return e, err
		}
	}
	for path, s := range r.Scheduled {
		n := p.net.graph().Lookup(path)
		if n == nil || n.Role() != graph.RoleInput || n.Rank() != 0 || !n.DType().IsFloat() || s.IsZero() {
			return e, fmt.Errorf("train: the schedule of %q: want the path of a float scalar, and a schedule", path)
		}
		if err := r.schedule(p, n, s); err != nil {
			return e, err
		}
	}
	store := t.Store()
	was := store.Step()
	lanes, _ := p.engine.(*laneEngine) // not by an interface, which would allocate now and then
	if lanes != nil {
		lanes.signal(r.under.Err() != nil, r.due != nil && r.due())
	}
	if err := p.run(r.running, b); err != nil {
		if wild := new(tape.NotFinite); errors.As(err, &wild) {
			return e, newDiverged(r.step(), p, b, wild, err)
		}
		return e, fmt.Errorf("train: %w", err)
	}
	if lanes != nil {
		r.ask, r.save = lanes.signals()
	}
	if store.Step() == was {
		store.Resume(store.Seed(), was+1, 0)
	}
	e.Loss, err = p.engine.Float(p.net.Loss)
	return e, err
}

// schedule feeds a scalar the value of its schedule. A value that is not finite would spoil the
// parameters, and be noticed a step later.
func (r *Run) schedule(p *program, n *graph.Node, s Schedule) error {
	v := s.At(r.step(), r.steps())
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("train: %s gives %v for %s in step %d", s, v, n.Path(), r.step()+1)
	}
	p.set(n, v)
	return nil
}
