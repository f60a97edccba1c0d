package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestHalf: every operation on floats takes f16 and bf16, and it and its derivative differ from the
// definition by a few units in the last place.
func TestHalf(t *testing.T) {
	for _, op := range ops.List() {
		t.Run(op.Name(), func(t *testing.T) {
			for i, c := range op.Cases() {
				if !generic(c) {
					continue
				}
				for _, dt := range []graph.DType{graph.F16, graph.BF16} {
					b := build(t, c, dt, nil, source(op.Name()+string(rune('0'+i))))
					agree(t, b.feed, b.y)
					roundTrip(t, b.g)
					if !flows(b, nodeOf(t, op, b.y)) {
						continue
					}
					steps := 1.0
					if op, looped := nodeOf(t, op, b.y).Op().(trait.Looped); looped {
						steps = float64(op.Loop().Steps)
					}
					loss := ops.Sum(ops.Mul(b.y, weights(b.y, source("direction"))))
					for _, d := range grad.OrZero(loss, b.floats()...) {
						if d.IsValid() && d.DType() != dt {
							t.Errorf("a derivative of type %v, want %v", d.DType(), dt)
						}
						agreeAfter(t, steps, b.feed, d)
					}
				}
			}
		})
	}
}

// TestHalfDraws: uniform draws of f16 and bf16 are those of f32, rounded, and stay below 1.
func TestHalfDraws(t *testing.T) {
	for _, dt := range []graph.DType{graph.F16, graph.BF16} {
		const n = 100_000
		g := graph.New("draws")
		u := ops.RandomUniform(g, "u", dt, graph.Dims(n)...)
		wide := ops.RandomUniform(g, "u2", graph.F32, graph.Dims(n)...)
		z := ops.RandomNormal(g, "z", dt, graph.Dims(n)...)
		got, err := reftest.Tape(5, nil, []*graph.Node{u, z, wide})
		if err != nil {
			t.Fatal(err)
		}
		sum, squares, top := 0.0, 0.0, 0.0
		for i, v := range got[0].Data {
			sum, top, squares = sum+v, max(top, v), squares+got[1].Data[i]*got[1].Data[i]
			if dt.Round(v) != v || dt.Round(got[1].Data[i]) != got[1].Data[i] || v < 0 {
				t.Fatalf("%v and %v are no draws of %v", v, got[1].Data[i], dt)
			}
		}
		if want := 1 - math.Ldexp(1, map[graph.DType]int{graph.F16: -11, graph.BF16: -8}[dt]); top != want {
			t.Errorf("%v: the largest of %d draws is %v, want %v", dt, n, top, want)
		}
		if math.Abs(sum/n-0.5) > 0.005 || math.Abs(squares/n-1) > 0.02 {
			t.Errorf("%v: mean %v and variance %v, want 0.5 and 1", dt, sum/n, squares/n)
		}
	}
}
