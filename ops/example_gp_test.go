package ops_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// The log marginal likelihood of a Gaussian process, −½ yᵀK⁻¹y − ½ log|K| − n/2 log 2π, its derivative by the
// logarithm of the length scale, and the mean at a new point. The solution of K·α = y is over the axis of
// y, as K maps that axis to itself.
func ExampleSolve_gaussianProcess() {
	g := graph.New("gp")
	n, d := graph.Ax("n", 5), graph.Ax("d", 1)
	x, y, at := g.Input("x", graph.F64, n, d), g.Input("y", graph.F64, n), g.Input("at", graph.F64, graph.Ax("m", 1), d)
	scale := g.Input("ℓ", graph.F64) // the logarithm of the length scale
	kernel := func(a, b *graph.Node) *graph.Node {
		return ops.Exp(ops.Scale(ops.Div(ops.SqDist(a, b), ops.Exp(ops.Scale(scale, 2))), -0.5))
	}
	noise := ops.DiagonalMatrix(ops.Full(g, graph.F64, 0.01, n))
	k := ops.Add(kernel(x, x), noise).As("K")
	alpha := ops.Solve(k, y).As("α")
	fit := ops.Scale(ops.MatMul(y, alpha), -0.5)
	likelihood := ops.Sub(fit, ops.Scale(ops.LogDet(k), 0.5)).As("L")
	likelihood = ops.Sub(likelihood, ops.Lit(likelihood, 2.5*math.Log(2*math.Pi)))
	mean := ops.MatMul(kernel(at, x), alpha).As("μ")
	fmt.Println(viz.Formula(alpha))
	slope := grad.Of(likelihood, scale)[0]
	values, err := tape.Eval(context.Background(), tape.Feed{
		x: tape.Of(x, 0, 0.5, 1, 1.5, 2), y: tape.Of(y, 0, 0.48, 0.84, 1, 0.91), at: tape.Of(at, 0.75), scale: tape.Of(scale, 0),
	}, likelihood, slope, mean)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %.4f %.4f\n", values[likelihood].Data, values[slope].Data, values[mean].Data)
	// Output:
	// αₙ = (K⁻¹·y)ₙ
	// [-1.3090] [3.3527] [0.6755]
}
