package check_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestHalf: a net whose products are of f16 or bf16, and one that is so as a whole, pass all checks.
func TestHalf(t *testing.T) {
	for _, dt := range []graph.DType{graph.F16, graph.BF16} {
		for _, leaves := range []graph.DType{graph.F32, dt} {
			t.Run(dt.String()+" of "+leaves.String(), func(t *testing.T) {
				g := graph.New("half")
				n, d, h := graph.Ax("n", 6), graph.Ax("d", 5), graph.Ax("h", 4)
				x, w, b := g.Input("x", leaves, n, d), g.Param("w", leaves, d, h), g.Param("b", leaves, h)
				y := ops.Tanh(ops.Add(ops.Cast(ops.MatMul(ops.Cast(x, dt), ops.Cast(w, dt)), leaves), b))
				loss := ops.Mean(ops.Square(ops.Softmax(y, "h")))
				for _, v := range check.Graph(t.Context(), loss) {
					if !v.OK() {
						t.Error(v)
					}
				}
			})
		}
	}
}
