package main

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// shampoo is the optimiser of Gupta, Koren & Singer (2018), Algorithm 1, with ε = 10⁻⁴: it divides
// the gradient of a matrix by roots of the sums of its products along either axis,
//
//	L ← L + G·Gᵀ,  R ← R + Gᵀ·G,  W ← W − rate·(L + εI)^(−1/4)·G·(R + εI)^(−1/4)
//
// What is no matrix moves as in Adagrad, which is Shampoo of a diagonal.
func shampoo(rate float64, options ...train.Option) train.Optimiser {
	const ε = 1e-4
	return train.Custom("shampoo", rate, func(o *train.Minimizing, p, g *graph.Node) *graph.Node {
		if p.Rank() != 2 {
			s := o.State("sum", p)
			sum := o.Assign(s, ops.Add(s, ops.Square(g)))
			return ops.Sub(p, ops.Mul(o.Rate(p), ops.Div(g, ops.Sqrt(ops.Shift(sum, ε)))))
		}
		x := unnamed(g)
		t := ops.Transpose(x, 1, 0)
		kept := func(kind string, product *graph.Node) *graph.Node {
			s := o.State(kind, p, product.Shape().Axes()...)
			return ops.Add(o.Assign(s, ops.Add(s, product)), ops.Scale(identity(product), ε))
		}
		l, r := kept("l", ops.MatMul(x, t)), kept("r", ops.MatMul(t, x))
		by := ops.MatMul(ops.MatMul(inverseRoot(l), x), inverseRoot(r))
		return ops.Sub(p, ops.Mul(o.Rate(p), ops.ReshapeTo(by, p.Shape())))
	}, options...)
}

// inverseRoot returns A^(−1/4) of a symmetric, positive definite matrix, by 40 steps of the coupled
// Newton iteration (Guo & Higham, 2006; Anil et al., 2020): with z = 1/‖A‖, the norm of Frobenius,
//
//	X₀ = z^(1/4)·I, M₀ = z·A,  T = (5I − M)/4,  X ← X·T,  M ← T⁴·M
//
// X⁴·A = M all the way, and M tends to I. Each step enlarges the smallest eigenvalue of M by up to
// (5/4)⁴, so 40 are enough for a condition of 10¹⁴. Use it in float64: rounding errors of float32 make
// the smallest eigenvalues negative, and the iteration then diverges.
func inverseRoot(a *graph.Node) *graph.Node {
	one := identity(a)
	z := ops.Div(ops.Lit(a, 1), ops.Sqrt(ops.Sum(ops.Square(a))))
	x, m := ops.Mul(ops.Sqrt(ops.Sqrt(z)), one), ops.Mul(z, a)
	for range 40 {
		t := ops.Scale(ops.Sub(ops.Scale(one, 5), m), 0.25)
		t2 := ops.MatMul(t, t)
		x, m = ops.MatMul(x, t), ops.MatMul(ops.MatMul(t2, t2), m)
	}
	return x
}

// identity returns the identity matrix of a square matrix's type.
func identity(a *graph.Node) *graph.Node {
	axis := a.Shape().Axis(0)
	side, _ := graph.NewShape(axis) // an axis of a node is a valid one
	place := ops.Shift(ops.CumSum(ops.BroadcastTo(ops.Lit(a, 1), side), 0), -1)
	return ops.OneHot(ops.Cast(place, graph.I32), 1, axis, a.DType())
}
