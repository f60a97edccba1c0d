package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Learned is the outcome of [Learn]: a model with its trainings.
type Learned struct {
	Model   *builders.Model
	Program *tape.Program // of a training step
	Trained []*graph.Node // the parameters that the optimiser changes
	Params  int           // number of scalars in these
	Runs    []History     // one for each seed
}

// History is one training.
type History struct {
	Seed uint64
	Loss []float64   // of each step, before its update
	Rest Convergence // how nearly the training came to rest
}

// End returns the mean loss of the last tenth of the steps, at least of one. The loss of a single
// batch says little, because batches differ. End is NaN for a training without steps.
func (h History) End() float64 {
	if len(h.Loss) == 0 {
		return math.NaN()
	}
	last := h.Loss[len(h.Loss)-max(1, len(h.Loss)/10):]
	sum := 0.0
	for _, v := range last {
		sum += v
	}
	return sum / float64(len(last))
}

// Moving returns the number of runs that have not converged.
func (l *Learned) Moving() int {
	n := 0
	for _, r := range l.Runs {
		if !r.Rest.Converged() {
			n++
		}
	}
	return n
}

// Ends returns the loss at the end of each run; see [History.End].
func (l *Learned) Ends() []float64 {
	out := make([]float64, len(l.Runs))
	for i, r := range l.Runs {
		out[i] = r.End()
	}
	return out
}

// Learn trains a model from several seeds, on its data or on examples. A run depends on its seed
// alone: the examples of a step depend on the seed and the step, initial values on the seed and the
// path, random draws on the seed, the step and the key. Models that share a path or a task
// therefore share its numbers, and their runs can be compared in pairs.
//
// A loss that is not finite ends training with an error that wraps a [tape.NotFinite]. A model
// without a loss, without examples or without anything to train is an error, too.
func Learn(ctx context.Context, build func() (*builders.Model, error), c Config) (*Learned, error) {
	if build == nil {
		return nil, fmt.Errorf("learn: %w", errNoModel)
	}
	m, err := build()
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("learn: %w", errNoneMade)
	}
	if c, err = c.forLearn(m); err != nil {
		return nil, err
	}
	name := m.Builder.Name
	if m.Loss != nil && m.Examples == nil && c.Examples == nil {
		return nil, fmt.Errorf("%s has no examples to be trained on", name)
	}
	if err := errors.Join(m.Room(), c.checkScheduled("Learn", m)); err != nil {
		return nil, err
	}
	t, err := newTrainer(ctx, name, m, c.Optimisers[0], ways{c.Build, c.Engine, c.Ranks, c.CheckUpdates, c.Mixed})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	l := &Learned{Model: m, Trained: t.trained, Params: t.params()}
	if l.Program, err = t.program(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for s := range c.Seeds {
		seed := c.Seed + uint64(s)
		from := exampleFeeder{c: c, m: m}
		store := tape.NewStore(m.Graph, tape.Seed(seed))
		if err := startAtRows(store, m, seed, from.begin(seed)); err != nil {
			return nil, err
		}
		r, err := t.run(ctx, course{
			seed: seed, store: store, steps: c.Steps,
			source: from.source(seed), settled: from.settled(seed).with(c.lastOf(m)),
			rate: c.rate(m.Graph, c.Optimisers[0], c.Steps), scheduled: c.scheduled(m),
			observers: stepped(c.Stepped, name), plan: c.Plan,
		})
		if err != nil {
			return nil, located(name, r, err)
		}
		l.Runs = append(l.Runs, r)
		if c.Progress != nil {
			c.Progress(s+1, c.Seeds, name)
		}
	}
	return l, nil
}

// forLearn checks the configuration of [Learn] and fills in its defaults.
func (c Config) forLearn(m *builders.Model) (Config, error) {
	if err := c.check("Learn"); err != nil {
		return c, err
	}
	setDefault(&c.Seeds, 3)
	setDefault(&c.Steps, OwnSteps)
	c, err := c.For(m)
	if len(c.Optimisers) == 0 {
		c.Optimisers = []train.Optimiser{train.Adam(0.01)}
	}
	return c, err
}

// located adds the training and the step at which an error happened.
func located(name string, r History, err error) error {
	switch {
	case errors.As(err, new(*train.Diverged)):
		return fmt.Errorf("%s, seed %d: %w", name, r.Seed, err)
	case len(r.Loss) == 0: // what hinders the first step does so for any seed
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s, seed %d, step %d: %w", name, r.Seed, len(r.Loss)+1, err)
}

// ErrNoLoss is the error of training a model without a loss.
var ErrNoLoss = errors.New("no loss: there is nothing to train")

// exampleStream sets the generators of examples apart from others of the same seed.
const exampleStream = 0x6578616d706c6573

// examplesRand returns the generator of the examples of a step.
func examplesRand(seed uint64, t int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, exampleStream+uint64(t)))
}

// Examples returns what a model is fed in step t of a training from a seed, as [Learn] feeds it: a
// batch of its data or examples of its own (see [builders.Model.Draw]). The feed is empty for a
// model without Examples.
func Examples(m *builders.Model, seed uint64, t int) (tape.Feed, error) {
	if m == nil || m.Examples == nil {
		return tape.Feed{}, nil
	}
	values, err := batch(m, seed, t)
	if err != nil {
		return nil, err
	}
	return tensors(values), nil
}

// batch returns the feed of step t.
func batch(m *builders.Model, seed uint64, t int) (graph.Values, error) {
	if m.Rows != nil {
		return m.Rows.Batch(seed, t)
	}
	return m.Draw(examplesRand(seed, t))
}

// tensors returns values as tensors. It empties the map of values, so that each can be freed as
// soon as its tensor is made.
func tensors(values graph.Values) tape.Feed {
	feed := tape.Feed{}
	for n, v := range values {
		feed[n] = tape.Tensor(v)
		delete(values, n)
	}
	return feed
}
