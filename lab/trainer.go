package lab

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// trainer trains one model by one optimiser from any number of stores with one program. Several
// goroutines may train at a time.
type trainer struct {
	*train.Trainer
	name    string
	model   *builders.Model
	trained []*graph.Node // the parameters that the optimiser changes
	step    graph.Step
	rest    *Settling
	whole   *tape.Program // of a step on a whole batch, where steps run in lanes
}

// ways say how a trainer runs its steps.
type ways struct {
	build  train.Build     // nets for evaluation and for other numbers of rows, with ranks for all lanes; nil makes none
	engine train.NewEngine // nil for the tape
	ranks  *parallel.Ranks // nil for steps without lanes
	checks bool            // updates are checked
	mixed  bool            // as [train.Trainer.Mixed]
}

// newTrainer returns a trainer that calls the model by name in its errors.
func newTrainer(ctx context.Context, name string, m *builders.Model, o train.Optimiser, w ways) (*trainer, error) {
	if m.Loss == nil {
		return nil, fmt.Errorf("%s has %w", name, ErrNoLoss)
	}
	t := &trainer{name: name, model: m, trained: Trained(m), step: TrainingStep(m, o)}
	if len(t.step) == 0 && m.Graph.Err() == nil {
		return nil, fmt.Errorf("%s has nothing to train: its loss depends on no parameter", name)
	}
	if w.ranks != nil {
		if err := inLanes(m, w.build, w.engine, w.ranks); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	net := &train.Net{Loss: m.Loss, Step: t.step, Params: []*graph.Node{}}
	t.Trainer = &train.Trainer{Optimiser: o, Engine: w.engine, Ranks: w.ranks, CheckUpdates: w.checks, Mixed: w.mixed, Build: func(rows int, mode train.Mode) *train.Net {
		if w.ranks != nil {
			return w.build(rows, mode)
		}
		if w.build == nil || mode == train.Training && rows == RowsOf(m) {
			return net
		}
		return w.build(rows, mode)
	}}
	p, err := t.program(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if w.mixed && p.Mixed() == 0 {
		return nil, fmt.Errorf("%s: Mixed: %w", name, tape.ErrNotMixed)
	}
	if t.rest, err = NewSettling(ctx, m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// program returns the program of a training step on the tape, for a whole batch.
func (t *trainer) program(ctx context.Context) (*tape.Program, error) {
	if t.Ranks == nil {
		return t.Program(ctx, RowsOf(t.model), train.Training)
	}
	if t.whole == nil {
		options := []tape.Option{tape.Fetch(t.model.Loss), tape.Do(t.step), tape.CheckFinite(t.model.Loss)}
		if t.Mixed {
			options = append(options, tape.Mixed())
		}
		p, err := tape.CompileContext(ctx, t.model.Graph, options...)
		if err != nil {
			return nil, err
		}
		t.whole = p
	}
	return t.whole, nil
}

// RowsOf returns the number of rows that a model takes: the size of the first axis of its output,
// or 1 if it has no output or that has no axes.
func RowsOf(m *builders.Model) int {
	if m == nil || m.Output == nil || m.Output.Rank() == 0 {
		return 1
	}
	return m.Output.Dim(0)
}

// course is one training of a trainer.
type course struct {
	seed      uint64
	store     *tape.Store // with the start values
	steps     int
	source    data.Source
	rate      train.Schedule // the zero value keeps the rate of the optimiser
	scheduled map[string]train.Schedule
	size      float64 // that Convergence is relative to; 0 for the norm of the parameters
	settled   Feeds   // on which the gradient at the end is taken
	workers   int
	observers []train.Observer // called after the losses are noted
	plan      func(t *train.Trainer, p *train.Plan) error
	goesOn    bool // others train on: the cause of a loss that is not finite is not looked for
}

// run trains and returns the losses and how nearly the training came to rest. The engine is closed
// before the gradient at the end is taken, which may need its memory.
func (t *trainer) run(ctx context.Context, c course) (History, error) {
	h := History{Seed: c.seed, Rest: unsettled}
	for _, s := range c.scheduled {
		h.Rest.Changing = h.Rest.Changing || changes(s, c.steps)
	}
	one := t.With(c.store)
	one.Workers, one.Ranks = c.workers, t.Ranks
	defer one.Close()
	if _, err := one.Prepare(ctx, RowsOf(t.model)); err != nil {
		return h, err
	}
	rec, err := t.rest.Record(c.store, c.steps, c.size)
	if err != nil {
		return h, err
	}
	plan := train.Plan{Data: c.source, Steps: c.steps, Rate: c.rate, Scheduled: c.scheduled, Observers: append([]train.Observer{rec}, c.observers...)}
	if c.plan != nil {
		if err := c.plan(one, &plan); err != nil {
			return h, err
		}
	}
	if c.goesOn {
		run := train.Run{Trainer: one, Data: plan.Data, Steps: plan.Steps, Rate: plan.Rate, Scheduled: plan.Scheduled, Observers: plan.Observers}
		err = run.Do(ctx)
	} else {
		err = one.Fit(ctx, plan)
	}
	one.Close()
	if h.Loss = rec.Loss; err != nil || len(h.Loss) == 0 {
		return h, err
	}
	rest, err := rec.Rest(ctx, c.seed, c.settled)
	rest.Changing = h.Rest.Changing
	h.Rest = rest
	return h, err
}

// stepped returns an observer that calls f after each step, or nil if f is nil.
func stepped(f func(done, of int, what string), what string) []train.Observer {
	if f == nil {
		return nil
	}
	return []train.Observer{train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped {
			f(e.Step, e.Steps, what)
		}
		return nil
	})}
}

// cost measures a training step on the first batch of a source.
func (t *trainer) cost(ctx context.Context, seed uint64, from data.Source) (Cost, error) {
	prog, err := t.program(ctx)
	if err != nil {
		return Cost{}, err
	}
	b, err := from.Next(ctx)
	if err != nil {
		return Cost{}, err
	}
	feed := tape.Feed{}
	for path, v := range b.Values {
		feed[t.model.Graph.Lookup(path)] = v
	}
	if rate := t.Optimiser.Rate(t.model.Graph); rate != nil {
		feed[rate] = tape.Scalar(rate.DType(), 0) // timing many steps on one batch is to train nothing
	}
	c, err := costOf(ctx, prog, tape.NewStore(t.model.Graph, tape.Seed(seed)), feed)
	c.Params = t.params()
	return c, err
}

// params returns the number of scalars that the optimiser changes.
func (t *trainer) params() int {
	n := 0
	for _, p := range t.trained {
		n += p.Shape().Len()
	}
	return n
}
