package grad_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Checkpoint": grad.Checkpoint, "Custom": grad.Custom, "HVP": grad.HVP, "Hessian": grad.Hessian, "JVP": grad.JVP, "Jacobian": grad.Jacobian,
			"Of": grad.Of, "OrZero": grad.OrZero,
		},
		Types: []any{},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2))
			return []any{ops.Sum(ops.Square(x)), x, []*graph.Node{x}}
		},
	})
}
