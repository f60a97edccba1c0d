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
