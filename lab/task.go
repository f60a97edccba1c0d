package lab

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Task is one training, ready to be run step by step: by a VM, or by what looks into
// it. Run in order, its steps are those of [ClusterConfig.Train] or [Learn].
type Task struct {
	Model *builders.Model
	Step  graph.Step  // what a step updates; empty where nothing is trained
	Store *tape.Store // what training begins with
	// Feed gives the inputs of step 0, 1, …, in any order.
	Feed func(step int) (tape.Feed, error)
}

// Task is the training of a clustering model from a seed. Once ctx is done it compiles no further.
func (c ClusterConfig) Task(ctx context.Context, name string, seed uint64) (Task, error) {
	c.Objectives = []string{name}
	c, err := c.withDefaults()
	if err != nil {
		return Task{}, err
	}
	t, err := newClusterer(ctx, c, name, c.K)
	if err != nil {
		return Task{}, err
	}
	t.close()
	store, err := t.store(c.start(c.K, seed), seed)
	if err != nil {
		return Task{}, err
	}
	scheduled := map[*graph.Node]train.Schedule{}
	if rate := c.Optimiser.Rate(t.model.Graph); rate != nil {
		scheduled[rate] = falls(t.model.Graph, c.Optimiser, c.Rate, c.Steps)
	}
	if γ := t.model.Temperature(); γ != nil {
		scheduled[γ] = c.Gamma
	}
	rows := t.x.step(seed)
	return Task{Model: t.model, Step: t.step, Store: store, Feed: func(step int) (tape.Feed, error) {
		feed, err := rows(step)
		for n, s := range scheduled {
			feed[n] = tape.Scalar(n.DType(), s.At(min(step, c.Steps-1), c.Steps))
		}
		return feed, err
	}}, nil
}

// Task is the training of a model from a seed on examples. A model that has nothing
// to train is only fed.
func (c LearnConfig) Task(m *builders.Model, seed uint64) (Task, error) {
	if m == nil {
		return Task{}, errNilModel
	}
	c, err := c.withDefaults()
	if err != nil {
		return Task{}, err
	}
	if m.Examples == nil && c.Examples == nil {
		return Task{}, fmt.Errorf("%s has no examples to be run on", m.Builder.Name)
	}
	if err := m.Room(); err != nil {
		return Task{}, err
	}
	step := TrainingStep(m, c.Optimiser)
	feed := func(step int) (tape.Feed, error) {
		if c.OneBatch {
			step = 0
		}
		return c.feed(m, seed, step)
	}
	store := tape.NewStore(m.Graph, tape.Seed(seed))
	if err := startAtRows(store, m, seed, exampleFeeder{c, m}.begin(seed)); err != nil {
		return Task{}, err
	}
	return Task{Model: m, Step: step, Store: store, Feed: feed}, nil
}
