package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SquaredError returns the mean over all elements of (y − target)².
func SquaredError(y, target *graph.Node) *graph.Node {
	defer graph.Of(y, target).Scope("squared error")()
	return ops.Mean(ops.Square(ops.Sub(y, target)))
}

// Huber returns the mean over all elements of a squared error that grows only linearly
// beyond a distance δ (Huber, 1964), so that single outliers do not rule:
//
//	r = y − target,  c = r clipped to ±δ,  loss = mean c·(r − c/2)
//
// which is r²/2 within δ and δ·(|r| − δ/2) outside. δ is a scalar, as PyTorch's delta.
func Huber(y, target, δ *graph.Node) *graph.Node {
	defer graph.Of(y, target, δ).Scope("huber")()
	r := ops.Sub(y, target).As("r")
	c := ops.Clip(r, ops.Neg(δ), δ).As("c")
	return ops.Mean(ops.Mul(c, ops.Sub(r, ops.Scale(c, 0.5))))
}

// BinaryCrossEntropy returns the mean over all elements of the cross-entropy between
// y, 0 or 1 or a probability between, and σ(z), from the scores z themselves:
//
//	loss = mean p·y·softplus(−z) + (1 − y)·softplus(z)
//
// It is finite and exact for any z; the logarithm of σ(z) is not. The weight p
// of positive examples has a shape that fits z (PyTorch's pos_weight); nil is 1. What is surely
// a probability in the place of z, or the logarithm of one, is a mistake: a sigmoid or a softmax,
// or what is made of them and stays between 0 and 1, as 1 − σ(z) or one that is clipped, joined or
// dropped out.
func BinaryCrossEntropy(z, y, p *graph.Node) *graph.Node {
	if z.IsValid() {
		if err := scoresOf(z, false); err != nil {
			return z.Graph().Fail("BinaryCrossEntropy", err, z, y)
		}
	}
	defer graph.Of(z, y, p).Scope("binary cross-entropy")()
	positive := ops.Mul(y, ops.Softplus(ops.Neg(z)))
	if p != nil {
		positive = ops.Mul(positive, p)
	}
	return ops.Mean(ops.Add(positive, ops.Mul(ops.OneMinus(y), ops.Softplus(z))))
}

// KLDivergence returns the Kullback–Leibler divergence of q from p, both given by their
// logarithms along the last axis, averaged over the others:
//
//	D(p‖q) = Σ_c p_c (log p_c − log q_c)
//
// A class that p gives no probability (log p = −∞) contributes 0. What is surely a probability
// in the place of a logarithm is a mistake.
func KLDivergence(logP, logQ *graph.Node) *graph.Node {
	g := graph.Of(logP, logQ)
	if !logP.IsValid() || !logQ.IsValid() {
		return g.Fail("KLDivergence", build.ErrNoOperand, logP, logQ)
	}
	if err := logarithmsOf(logP, logQ); err != nil {
		return g.Fail("KLDivergence", err, logP, logQ)
	}
	defer g.Scope("KL divergence")()
	p := ops.Exp(logP).As("p")
	none := ops.Equal(p, ops.Lit(p, 0))
	// −∞ times 0 is NaN, also in the derivative: the mask stands before the product.
	zero := ops.Lit(p, 0)
	d := ops.Sub(ops.Select(none, zero, logP), ops.Select(none, zero, logQ))
	return ops.Mean(ops.Sum(ops.Mul(p, d), -1))
}
