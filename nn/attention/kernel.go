package attention

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// AttendKernel is attention by a kernel function instead of the inner product (the notes on
// attention in RNNs). The values of the Gaussian exp(−γ‖q − k‖²), divided by their sum, are a
// softmax:
//
//	α_tu = softmax_u(−γ‖q_t − k_u‖²),  y_t = Σ_u α_tu v_u
//
// for queries q[… t d], keys k[… u d], values v[… u f] and a scalar γ, over the keys where the mask
// is true (nil: all). It returns y[… t f] and α[… t u]. With the centres of clusters as keys and as
// values it returns the expected centre of each point, as [builders.GoofyKMeans] does; with
// observations as keys and targets as values it is kernel regression (Nadaraya, 1964; Watson,
// 1964).
func AttendKernel(q, k, v, γ, mask *graph.Node) (y, α *graph.Node) {
	defer graph.Of(q, k, v, γ).Scope("attend")()
	if q.IsValid() && k.IsValid() && q.Rank() >= 2 && k.Rank() >= 2 {
		k = primed(k, q)
	}
	D := ops.SqDist(q, k).As("D")
	return Pool(ops.Neg(ops.Mul(γ, D)).As("e"), v, mask)
}
