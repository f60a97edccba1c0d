package rewrite_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"FastMath": rewrite.FastMath, "Passes": rewrite.Passes, "Run": rewrite.Run,
			"RunBeside": rewrite.RunBeside, "RunContext": rewrite.RunContext, "Trace": rewrite.Trace,
			"TraceContext": rewrite.TraceContext,
		},
		Types: []any{
			rewrite.Entry{}, rewrite.Firing{}, rewrite.History{}, rewrite.Pass{}, rewrite.Result{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2))
			y := ops.Add(ops.Mul(x, x), g.Scalar("zero", 0))
			return []any{g, y, []*graph.Node{y}}
		},
		Skipped: map[string]string{
			"History.Node":    "is that of the Result, which a zero History lacks",
			"History.LogText": "is that of the Result, which a zero History lacks",
		},
	})
}
