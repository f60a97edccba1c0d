package train

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// SGD is plain gradient descent: p ← p − rate·∂loss/∂p.
func SGD(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "sgd", rate: rate, update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		return r.move(p, r.decayed(p, dp)), nil
	}}, options)
}

// Momentum low-passes the gradient g before it moves by it (Polyak, 1964; the
// notes on momentum):
//
//	v ← βv + g,  p ← p − rate·v
//
// The velocity is not an average but a sum, as PyTorch has it: a constant gradient
// ends up 1/(1−β) times as large. It is the state "momentum/v/PATH".
func Momentum(rate, β float64, options ...Option) Optimiser {
	return withVelocity("momentum", rate, β, options, func(_, v *graph.Node) *graph.Node { return v })
}

// Nesterov is [Momentum] with a look ahead: it moves by g + βv, where the velocity
// is about to take the parameter (Nesterov, 1983, in PyTorch's form; the notes on
// momentum). The velocity is the state "nesterov/v/PATH".
func Nesterov(rate, β float64, options ...Option) Optimiser {
	return withVelocity("nesterov", rate, β, options, func(g, v *graph.Node) *graph.Node { return ops.Add(g, ops.Scale(v, β)) })
}

// withVelocity moves by what is made of the gradient and the new velocity.
func withVelocity(name string, rate, β float64, options []Option, by func(g, v *graph.Node) *graph.Node) Optimiser {
	o := Optimiser{name: name, rate: rate, err: fraction("momentum", β), text: []string{fmt.Sprintf("%.3g", β)}}
	o.update = func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		g := r.decayed(p, dp)
		s := r.state("v", p)
		v := r.assign(s, ops.Add(ops.Scale(s, β), g))
		return r.move(p, by(g, v.Value)), graph.Step{v}
	}
	return newOptimiser(o, options)
}
