package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Optimiser turns gradients into updates.
type Optimiser struct {
	name string
	rate float64
	// update gives the new value of a parameter, and the updates of whatever
	// states it needs. The current scope is the optimiser's.
	update func(o *run, p, dp *graph.Node) (*graph.Node, graph.Step)
}

// run is one call of Minimize.
type run struct {
	g    *graph.Graph
	rate *graph.Node            // of the loss's element type
	once map[string]*graph.Node // states that the parameters share
	step graph.Step
}

// Minimize adds the gradient of the loss with respect to the parameters and
// their updates. Without parameters it takes all that the loss depends on.
// Mistakes are recorded in the graph. The learning rate is the scalar input
// "NAME/rate" of the optimiser's name ([Optimiser.Rate]).
func (o Optimiser) Minimize(loss *graph.Node, params ...*graph.Node) graph.Step {
	g := graph.Of(append([]*graph.Node{loss}, params...)...)
	if len(params) == 0 && loss.IsValid() {
		for _, n := range graph.Reachable(loss) {
			if n.Role() == graph.RoleParam {
				params = append(params, n)
			}
		}
	}
	var err error
	switch {
	case len(params) == 0:
		err = errors.New("the loss depends on no parameter")
	case o.IsZero():
		err = errors.New("the optimiser is the zero value: want train.SGD or train.Adam")
	case math.IsNaN(o.rate) || math.IsInf(o.rate, 0):
		err = fmt.Errorf("a learning rate of %v: want a finite number", o.rate)
	}
	if err != nil {
		g.Fail("Minimize", err, loss)
		return nil
	}
	grads := grad.Of(loss, params...)
	defer g.Scope(o.name)()
	r := &run{g: g, once: map[string]*graph.Node{}}
	if loss.IsValid() {
		r.rate = g.Scalar("rate", o.rate, loss.DType())
	}
	for i, p := range params {
		if !grads[i].IsValid() {
			continue
		}
		next, states := o.update(r, p, grads[i])
		r.step = append(r.step, g.Assign(p, next))
		r.step = append(r.step, states...)
	}
	return r.step
}

// Rate finds the learning rate of the optimiser in a graph on which Minimize was
// called at the top level; nil if it is not there.
func (o Optimiser) Rate(g *graph.Graph) *graph.Node { return g.Lookup(o.name + "/rate") }

// move is p − rate·by.
func (r *run) move(p, by *graph.Node) *graph.Node {
	return ops.Sub(p, ops.Mul(ops.Cast(r.rate, p.DType()), by))
}

// shared makes a scalar state once for all parameters, with its update.
func (r *run) shared(name string, next func(old *graph.Node) *graph.Node) (now *graph.Node) {
	if n := r.once[name]; n != nil {
		return n
	}
	s := r.g.State(name, r.rate.DType())
	n := next(s)
	r.once[name] = n
	r.step = append(r.step, r.g.Assign(s, n))
	return n
}

// SGD is plain gradient descent: p ← p − rate·∂loss/∂p.
func SGD(rate float64) Optimiser {
	return Optimiser{"sgd", rate, func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		return r.move(p, dp), nil
	}}
}

// Adam follows Kingma & Ba (2015), Algorithm 1, with β₁ = 0.9, β₂ = 0.999,
// ε = 1e-8:
//
//	m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  p ← p − rate·m̂/(√v̂ + ε)
//
// where m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ) in step t. The moments are states
// "adam/m/PATH" and "adam/v/PATH".
func Adam(rate float64) Optimiser {
	const β1, β2, ε = 0.9, 0.999, 1e-8
	return Optimiser{"adam", rate, func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		moment := func(name string, β float64, g *graph.Node) (unbiased *graph.Node, u graph.Update) {
			s := r.g.State(name+"/"+p.Path(), p.DType(), p.Shape().Axes()...)
			now := ops.Add(ops.Scale(s, β), ops.Scale(g, 1-β))
			power := r.shared(name+"-decay", func(old *graph.Node) *graph.Node {
				// old is 1 − βᵗ⁻¹, which starts at 0; 1 − βᵗ = 1 − β + β·old.
				return ops.Shift(ops.Scale(old, β), 1-β)
			})
			return ops.Div(now, ops.Cast(power, p.DType())), r.g.Assign(s, now)
		}
		m, um := moment("m", β1, dp)
		v, uv := moment("v", β2, ops.Square(dp))
		return r.move(p, ops.Div(m, ops.Shift(ops.Sqrt(v), ε))), graph.Step{um, uv}
	}}
}

// IsZero reports whether the optimiser is the zero value, which does nothing.
func (o Optimiser) IsZero() bool { return o.update == nil }

// Name is the optimiser's name: sgd, adam.
func (o Optimiser) Name() string { return o.name }

// String gives adam(0.05).
func (o Optimiser) String() string { return fmt.Sprintf("%s(%.3g)", o.name, o.rate) }
