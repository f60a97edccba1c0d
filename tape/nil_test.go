package tape_test

import (
	"context"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"ArrayOf": tape.ArrayOf, "Budget": tape.Budget, "CheckFinite": tape.CheckFinite,
			"Compile": tape.Compile, "CompileContext": tape.CompileContext, "Debug": tape.Debug, "Do": tape.Do, "FastMath": tape.FastMath, "Fetch": tape.Fetch,
			"Fine": tape.Fine, "HalfBits": tape.HalfBits, "Labels": tape.Labels, "Lanes": tape.Lanes, "Limit": tape.Limit,
			"MeasureRoofline": tape.MeasureRoofline, "Mixed": tape.Mixed, "MixedRules": tape.MixedRules, "Once": tape.Once, "Eval": tape.Eval, "NewStore": tape.NewStore, "Of": tape.Of[float64], "Passes": tape.Passes,
			"Scalar": tape.Scalar, "Seed": tape.Seed, "Tensor": tape.Tensor, "Tensors": tape.Tensors,
			"TrustIndices": tape.TrustIndices, "Unfused": tape.Unfused, "Watch": tape.Watch,
			"Workers": tape.Workers,
		},
		Types: []any{
			tape.Array{}, tape.Feed{}, tape.MixedRule{}, tape.NotFinite{}, tape.Profile{}, tape.Program{}, tape.Roofline{}, tape.Store{}, tape.Timing{}, tape.VM{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("n", 2))
			y := ops.Add(x, g.Param("b", graph.F32, graph.Ax("n", 2)))
			p, err := tape.Compile(g, tape.Fetch(y))
			if err != nil {
				t.Fatal(err)
			}
			s := tape.NewStore(g)
			vm, closed := tapetest.VM(t, p, s), tapetest.VM(t, p, s)
			closed.Close()
			feed := tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1, 2}})}
			ran := tapetest.VM(t, p, s)
			if err := ran.Run(context.Background(), feed); err != nil {
				t.Fatal(err)
			}
			return []any{g, y, p, s, vm, closed, ran, feed, feed[x], "b", tape.Fetch(y)}
		},
		Skipped: map[string]string{
			"Array.At":        "indexes as a slice does",
			"MeasureRoofline": "takes no arguments, and seconds",
		},
	})
}
