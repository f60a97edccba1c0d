package lab

import (
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

// Task returns the training of a model from a seed: on the rows of the Table as [Config.Train] does
// it, or without one on examples as [Learn] does. [Config.Variant] makes clusterings of the size of
// the Table. A model that has nothing to train is only fed.
func (c Config) Task(m *builders.Model, seed uint64) (Task, error) {
	if m == nil || m.Graph == nil {
		return Task{}, errNilModel
	}
	name, names, models := m.Builder.Name, []string{m.Builder.Name}, []*builders.Model{m}
	function := "Cluster"
	if c.Table == nil {
		function = "Learn"
		if m.Examples == nil && c.Examples == nil {
			return Task{}, fmt.Errorf("%s has no examples to be run on", name)
		}
	}
	err := c.check(function)
	if err == nil {
		err = c.checkScheduled(function, m)
	}
	if err != nil {
		return Task{}, err
	}
	if c, err = c.forModels(names, models); err != nil {
		return Task{}, err
	}
	feeders, _, err := c.feeders(names, models, 1)
	if err != nil {
		return Task{}, err
	}
	step := TrainingStep(m, c.Optimisers[0])
	store, err := c.Starts[0].store(m, seed, feeders[0].begin(seed))
	if err != nil {
		return Task{}, err
	}
	scheduled := c.ScheduledOf(m)
	if rate := c.rate(m.Graph, c.Optimisers[0], c.Steps); !rate.IsZero() {
		scheduled[c.Optimisers[0].Rate(m.Graph)] = rate
	}
	batch := feeders[0].step(seed)
	return Task{Model: m, Step: step, Store: store, Feed: func(step int) (tape.Feed, error) {
		feed, err := batch(step)
		if err != nil {
			return nil, err
		}
		for n, s := range scheduled {
			feed[n] = tape.Scalar(n.DType(), s.At(min(step, c.Steps-1), c.Steps))
		}
		return feed, nil
	}}, nil
}
