package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Short rows that are turned add up to the same bits as row by row.
func TestTurnedSums(t *testing.T) { atLevels(t, testTurnedSums) }

func testTurnedSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= 17; n++ {
		const rows = 100
		x, got, want := make([]float32, rows*n), make([]float32, rows), make([]float32, rows)
		for i := range x {
			x[i] = float32(r.NormFloat64())
			if i < n {
				x[i] = float32(math.Copysign(0, -1))
			}
		}
		in, out := Dense(F32, rows, n), Dense(F32, rows)
		c := NewCtx()
		c.In, c.Out = []Mem{Of(x)}, Of(got)
		loop := Reduce{Op: ReduceSum, Axes: 2}.Bind(out, []Layout{in})
		loop.Run(c, 0, loop.Units)
		simd.FoldOf[float32](level, simd.SumOf)(pointerTo(want), pointerTo(x), rows, n, 4*n)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Errorf("%v: row %d of %d elements adds up to %v, not %v", level, i, n, got[i], want[i])
				break
			}
		}
	}
}

// A few terms, each of many elements side by side, are added one after the other.
func TestPlainSums(t *testing.T) { atLevels(t, testPlainSums) }

func testPlainSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for terms := 2; terms <= plainTerms; terms++ {
		for _, dims := range [][2]int{{1, 2}, {1, 209}, {2, 17}, {terms + 1, 5}, {3, 1023}} {
			before, n := dims[0], dims[1]
			x, got := make([]float32, before*terms*n), make([]float32, before*n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			c := NewCtx()
			c.In, c.Out = []Mem{Of(x)}, Of(got)
			for _, op := range []ReduceOp{ReduceSum, ReduceMean, ReduceMax} {
				loop := Reduce{Op: op, Axes: 2}.Bind(Dense(F32, before, n), []Layout{Dense(F32, before, terms, n)})
				loop.Run(c, 0, loop.Units)
				for i, v := range got {
					want := x[i/n*terms*n+i%n]
					for k := 1; k < terms; k++ {
						if term := x[(i/n*terms+k)*n+i%n]; op == ReduceMax {
							want = max(want, term)
						} else {
							want += term
						}
					}
					if op == ReduceMean {
						want /= float32(terms)
					}
					if v != want {
						t.Fatalf("%v: reduction %d of %d terms of %v: element %d is %v, not %v", level, op, terms, dims, i, v, want)
					}
				}
			}
		}
	}
}
