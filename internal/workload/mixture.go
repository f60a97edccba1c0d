package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// mixture is how unlikely n points in d dimensions are in a mixture of k Gaussians with full
// covariances, whose inverses have triangular factors Q: packed below the diagonal, logarithms on it,
// as in ADBench (Šrajer et al., 2018). The loss is the mean of −log p without constants.
func mixture(n, d, k int) build {
	return func(b *builder) (*graph.Node, float64) {
		in, dn, kn := graph.Ax("i", n), graph.Ax("d", d), graph.Ax("k", k)
		x := b.input("x", 110, in, dn)
		α, μ := b.param("α", 111, 1, kn), b.param("μ", 112, 1, kn, dn)
		logs, below := b.param("q", 113, 0.5, kn, dn), b.param("l", 114, 0.1, kn, graph.Ax("m", d*(d-1)/2))
		Q := ops.Add(ops.DiagonalMatrix(ops.Exp(logs)), lower(below, dn, 0))
		Q = ops.Rename(Q, 1, "e") // [k e d]

		from := ops.Sub(ops.Expand(x, 1, "k"), μ) // [i k d]
		z := ops.Einsum("k e d, i k d -> i k e", Q, from)
		exponent := ops.Sub(ops.Add(α, ops.Sum(logs, "d")), ops.Scale(ops.Sum(ops.Square(z), "e"), 0.5))
		logp := ops.Sub(ops.LogSumExp(exponent, "k"), ops.LogSumExp(α))
		return ops.Neg(ops.Mean(logp)).As("loss"), 0.01
	}
}
