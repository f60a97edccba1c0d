package viz_test

import (
	"bytes"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Apart": viz.Apart, "At": viz.At, "Chain": viz.Chain, "CollapseAbove": viz.CollapseAbove,
			"Contents": viz.Contents, "DOT": viz.DOT, "DenseAbove": viz.DenseAbove, "Derive": viz.Derive,
			"DeriveContext": viz.DeriveContext, "Diff": viz.Diff, "DiffContext": viz.DiffContext,
			"Draw": viz.Draw, "DrawContext": viz.DrawContext, "EquationOf": viz.EquationOf,
			"Equations": viz.Equations, "EquationsContext": viz.EquationsContext, "Expand": viz.Expand,
			"Expr": viz.Expr, "Fed": viz.Fed, "FedFrom": viz.FedFrom, "Formula": viz.Formula,
			"Functions": viz.Functions,
			"HeatScale": viz.HeatScale, "ExprLaTeX": viz.ExprLaTeX, "LaTeX": viz.LaTeX, "Loops": viz.Loops, "MathML": viz.MathML, "NewPlan": viz.NewPlan,
			"Overlay": viz.Overlay, "Panels": viz.Panels, "Parameters": viz.Parameters, "Roots": viz.Roots, "SVG": viz.SVG, "Sketch": viz.Sketch, "Steps": viz.Steps,
			"SVGContext": viz.SVGContext, "StopAtAdjoints": viz.StopAtAdjoints, "Title": viz.Title,
			"Tree": viz.Tree, "Unfolded": viz.Unfolded, "Unicode": viz.Unicode, "With": viz.With,
			"WithoutLines": viz.WithoutLines, "WithoutSaved": viz.WithoutSaved,
		},
		Types: []any{
			viz.Derivation{}, viz.Difference{}, viz.Equation{}, viz.Level(0), viz.Params(0), viz.Plan{}, viz.Step{}, viz.StepBox{},
		},
		Samples: func() []any {
			g := graph.New("sample")
			w := g.Param("w", graph.F32, graph.Ax("n", 2))
			y := ops.Sum(ops.Square(w))
			d, err := viz.Diff([]*graph.Node{y}, []*graph.Node{ops.Sum(w)})
			if err != nil {
				t.Fatal(err)
			}
			return []any{d, grad.Of(y, w)[0], g, y, []*graph.Node{y}, new(bytes.Buffer), viz.Expr(y), "w", 2}
		},
	})
}
