package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// muon is the optimiser of Jordan et al. (2024), "Muon: An optimizer for hidden layers in neural
// networks": Nesterov's momentum with β = 0.95, whose matrix is replaced by one with nearly the
// same singular vectors and singular values near 1. What is no matrix moves by plain momentum.
func muon(rate float64, options ...train.Option) train.Optimiser {
	const β = 0.95
	return train.Custom("muon", rate, func(o *train.Minimizing, p, g *graph.Node) *graph.Node {
		v := o.State("v", p)
		now := o.Assign(v, ops.Add(ops.Scale(v, β), g))
		by := ops.Add(g, ops.Scale(now, β))
		if p.Rank() == 2 {
			// As Keller Jordan's implementation has it: a tall matrix moves farther.
			by = ops.Scale(orthogonal(by), math.Sqrt(max(1, float64(p.Dim(0))/float64(p.Dim(1)))))
		}
		return ops.Sub(p, ops.Mul(o.Rate(p), by))
	}, options...)
}

// orthogonal returns nearly U·Vᵀ of a matrix U·S·Vᵀ, by five steps of a Newton–Schulz iteration
// whose polynomial takes small singular values quickly to between 0.7 and 1.2.
func orthogonal(m *graph.Node) *graph.Node {
	const a, b, c = 3.4445, -4.7750, 2.0315
	x := unnamed(m)
	wide := x.Dim(0) <= x.Dim(1)
	if !wide {
		x = ops.Transpose(x, 1, 0)
	}
	x = ops.Div(x, ops.Shift(ops.Sqrt(ops.Sum(ops.Square(x))), 1e-7)) // no singular value is above 1
	for range 5 {
		s := ops.MatMul(x, ops.Transpose(x, 1, 0))
		x = ops.Add(ops.Scale(x, a), ops.MatMul(ops.Add(ops.Scale(s, b), ops.Scale(ops.MatMul(s, s), c)), x))
	}
	if !wide {
		x = ops.Transpose(x, 1, 0)
	}
	return ops.ReshapeTo(x, m.Shape())
}

// unnamed returns a matrix without names of axes, which a product with its own transpose would
// have twice.
func unnamed(m *graph.Node) *graph.Node { return ops.Rename(ops.Rename(m, 0, ""), 1, "") }
