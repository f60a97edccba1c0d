package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// logreg is logistic regression of 0 or 1 on n rows of d features, with a penalty on the squares of
// the weights. A step reads its rows twice, and little else.
func logreg(n, d int) build {
	return func(b *builder) (*graph.Node, float64) {
		i, f := graph.Ax("i", n), graph.Ax("f", d)
		x, y := b.input("x", 120, i, f), ops.Cast(b.labels("label", 121, 2, i), b.dt)
		w, bias := b.param("w", 122, 0.1, f), b.zeros("b")
		z := ops.Add(ops.Einsum("i f, f -> i", x, w), bias)
		fit := ops.Mean(ops.Sub(ops.Softplus(z), ops.Mul(y, z)))
		return ops.Add(fit, ops.Scale(ops.Sum(ops.Square(w)), 0.005)).As("loss"), 0.5
	}
}
