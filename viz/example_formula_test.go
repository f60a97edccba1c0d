package viz_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// line builds loss = mean_i (w·x_i + b − y_i)², with the prediction called ŷ.
func line() (loss *graph.Node, params []*graph.Node) {
	g := graph.New("line")
	x, y := g.Input("x", graph.F32, graph.Ax("i", 20)), g.Input("y", graph.F32, graph.Ax("i", 20))
	w, b := g.Param("w", graph.F32), g.Param("b", graph.F32)
	prediction := ops.Add(ops.Mul(w, x), b).As("ŷ")
	return ops.Mean(ops.Square(ops.Sub(prediction, y))).As("loss"), []*graph.Node{w, b}
}

// A formula ends at quantities with a name, which have formulas of their own.
func ExampleFormula() {
	loss, params := line()
	fmt.Println(viz.Formula(loss))
	for _, d := range grad.Of(loss, params...) {
		fmt.Println(viz.Formula(d))
	}
	// Output:
	// loss = meanᵢ (ŷᵢ − yᵢ)²
	// ∂loss/∂w = 2/20·Σᵢ (ŷᵢ − yᵢ)·xᵢ
	// ∂loss/∂b = 2/20·Σᵢ (ŷᵢ − yᵢ)
}

func ExampleLaTeX() {
	loss, _ := line()
	fmt.Println(viz.LaTeX(loss))
	// Output: \mathrm{loss} = \operatorname{mean}_{i} {\left(\hat{y}_{i} - y_{i}\right)}^{2}
}

// The steps of a derivative, with the rule behind each.
func ExampleDerive() {
	loss, params := line()
	d, err := viz.Derive(grad.Of(loss, params[0])...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(d)
	// Output:
	// ŷᵢ = w·xᵢ + b
	// loss = meanᵢ (ŷᵢ − yᵢ)²
	//
	// ∂loss/∂loss = 1
	//     to begin with
	// ∂loss/∂ŷᵢ = 2/20·(ŷᵢ − yᵢ)
	//     mean of n: ∂f/∂uₖ = 1/n; power rule: f = u², ∂f/∂u = 2·u; sum rule
	// ∂loss/∂w = Σᵢ ∂loss/∂ŷᵢ·xᵢ
	//     sum rule; constant factor; a repeated value: sum over its copies
	//
	// ∂loss/∂w = 2/20·Σᵢ (ŷᵢ − yᵢ)·xᵢ
}

// The drawing of a graph with its gradient, as SVG.
func ExampleSVG() {
	loss, params := line()
	var svg strings.Builder
	if err := viz.SVG(&svg, append(grad.Of(loss, params...), loss), viz.Title("a line")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(svg.String(), "<svg"), strings.Contains(svg.String(), "a line"))
	// Output: true true
}

// A graph as text: each node below what it is made for.
func ExampleTree() {
	loss, _ := line()
	text, err := viz.Tree(loss)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// loss = meanᵢ (ŷᵢ − yᵢ)²  f32[]
	// ├─ ŷᵢ = w·xᵢ + b  f32[i=20]
	// │  ├─ w  f32[]
	// │  ├─ xᵢ  f32[i=20]
	// │  └─ b  f32[]
	// └─ yᵢ  f32[i=20]
}
