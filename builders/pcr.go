package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Components centres observations x[i d] and projects them onto directions v[d k]:
//
//	z = (x − mean_i x)·v
//
// It returns the centred observations [i d] and the projections z[i k].
func Components(x, v *graph.Node) (centred, z *graph.Node) {
	centred = ops.Sub(x, ops.Mean(x, 0, ops.Keep)).As("x̃")
	return centred, ops.MatMul(centred, v).As("z")
}

// SubspaceStep moves orthonormal directions v[d k] towards the first k principal components of
// centred observations x[i d], given their projections z = x·v: one round of orthogonal iteration,
// which returns the new directions
//
//	v ← orthonormalise(xᵀ·z)
//
// Column j converges to component j, by the ratio of their variances in each round.
func SubspaceStep(x, z *graph.Node) *graph.Node {
	g := graph.Of(x, z)
	defer g.Scope("orthogonal iteration")()
	u := ops.MatMul(ops.Transpose(x), z).As("u") // u[d k]
	if !u.IsValid() {
		return u
	}
	k := build.Last(u)
	var columns, wide []*graph.Node
	for j := range k.Size {
		c := ops.Squeeze(ops.Slice(u, -1, j, j+1), -1)
		for _, q := range columns {
			c = ops.Sub(c, ops.Mul(ops.Sum(ops.Mul(c, q)), q))
		}
		c = ops.Div(c, ops.Sqrt(build.SumSquares(c))).As(fmt.Sprintf("q%d", j+1))
		columns, wide = append(columns, c), append(wide, ops.Expand(c, -1, k.Name))
	}
	return ops.Concat(-1, wide...).As("v′")
}
