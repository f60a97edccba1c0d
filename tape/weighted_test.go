package tape_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestMixtureKeepsNoRows: neither x_i − μ_k nor its product with a matrix is kept for the
// derivative of a mixture, in whichever order its axes are written.
func TestMixtureKeepsNoRows(t *testing.T) {
	const dims = 16
	for _, c := range []struct {
		order           string
		points, centres int
	}{{"i k", 3000, 10}, {"k i", 3000, 10}, {"i k", 60_000, 4}, {"k i", 60_000, 4}} {
		order, points, centres := c.order, c.points, c.centres
		g := graph.New("mixture")
		x := g.Input("x", graph.F64, graph.Ax("i", points), graph.Ax("d", dims))
		μ := g.Param("μ", graph.F64, graph.Ax("k", centres), graph.Ax("d", dims))
		q := g.Param("Q", graph.F64, graph.Ax("k", centres), graph.Ax("e", dims), graph.Ax("d", dims))
		at := 1
		if order == "k i" {
			at, μ = 0, ops.Expand(μ, 1, "i")
		}
		z := ops.Einsum("k e d, "+order+" d -> "+order+" e", q, ops.Sub(ops.Expand(x, at, "k"), μ))
		loss := ops.Neg(ops.Mean(ops.LogSumExp(ops.Neg(ops.Sum(ops.Square(z), "e")), "k"))).As("loss")
		p := compile(t, g, tape.Fetch(append(grad.Of(loss, g.Params()...), loss)...))
		if one := centres * points * dims * 8; p.Arena() >= one {
			t.Errorf("[%s d]: the arena takes %d B, more than all differences, %d B:\n%v", order, p.Arena(), one, p)
		}
	}
}
