package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// LearnConfig says how a model is trained on examples of its own. Zero values
// stand for the defaults.
type LearnConfig struct {
	Seeds     int             // runs; default 3
	Seed      uint64          // the first
	Steps     int             // default 200
	Optimiser train.Optimiser // default Adam(0.01)
	OneBatch  bool            // the same batch in every step, instead of a fresh one
	Engine    NewEngine       // default: the native tape
	// Examples draws the inputs by path, in place of the model's own examples.
	Examples func(rng *rand.Rand) map[string]graph.Value
	// Progress is called as runs end, from one goroutine.
	Progress func(done, of int, what string)
}

// Learned is a model with its trainings.
type Learned struct {
	Model   *builders.Model
	Program *tape.Program
	Trained []*graph.Node // the parameters that the optimiser changes
	Runs    []Course
	Cost    Cost
}

// Course is one training: the loss of every step, before its update.
type Course struct {
	Seed uint64
	Loss []float64
}

// End is the mean loss of the last tenth of the steps, at least of one: batches
// differ, and the loss of a single one says little.
func (c Course) End() float64 {
	last := c.Loss[len(c.Loss)-max(1, len(c.Loss)/10):]
	sum := 0.0
	for _, v := range last {
		sum += v
	}
	return sum / float64(len(last))
}

// Ends are the runs' losses at the end.
func (l *Learned) Ends() []float64 {
	out := make([]float64, len(l.Runs))
	for i, r := range l.Runs {
		out[i] = r.End()
	}
	return out
}

var errNoModel = errors.New("learn: the function that builds the model is nil")

// Learn trains a model from several seeds. A run is a function of its seed alone:
// the examples of a step depend on seed and step, the initial values on seed and
// path, random draws on seed, step and key. So models that have a path, or a task,
// in common have its numbers in common, and their runs can be compared pairwise.
//
// A loss that is not finite ends the training with an error, which wraps a
// [tape.NotFinite]. A model without a loss, without examples or without anything
// to train is an error, too.
func Learn(ctx context.Context, build func() (*builders.Model, error), c LearnConfig) (*Learned, error) {
	if build == nil {
		return nil, errNoModel
	}
	m, err := build()
	if err != nil {
		return nil, err
	}
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	return c.learn(ctx, m, func(done int) {
		if c.Progress != nil {
			c.Progress(done, c.Seeds, m.Builder.Name)
		}
	})
}

func (c LearnConfig) withDefaults() (LearnConfig, error) {
	if c.Seeds < 0 || c.Steps < 0 {
		return c, errors.New("seeds and steps must not be negative")
	}
	setDefault(&c.Seeds, 3)
	setDefault(&c.Steps, 200)
	if c.Optimiser.IsZero() {
		c.Optimiser = train.Adam(0.01)
	}
	return c, nil
}

// learn trains from every seed and calls tick as runs end.
func (c LearnConfig) learn(ctx context.Context, m *builders.Model, tick func(done int)) (*Learned, error) {
	name := m.Builder.Name
	switch {
	case m.Loss == nil:
		return nil, fmt.Errorf("%s has no loss: there is nothing to train", name)
	case m.Examples == nil && c.Examples == nil:
		return nil, fmt.Errorf("%s has no examples to be trained on", name)
	}
	l := &Learned{Model: m, Trained: Trained(m)}
	step := TrainingStep(m, c.Optimiser)
	if len(step) == 0 {
		return nil, fmt.Errorf("%s has nothing to train: its loss depends on no parameter", name)
	}
	var err error
	if l.Program, err = tape.Compile(m.Graph, tape.Fetch(m.Loss), tape.Do(step), tape.CheckFinite(m.Loss)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for s := range c.Seeds {
		r, err := c.course(ctx, l, step, c.Seed+uint64(s))
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d, step %d: %w", name, r.Seed, len(r.Loss)+1, err)
		}
		l.Runs = append(l.Runs, r)
		tick(s + 1)
	}
	feed, err := c.feed(m, c.Seed, 0)
	if err != nil {
		return nil, err
	}
	if rate := c.Optimiser.Rate(m.Graph); rate != nil {
		feed[rate] = tape.Scalar(rate.DType(), 0) // however often it is timed, a batch alone is no training
	}
	l.Cost, err = costOf(ctx, l.Program, tape.NewStore(m.Graph, tape.Seed(c.Seed)), feed)
	for _, p := range l.Trained {
		l.Cost.Params += p.Shape().Len()
	}
	return l, err
}

// course is one training.
func (c LearnConfig) course(ctx context.Context, l *Learned, step graph.Step, seed uint64) (Course, error) {
	r := Course{Seed: seed}
	store := tape.NewStore(l.Model.Graph, tape.Seed(seed))
	var vm Engine
	if c.Engine == nil {
		vm = l.Program.NewVM(store)
	} else {
		var err error
		if vm, err = c.Engine(l.Model.Graph, l.Model.Loss, step, store); err != nil {
			return r, err
		}
	}
	defer vm.Close()
	var batch tape.Feed
	loop := train.Loop{VM: vm, Steps: c.Steps,
		Feed: func(t int) (feed tape.Feed, err error) {
			if batch == nil || !c.OneBatch {
				batch, err = c.feed(l.Model, seed, t)
			}
			return batch, err
		},
		After: func(int) (bool, error) {
			r.Loss = append(r.Loss, vm.Float(l.Model.Loss))
			return false, nil
		},
	}
	_, err := loop.Run(ctx)
	return r, err
}

// exampleStream tells the generators of examples from others of the same seed.
const exampleStream = 0x6578616d706c6573

// feed draws the examples of a step.
func (c LearnConfig) feed(m *builders.Model, seed uint64, t int) (tape.Feed, error) {
	rng := rand.New(rand.NewPCG(seed, exampleStream+uint64(t)))
	feed := tape.Feed{}
	if c.Examples == nil {
		for n, v := range m.Examples(rng) {
			feed[n] = tape.Tensor(v)
		}
		return feed, nil
	}
	values := c.Examples(rng)
	for _, n := range ownInputs(m) {
		v, ok := values[n.Path()]
		if !ok {
			return nil, fmt.Errorf("%s: the examples have no %s", m.Builder.Name, n.Path())
		}
		feed[n] = tape.Tensor(v)
	}
	return feed, nil
}

// ownInputs are the inputs that examples give values.
func ownInputs(m *builders.Model) []*graph.Node {
	var out []*graph.Node
	for _, n := range m.Graph.Leaves(graph.RoleInput) {
		if _, has := n.Default(); !has {
			out = append(out, n)
		}
	}
	return out
}
