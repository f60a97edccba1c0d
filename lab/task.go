package lab

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Task is one training, ready to be run step by step. If its steps are run in order, they are those
// of the function that trains the model.
type Task struct {
	Model *builders.Model
	Step  graph.Step  // the updates of a step; none if nothing is trained
	Store *tape.Store // the start values
	// Feed returns the inputs of step 0, 1, …; steps may be asked for in any order.
	Feed func(step int) (tape.Feed, error)

	Optimiser train.Optimiser                // that makes Step
	Steps     int                            // of the whole training, over which schedules go
	Scheduled map[*graph.Node]train.Schedule // what Feed feeds by a schedule; the rate is among it where it is not constant
}

// Task returns the training of a model from a seed. With a Table it trains on the rows, as
// [Config.Train] does a clustering that [Config.Variant] makes, or [Compare] another model; without
// one it trains on examples as [Learn] does. The Step of a model that has nothing to train is
// empty.
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
	if c, err = c.For(m); err != nil {
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
	return Task{Model: m, Step: step, Store: store, Optimiser: c.Optimisers[0], Steps: c.Steps, Scheduled: scheduled, Feed: func(step int) (tape.Feed, error) {
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
