package viz_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// A model's formulas, and those of its derivative, are read off its graph.
func ExampleEquations() {
	g := graph.New("soft k-means")
	x := g.Input("x", graph.F32, graph.Ax("i", 150), graph.Ax("d", 4))
	r := g.Param("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 4))
	γ := g.Scalar("γ", 1)
	D := ops.SqDist(x, r).As("D")
	α := ops.Softmax(ops.Neg(ops.Mul(γ, D)), "j").As("α")
	loss := ops.Mean(ops.Sum(ops.Mul(α, D), "j"), "i").As("ℓ")

	for _, e := range viz.Equations(loss) {
		fmt.Println(e)
	}
	for _, e := range viz.Equations(grad.Of(loss, r)[0]) {
		fmt.Println(e)
	}
	// Output:
	// Dᵢⱼ = ‖xᵢ − rⱼ‖²
	// αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)
	// ℓ = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ
	// ∂ℓ/∂αᵢⱼ = 1/150·Dᵢⱼ
	// ∂ℓ/∂Dᵢⱼ = 1/150·αᵢⱼ − γ·αᵢⱼ·(∂ℓ/∂αᵢⱼ − Σₗ αᵢₗ·∂ℓ/∂αᵢₗ)
	// ∂ℓ/∂r_{jd} = 2·Σᵢ ∂ℓ/∂Dᵢⱼ·(r_{jd} − x_{id})
}

// Two objectives are compared by what they compute, whatever the names.
func ExampleDiff() {
	build := func(name string, end func(x *graph.Node) *graph.Node) []*graph.Node {
		g := graph.New(name)
		x := g.Input("x", graph.F32, graph.Ax("i", 150))
		return []*graph.Node{end(ops.Tanh(x).As("h")).As("loss")}
	}
	a := build("squares", func(h *graph.Node) *graph.Node { return ops.Mean(ops.Square(h)) })
	b := build("absolutes", func(h *graph.Node) *graph.Node { return ops.Mean(ops.Abs(h)) })
	d, err := viz.Diff(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(d.Text())
	// Output:
	// A  squares: loss = meanᵢ hᵢ²
	// B  absolutes: loss = meanᵢ |hᵢ|
	// Same h; loss differs.
	// B adds 1 box, drops 1, shares 2
	// Matched by what is computed and where in the flow it stands; names and sizes decide between equals only.
	// − loss = meanᵢ hᵢ²
	// + loss = meanᵢ |hᵢ|
}
