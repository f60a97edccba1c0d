package lab

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Task is one training, ready to be run step by step: by a VM, or by what looks into
// it. Run in order, its steps are those of [Config.Train] or [Learn].
type Task struct {
	Model *builders.Model
	Step  graph.Step  // what a step updates; empty where nothing is trained
	Store *tape.Store // what training begins with
	// Feed gives the inputs of step 0, 1, …, in any order.
	Feed func(step int) (tape.Feed, error)
}

// Task is the training of a clustering model from a seed. Once ctx is done it compiles no further.
func (c Config) Task(ctx context.Context, name string, seed uint64) (Task, error) {
	c.Objectives = []string{name}
	c, err := c.withDefaults()
	if err != nil {
		return Task{}, err
	}
	t, err := newTrainer(ctx, c, name, c.K)
	if err != nil {
		return Task{}, err
	}
	t.close()
	store, err := t.store(c.start(c.K, seed), seed)
	if err != nil {
		return Task{}, err
	}
	k, rows := t.model.KMeans, c.Table.Rows()
	size := k.Points.Dim(0)
	rates := falls(t.model.Graph, c.Optimiser, c.Rate, c.Steps)
	feed := func(step int) (tape.Feed, error) {
		feed := tape.Feed{k.Points: t.x}
		for n, s := range rates {
			feed[n] = tape.Scalar(n.DType(), s.At(min(step, c.Steps-1), c.Steps))
		}
		if size < rows {
			feed[k.Points] = newBatches(rows, len(c.Table.Columns), size, seed).at(step, t.x)
		}
		if k.Gamma != nil {
			feed[k.Gamma] = tape.Scalar(k.Gamma.DType(), c.Gamma.At(min(step, c.Steps-1), c.Steps))
		}
		return feed, nil
	}
	return Task{Model: t.model, Step: t.step, Store: store, Feed: feed}, nil
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
	return Task{Model: m, Step: step, Store: tape.NewStore(m.Graph, tape.Seed(seed)), Feed: feed}, nil
}
