package infer_test

import (
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestNarrowColumns: a net of u8 images and f16 results predicts rows of bytes and of whole numbers,
// and refuses a number that is no byte.
func TestNarrowColumns(t *testing.T) {
	half := func(rows int) infer.Forward {
		g := graph.New("bytes")
		x := g.Input("x", graph.U8, graph.Ax("n", rows))
		return infer.Forward{Rows: rows, Output: ops.Scale(ops.Cast(x, graph.F16), 1.0/3).As("y")}
	}
	p, err := infer.NewPredictor(t.Context(), tape.NewStore(nil), 1, half(2), half(1))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, x := range map[string]*tensor.Dense{"bytes": array([]int{3}, uint8(0), 7, 255), "integers": array([]int{3}, int32(0), 7, 255)} {
		y, err := p.Predict(t.Context(), set(t, map[string]*tensor.Dense{"x": x}))
		if err != nil {
			t.Fatal(err)
		}
		a, err := tape.ArrayOf(graph.Type{DType: graph.F16, Shape: y3(t)}, y)
		if err != nil {
			t.Fatal(err)
		}
		third := graph.F16.Round(1.0 / 3)
		want := []float64{0, graph.F16.Round(7 * third), graph.F16.Round(255 * third)}
		if got := []float64{a.At(0), a.At(1), a.At(2)}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	_, err = p.Predict(t.Context(), set(t, map[string]*tensor.Dense{"x": array([]int{3}, int32(0), 7, 256)}))
	if want := "predict: x: row 2: 256 does not fit into u8"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func y3(t *testing.T) graph.Shape {
	t.Helper()
	s, err := graph.NewShape(graph.Dims(3)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
