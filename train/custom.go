package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Rule returns the next value of a parameter p, as nodes of its graph, from the gradient of the
// loss by p. [Minimizing] has the rate and the states that the rule keeps. The gradient is clipped,
// averaged and has its weight decay, as the options say.
type Rule func(m *Minimizing, p, gradient *graph.Node) (next *graph.Node)

// Custom returns an optimiser by a rule of your own, which is called once for each parameter while
// the graph is built. It works wherever the optimisers of this package do, with all options that
// are not of one optimiser alone. Gradient descent by the sign of the momentum:
//
//	signed := train.Custom("signed", 1e-3, func(m *train.Minimizing, p, gradient *graph.Node) *graph.Node {
//		v := m.State("v", p)
//		now := m.Assign(v, ops.Add(ops.Scale(v, 0.9), gradient))
//		return ops.Sub(p, ops.Mul(m.Rate(p), ops.Sign(now)))
//	})
//
// The name is that of the optimiser's scope, of its inputs and its states: "signed/rate",
// "signed/v/PATH". A training is resumed only by an optimiser of the same name with the same rule.
// An empty name, one with a slash, that of an optimiser of this package, and no rule are mistakes
// that [Optimiser.Minimize] records; so is a rule that returns nil or a value of another type.
func Custom(name string, rate float64, rule Rule, options ...Option) Optimiser {
	o := Optimiser{name: name, rate: rate}
	switch {
	case name == "" || strings.Contains(name, "/"):
		o.err = fmt.Errorf("an optimiser called %q: want a name without slashes", name)
	case slices.Contains(Names(), name):
		o.err = fmt.Errorf("an optimiser of your own called %s: the name is taken by train.Named, choose another", name)
	case rule == nil:
		o.err = fmt.Errorf("%s has no rule: it is nil", name)
	}
	o.update = func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		m := &Minimizing{run: r}
		next := rule(m, p, r.decayed(p, dp))
		switch {
		case next == nil:
			return r.g.Fail(name, fmt.Errorf("its rule returns nil for %v: want the next value", p), p), nil
		case next.IsValid() && (next.DType() != p.DType() || !next.Shape().SameSizes(p.Shape())):
			return r.g.Fail(name, fmt.Errorf("its rule returns %v for %v: want the type of the parameter", next.Type(), p), p), nil
		case r.set.decoupled && r.decays(p):
			next = ops.Sub(next, ops.Mul(ops.Cast(ops.Mul(r.rate, r.decay), p.DType()), p))
		}
		return next, m.states
	}
	return newOptimiser(o, options)
}

// Minimizing is a call of [Optimiser.Minimize], as a [Rule] sees it while it is called for one
// parameter. The graph's current scope is the optimiser's.
type Minimizing struct {
	run    *run
	states graph.Step
}

var errNotMinimizing = errors.New("no call of Minimize: a train.Minimizing is what a rule of train.Custom is given")

// Graph returns the graph of the loss and the parameters.
func (m *Minimizing) Graph() *graph.Graph {
	if m == nil || m.run == nil {
		return graph.New("")
	}
	return m.run.g
}

// Rate returns the learning rate, a scalar of the parameter's element type. Schedules change it
// from step to step.
func (m *Minimizing) Rate(p *graph.Node) *graph.Node {
	if m == nil || m.run == nil || p == nil {
		return graph.Of(p).Fail("Rate", errNotMinimizing)
	}
	return ops.Cast(m.run.rate, p.DType())
}

// State returns a state that is kept for a parameter, "NAME/KIND/PATH", of the parameter's element
// type and zeros at first. It has the given axes, or those of the parameter where there are none.
func (m *Minimizing) State(kind string, p *graph.Node, axes ...graph.Axis) *graph.Node {
	if m == nil || m.run == nil || p == nil {
		return graph.Of(p).Fail("State", errNotMinimizing)
	}
	if len(axes) == 0 {
		axes = p.Shape().Axes()
	}
	return m.run.state(kind, p, axes...)
}

// Assign gives a state its value for the next step, and returns that value. With [Accumulate] only
// a step that updates the parameters does so.
func (m *Minimizing) Assign(state, value *graph.Node) *graph.Node {
	if m == nil || m.run == nil {
		return graph.Of(state, value).Fail("Assign", errNotMinimizing)
	}
	u := m.run.assign(state, value)
	m.states = append(m.states, u)
	return u.Value
}

// Steps returns the number of this update, 1 in the first, as a scalar of the loss's element type.
// All parameters share its state, "NAME/steps".
func (m *Minimizing) Steps() *graph.Node {
	if m == nil || m.run == nil {
		return graph.New("").Fail("Steps", errNotMinimizing)
	}
	return m.run.shared("steps", func(old *graph.Node) *graph.Node { return ops.Shift(old, 1) })
}
