package train

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// SGD returns plain gradient descent: p ← p − rate·∂loss/∂p.
func SGD(rate float64, options ...Option) Optimiser {
	return newOptimiser(Optimiser{name: "sgd", rate: rate, update: func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		return r.move(p, r.decayed(p, dp)), nil
	}}, options)
}

// Momentum returns gradient descent by a decaying sum of the gradients g (Polyak, 1964), with β in
// [0, 1):
//
//	v ← βv + g,  p ← p − rate·v
//
// The velocity v is a sum rather than an average, as in PyTorch: under a constant gradient it tends
// to g/(1−β). It is the state "momentum/v/PATH".
func Momentum(rate, β float64, options ...Option) Optimiser {
	return withVelocity("momentum", rate, β, options, func(_, v *graph.Node) *graph.Node { return v })
}

// Nesterov returns [Momentum] with a look ahead (Nesterov, 1983), in PyTorch's form: it moves by g
// + βv, the gradient and the step that the velocity is about to take. The velocity is the state
// "nesterov/v/PATH".
//
//	v ← βv + g,  p ← p − rate·(g + βv)
func Nesterov(rate, β float64, options ...Option) Optimiser {
	return withVelocity("nesterov", rate, β, options, func(g, v *graph.Node) *graph.Node { return ops.Add(g, ops.Scale(v, β)) })
}

// withVelocity returns an optimiser that moves by a function of the gradient and the new velocity.
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
