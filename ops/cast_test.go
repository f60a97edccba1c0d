package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestCastOfEveryType: from each element type to each, the tape rounds once, as DType.Round does,
// or wraps around from an integer to another.
func TestCastOfEveryType(t *testing.T) {
	types := []graph.DType{graph.F32, graph.F64, graph.F16, graph.BF16, graph.I32, graph.I64, graph.I8, graph.U8, graph.Bool}
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, -1.75, 127, 127.9, 128, -128.5, -129, 255, 256, 300, 2049, 65504, 65519, 65520, 1e-8, 6e-8,
		1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 3e38, 1e300, math.MaxInt32, math.MinInt32, 1<<31 + 1<<22 + 1, 1<<62 + 1<<53 + 1<<40, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, from := range types {
		g := graph.New("casts")
		x := g.Input("x", from, graph.Ax("i", len(values)))
		var all []*graph.Node
		for _, to := range types {
			all = append(all, ops.Cast(x, to))
		}
		v := graph.NewValue(x.Type())
		for i, f := range values {
			if v.Data[i] = from.Round(f); from.IsFloat() && math.IsInf(v.Data[i], 0) && !math.IsInf(f, 0) {
				v.Data[i] = from.Largest() // a tensor of it would be a mistake
			}
		}
		got, err := reftest.Tape(1, graph.Values{x: v}, all, tape.Passes())
		if err != nil {
			t.Fatal(err)
		}
		for k, to := range types {
			for i, f := range v.Data {
				want := to.Round(f)
				if from.IsInt() && to.IsInt() {
					want = float64(to.Wrap(from.Whole(f)))
				}
				if w := got[k].Data[i]; w != want && !(w != w && want != want) || math.Signbit(w) != math.Signbit(want) {
					t.Errorf("%v from %v to %v is %v, want %v", f, from, to, w, want)
				}
			}
		}
	}
}

// TestCastOfLargeIntegers: an i64 between two float64 is rounded to bf16 once.
func TestCastOfLargeIntegers(t *testing.T) {
	const tie = 1<<62 + 1<<54 // the middle of two bf16
	g := graph.New("large")
	x := g.State("x", graph.I64, graph.Dims(2)...)
	y := ops.Cast(ops.Add(x, g.ConstantFunc(graph.I64, func(v []float64) { v[0], v[1] = 1, -1 }, graph.Dims(2)...)), graph.BF16)
	got, err := reftest.Tape(1, graph.Values{x: {Type: x.Type(), Data: []float64{tie, tie}}}, []*graph.Node{y}, tape.Passes())
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1<<62 + 1<<55, 1 << 62}; got[0].Data[0] != want[0] || got[0].Data[1] != want[1] {
		t.Errorf("%v, want %v", got[0].Data, want)
	}
}
