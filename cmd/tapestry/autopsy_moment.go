package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// moment has the flags that say which step of which training to look at.
type moment struct {
	model modelOptions
	step  int
	opt   string
	rate  float64
}

func (m *moment) flags(cmd *cobra.Command) {
	m.model.flags(cmd)
	m.model.dataFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&m.step, "step", 0, "training step to look at; the model is trained up to it")
	f.StringVar(&m.opt, "optimiser", "adam", strings.Join(train.Names(), ", "))
	f.Float64Var(&m.rate, "rate", ownRate, "learning rate")
}

// snapshot is a training step that has not been taken yet.
type snapshot struct {
	model *builders.Model
	roots []*graph.Node // the loss or output, and the new values of parameters and states
	feed  tape.Feed
	store *tape.Store
}

// errReached ends a training at the step to look at.
var errReached = errors.New("the step is reached")

// run trains up to the step.
func (m *moment) run(ctx context.Context, o *options, name string) (*snapshot, error) {
	if m.step < 0 {
		return nil, usagef("--step %d: want 0 or more", m.step)
	}
	opt, err := optimiser(m.opt, m.rate)
	if err != nil {
		return nil, err
	}
	m.model.seed = o.seed
	model, err := m.model.runnable(name, false)
	if err != nil {
		return nil, err
	}
	s := &snapshot{model: model}
	if model.Loss == nil || model.Examples == nil || len(lab.Trained(model)) == 0 {
		if m.step > 0 {
			return nil, usagef("--step: %s is not trained, so there is no step but the first", name)
		}
		return s, s.fresh(o.seed)
	}
	c := lab.Config{Seeds: 1, Seed: o.seed, Steps: m.step + 1, Optimisers: []train.Optimiser{opt}}
	c.Engine = func(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
		p, err := tape.CompileContext(ctx, g, tape.Fetch(loss), tape.Do(step))
		if err != nil {
			return nil, err
		}
		s.store = store
		s.roots = stepRoots(loss, step)
		vm, err := p.NewVM(store)
		if err != nil {
			return nil, err
		}
		return &stopping{vm, s, m.step}, nil
	}
	_, err = lab.Learn(ctx, func() (*builders.Model, error) { return model, nil }, c)
	if err != nil && !errors.Is(err, errReached) {
		return nil, err
	}
	return s, nil
}

// stepRoots returns the loss and the new values that a step assigns.
func stepRoots(loss *graph.Node, step graph.Step) []*graph.Node {
	roots := []*graph.Node{loss}
	for _, u := range step {
		roots = append(roots, u.Value)
	}
	return roots
}

// fresh prepares the first run of a model that is not trained.
func (s *snapshot) fresh(seed uint64) error {
	s.store, s.feed = tape.NewStore(s.model.Graph, tape.Seed(seed)), tape.Feed{}
	if s.model.Examples != nil {
		examples, err := s.model.Draw(rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			return err
		}
		s.feed = tape.Tensors(examples)
	}
	s.roots = stepRoots(s.model.Result(), s.model.Step)
	if s.model.Loss != nil {
		s.roots = append(s.roots, grad.Of(s.model.Loss, lab.Wrt(s.model)...)...)
	}
	return s.model.Graph.Err()
}

// stopping trains until a step and keeps the feed of that step.
type stopping struct {
	*tape.VM
	s  *snapshot
	at int
}

func (e *stopping) Run(ctx context.Context, feed tape.Feed) error {
	if e.s.store.Step() == uint64(e.at) {
		e.s.feed = feed
		return errReached
	}
	return e.VM.Run(ctx, feed)
}

// autopsy looks at the step as written.
func (s *snapshot) autopsy(ctx context.Context) (*inspect.Finding, error) {
	return inspect.Autopsy(ctx, s.feed, s.store, s.roots...)
}

// withGradient returns the loss with its derivatives, or all results of a model without a loss.
func (s *snapshot) withGradient() []*graph.Node {
	if s.model.Loss == nil {
		return s.roots
	}
	return append([]*graph.Node{s.model.Loss}, grad.Of(s.model.Loss, lab.Wrt(s.model)...)...)
}

// drawn returns the nodes to draw so that n is visible: the loss, its derivatives if n is
// computed after it, and the updates only if n is computed after these.
func (s *snapshot) drawn(n *graph.Node) []*graph.Node {
	for _, roots := range [][]*graph.Node{s.roots[:1], s.withGradient()} {
		for _, root := range roots {
			if root.DependsOn(n) {
				return roots
			}
		}
	}
	return s.roots
}
