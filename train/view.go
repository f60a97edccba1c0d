package train

import (
	"context"
	"errors"
	"slices"

	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// With returns a trainer of the same model and optimiser on another store, s, which it shares with
// its other users; it shares the compiled programs with t. It has workers of its own, so it must be
// closed, and it may run at the same time as t. If s is nil it makes a store of its own, with fresh
// values from t's seed. It has no Ranks: it works by itself on each rank that uses it.
func (t *Trainer) With(s *tape.Store) *Trainer {
	if s == nil {
		s = tape.NewStore(nil, tape.Seed(t.Seed))
	}
	return &Trainer{Build: t.Build, BuildSizes: t.BuildSizes, Optimiser: t.Optimiser, Seed: s.Seed(), Workers: t.Workers, Engine: t.Engine, LaneLosses: t.LaneLosses, CheckUpdates: t.CheckUpdates, Mixed: t.Mixed, store: s, compiled: t.shared()}
}

// Averages evaluates a trainer's model and predicts with it, with the averages that [EMA] keeps in
// place of the parameters, as they are at each call:
//
//	averages := t.Averages()
//	defer averages.Close()
//	err := t.Fit(ctx, train.Plan{…, Validate: func(ctx context.Context) (metric.Scores, error) {
//		return averages.Evaluate(ctx, data.InOrder(test, 0), metric.Accuracy("y"))
//	}})
//
// The trainer's store stays as it is, except that its count of runs (tape.Store.Runs) rises where
// the model draws random numbers, so that these are drawn anew in every run, with the averages as
// without. Where ranks have shared out the optimiser's states, which averages are, there are none
// of all parameters.
type Averages struct {
	of   *Trainer
	view *Trainer // on a copy of the store; nil before the first call
}

// Averages returns the trainer's averages, to be closed after use.
func (t *Trainer) Averages() *Averages { return &Averages{of: t} }

// Trainer returns a trainer with the averages as they are now, valid until the next call of a
// method of a. It is an error if there are none yet; see [Averaged].
func (a *Averages) Trainer() (*Trainer, error) {
	if a == nil || a.of == nil {
		return nil, errors.New("train: averages of no trainer: Trainer.Averages makes them")
	}
	if a.of.several() && a.of.Ranks.Sharded() {
		return nil, errors.New("train: each rank has the averages of its own part of the parameters alone: load them from a checkpoint, or let no states be shared out")
	}
	from := a.of.Store()
	if err := averaged(from); err != nil {
		return nil, err
	}
	if a.view != nil && !slices.Equal(a.view.store.Paths(), from.Paths()) {
		a.Close() // other programs have added entries to the store
	}
	if a.view == nil {
		s, err := Averaged(from)
		if err != nil {
			return nil, err
		}
		a.view = a.of.With(s)
		a.view.counts, a.view.Ranks = from, a.of.Ranks
		return a.view, nil
	}
	to := a.view.store
	if _, err := to.CopyFrom(from, "", ""); err != nil {
		return nil, err
	}
	to.Resume(from.Seed(), from.Step(), from.Runs())
	return a.view, overlay(to, from)
}

// Evaluate does the same as [Trainer.Evaluate], with the averages.
func (a *Averages) Evaluate(ctx context.Context, source data.Source, metrics ...metric.Metric) (metric.Scores, error) {
	t, err := a.Trainer()
	if err != nil {
		return nil, err
	}
	return t.Evaluate(ctx, source, metrics...)
}

// Predict does the same as [Trainer.Predict], with the averages.
func (a *Averages) Predict(ctx context.Context, source data.Source, f func(b data.Batch, output *tensor.Dense) error) error {
	t, err := a.Trainer()
	if err != nil {
		return err
	}
	return t.Predict(ctx, source, f)
}

// Close closes the programs that a has compiled. It can be used again.
func (a *Averages) Close() {
	if a.view != nil {
		a.view.Close()
		a.view = nil
	}
}
