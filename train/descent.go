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

// SmoothedMomentum returns gradient descent by the exponential moving average of the gradients g, a
// low-pass filter with one state (the notes on momentum, exponential smoothing), with β in [0, 1):
//
//	v ← βv + (1−β)g,  p ← p − rate·v
//
// Under a constant gradient v tends to g, where that of [Momentum], a sum, tends to g/(1−β):
// SmoothedMomentum(rate, β) is Momentum(rate·(1−β), β). v starts at 0, so the first moves are
// short. PyTorch's SGD with momentum β and dampening β has the same recurrence, but starts v at the
// first gradient. The average is the state "smoothed-momentum/v/PATH".
func SmoothedMomentum(rate, β float64, options ...Option) Optimiser {
	o := Optimiser{name: "smoothed-momentum", rate: rate, err: fraction("momentum", β), text: []string{fmt.Sprintf("%.3g", β)}}
	o.update = func(r *run, p, dp *graph.Node) (*graph.Node, graph.Step) {
		v, u := r.smooth("v", β, p, r.decayed(p, dp))
		return r.move(p, v), graph.Step{u}
	}
	return newOptimiser(o, options)
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
