package main

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// lion is the optimiser of Chen et al. (2023), "Symbolic Discovery of Optimization Algorithms",
// Algorithm 2, with β₁ = 0.9 and β₂ = 0.99. It moves every weight by the rate or not at all:
//
//	p ← p − rate·sign(β₁m + (1−β₁)g),  m ← β₂m + (1−β₂)g
//
// Its weight decay is train.DecoupledDecay.
func lion(rate float64, options ...train.Option) train.Optimiser {
	const β1, β2 = 0.9, 0.99
	return train.Custom("lion", rate, func(o *train.Minimizing, p, g *graph.Node) *graph.Node {
		m := o.State("m", p)
		o.Assign(m, ops.Add(ops.Scale(m, β2), ops.Scale(g, 1-β2)))
		by := ops.Sign(ops.Add(ops.Scale(m, β1), ops.Scale(g, 1-β1)))
		return ops.Sub(p, ops.Mul(o.Rate(p), by))
	}, options...)
}
