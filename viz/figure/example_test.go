package figure_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tapestry-ml/tapestry/viz/figure"
)

// square is ℓ = mean x² and its gradient, which stands in the rows of the
// values.
var square = figure.Figure{
	Title: "mean square",
	Nodes: []figure.Node{
		{ID: "x", Main: "x", Sub: "f32[i=150]", Role: figure.Param},
		{ID: "xx", Main: "x²", Role: figure.Op},
		{ID: "l", Main: "ℓ = mean x²", Role: figure.Loss},
		{ID: "gl", Main: "∂ℓ/∂ℓ = 1", Role: figure.Gradient, Row: "l", Backward: true},
		{ID: "gxx", Main: "∂ℓ/∂x²", Sub: "1/N", Role: figure.Gradient, Row: "xx", Backward: true},
		{ID: "gx", Main: "∂ℓ/∂x", Sub: "2x·∂x²", Role: figure.Gradient, Row: "x", Backward: true},
	},
	Edges: []figure.Edge{
		{From: "x", To: "xx", Label: "150"}, {From: "xx", To: "l", Label: "150"},
		{From: "gl", To: "gxx", Kind: figure.Grad}, {From: "gxx", To: "gx", Kind: figure.Grad},
		{From: "x", To: "gx", Kind: figure.Saved},
	},
}

func ExampleFigure_Layout() {
	layout, err := square.Layout(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range layout.Panels[0].Nodes {
		fmt.Println(n.Row, square.Nodes[n.Node].Main)
	}
	// Output:
	// 0 x
	// 1 x²
	// 2 ℓ = mean x²
	// 2 ∂ℓ/∂ℓ = 1
	// 1 ∂ℓ/∂x²
	// 0 ∂ℓ/∂x
}

func ExampleFigure_SVG() {
	file, err := os.CreateTemp("", "square*.svg")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := square.SVG(file, figure.WithTheme(figure.Dark)); err != nil {
		log.Fatal(err)
	}
	// Output:
}
