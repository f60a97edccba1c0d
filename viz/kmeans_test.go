package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// objective is one of the two clustering objectives, as a lecture writes them.
type objective struct {
	g                      *graph.Graph
	x, r, γ, Δ, D, α, loss *graph.Node
	dr                     *graph.Node // ∂loss/∂r
}

// assign is the part that both objectives share: the soft assignment of points to centres.
func assign(t testing.TB, name string, points int) *objective {
	o := &objective{g: graph.New(name)}
	end := o.g.Scope("assign")
	o.x = o.g.Input("x", graph.F32, graph.Ax("i", points), graph.Ax("d", 4))
	o.r = o.g.Param("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 4))
	o.γ = o.g.Scalar("γ", 0.7)
	o.Δ = ops.Sub(ops.Over(o.x, "i", "j", "d"), ops.Over(o.r, "i", "j", "d")).As("Δ")
	o.D = ops.Sum(ops.Square(o.Δ), "d").As("D")
	o.α = ops.Softmax(ops.Neg(ops.Mul(o.γ, o.D)), "j").As("α")
	end()
	t.Cleanup(func() {
		if err := o.g.Err(); err != nil {
			t.Error(err)
		}
	})
	return o
}

func soft(t testing.TB) *objective {
	o := assign(t, "soft k-means", 150)
	defer o.g.Scope("objective")()
	o.loss = ops.Mean(ops.Sum(ops.Mul(o.α, o.D), "j"), "i").As("loss")
	o.dr = grad.Of(o.loss, o.r)[0]
	return o
}

func goofy(t testing.TB) *objective {
	o := assign(t, "goofy k-means", 150)
	defer o.g.Scope("objective")()
	r := ops.MatMul(o.α, o.r).As("r̂")
	o.loss = ops.Mean(ops.Sum(ops.Square(ops.Sub(r, o.x)), "d"), "i").As("loss")
	o.dr = grad.Of(o.loss, o.r)[0]
	return o
}
