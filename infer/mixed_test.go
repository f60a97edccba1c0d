package infer_test

import (
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// wide is a product that is large enough to be rounded for 16 rows and more.
func wide(rows int) infer.Forward {
	g := graph.New("wide")
	x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("c", 32))
	w := g.Param("w", graph.F32, graph.Ax("c", 32), graph.Ax("o", 16)).Init(initial.Normal(0, 1))
	return infer.Forward{Rows: rows, Output: ops.MatMul(x, ops.Tanh(w)).As("y")}
}

func wideRows(t *testing.T, n int) map[string]*tensor.Dense {
	t.Helper()
	x := make([]float32, 32*n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	return map[string]*tensor.Dense{"x": array([]int{n, 32}, x...)}
}

// TestMixed: the product of the net for a batch rounds its operands, to 8 bits, where that is asked
// for, and the net for one row computes as it does otherwise.
func TestMixed(t *testing.T) {
	store := tape.NewStore(wide(1).Output.Graph())
	predict := func(mixed bool) (*infer.Predictor, []float32) {
		nets := []infer.Forward{wide(16), wide(1)}
		for i := range nets {
			nets[i].Mixed = mixed
		}
		p, err := infer.NewPredictor(t.Context(), store, 1, nets...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		y, err := p.Predict(t.Context(), set(t, wideRows(t, 17)))
		if err != nil {
			t.Fatal(err)
		}
		return p, y.Float32s()
	}
	p, want := predict(false)
	q, got := predict(true)
	if p.Mixed() != 0 || q.Mixed() != 1 {
		t.Errorf("%d products are rounded, and %d where that is asked for: want 0 and 1", p.Mixed(), q.Mixed())
	}
	rest := 16 * 16
	if slices.Equal(got[:rest], want[:rest]) || !slices.Equal(got[rest:], want[rest:]) {
		t.Error("want other digits for the batch, and the same for the last row")
	}
	for i := range want { // 32 terms of at most 1, each off by 2⁻⁸ at most
		if d := math.Abs(float64(got[i] - want[i])); d > 32./256 {
			t.Errorf("element %d is %v, want about %v", i, got[i], want[i])
		}
	}
}

// TestPredictionsFollowTheStore: what is made of a parameter once is made again when it is set.
func TestPredictionsFollowTheStore(t *testing.T) {
	store := tape.NewStore(wide(1).Output.Graph())
	p, err := infer.NewPredictor(t.Context(), store, 1, wide(16))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := set(t, wideRows(t, 16))
	if _, err := p.Predict(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if err := store.Set("w", array([]int{32, 16}, make([]float32, 512)...)); err != nil {
		t.Fatal(err)
	}
	y, err := p.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(y.Float32s(), func(y float32) bool { return y != 0 }) {
		t.Errorf("weights of 0 predict %v…", y.Float32s()[:4])
	}
}
