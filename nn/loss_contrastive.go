package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// shortestLength is the least length that a vector is divided by.
const shortestLength = 1e-8

// CosineSimilarity returns the cosine […] of the angle between floats a[… d] and b[… d], as vectors
// along the last axis: a·b / (‖a‖·‖b‖). Lengths below 10⁻⁸ count as 10⁻⁸, so that the cosine with 0
// is 0.
func CosineSimilarity(a, b *graph.Node) *graph.Node {
	defer graph.Of(a, b).Scope("cosine")()
	return ops.Sum(ops.Mul(unitLength(a), unitLength(b)), -1).As("cos")
}

// unitLength returns x of length 1 along the last axis.
func unitLength(x *graph.Node) *graph.Node {
	n := ops.Norm(x, -1, ops.Keep)
	return ops.Div(x, ops.Maximum(n, ops.Lit(n, shortestLength)))
}

// CosineLoss returns the mean of 1 − cos(a, b), a scalar, for floats a[… d] and b[… d]: it is 0
// where each vector of a has the direction of that of b.
func CosineLoss(a, b *graph.Node) *graph.Node {
	defer graph.Of(a, b).Scope("cosine loss")()
	return ops.Mean(ops.OneMinus(CosineSimilarity(a, b)))
}

// CosineEmbedding returns the mean over pairs of
//
//	1 − cos(a, b) where same is true,  max(cos(a, b) − margin, 0) elsewhere
//
// a scalar, for floats a[… d] and b[… d], a mask same[…], and a scalar margin: it brings equal
// pairs together, and separates others until their cosine is below the margin (PyTorch's
// CosineEmbeddingLoss).
func CosineEmbedding(a, b, same, margin *graph.Node) *graph.Node {
	defer graph.Of(a, b, same, margin).Scope("cosine embedding")()
	cos := CosineSimilarity(a, b)
	return ops.Mean(ops.Select(same, ops.OneMinus(cos), ops.ReLU(ops.Sub(cos, margin))))
}

// InfoNCE returns a contrastive loss, in which each query q[i d] has to find its own key k[i d]
// among all keys of the batch (van den Oord, Li & Vinyals, 2018):
//
//	s_ij = cos(q_i, k_j)/τ,  loss = mean_i −log softmax_j(s_ij) at j = i
//
// q and k are floats of rank 2 with as many rows, anything else is a mistake; the temperature τ is
// a scalar.
func InfoNCE(q, k, τ *graph.Node) *graph.Node {
	g := graph.Of(q, k, τ)
	if !q.IsValid() || !k.IsValid() {
		return g.Fail("InfoNCE", build.ErrNoOperand, q, k)
	}
	if q.Rank() != 2 || k.Rank() != 2 || q.Dim(0) != k.Dim(0) {
		return g.Fail("InfoNCE", &graph.Mistake{Problem: "want as many keys k[i d] as queries q[i d]", Fix: "merge the axes before the last with ops.Merge"}, q, k)
	}
	defer g.Scope("InfoNCE")()
	i := q.Shape().Axis(0)
	keys := ops.Rename(unitLength(k), 0, partnerName(q))
	s := ops.Div(ops.MatMul(unitLength(q), ops.Transpose(keys)), τ).As("s")
	return CrossEntropy(s, build.Places(g, graph.I64, i))
}

// partnerName returns a name for the first axis of a partner of x[i d] that is neither i nor d.
func partnerName(x *graph.Node) string {
	name := x.Shape().Axis(0).Name
	if name == "" {
		return ""
	}
	for name += "′"; x.Shape().Index(name) >= 0; {
		name += "′"
	}
	return name
}
