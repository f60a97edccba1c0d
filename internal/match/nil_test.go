package match_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Draws": match.Draws,
			"Along": match.Along, "Averaged": match.Averaged, "Is": match.Is,
			"KindOf": match.KindOf, "Laid": match.Laid, "Literal": match.Literal,
			"Of": match.Of, "Permuted": match.Permuted, "SoftmaxAxis": match.SoftmaxAxis,
			"Squared": match.Squared, "SumsOverLanes": match.SumsOverLanes, "Strided": match.Strided, "Summed": match.Summed,
			"Twin": match.Twin,
		},
		Types: []any{match.Form{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("m", 3))
			return []any{x, ops.Sum(x), ops.Add(x, x).Op(), match.Add}
		},
	})
}
