package kernel

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// TestByteCasts: the assembly between float32 and integers of a byte does what the plain loops do, at
// every length, and writes nothing else.
func TestByteCasts(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 0.99, -0.99, 127, 127.9, 128, -128, -128.9, -129, 254.99, 255, 256, -1, 1e30, -1e30,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 3.5, math.SmallestNonzeroFloat32}
	const most = 70
	floats, integers := make([]float32, most), make([]uint8, most)
	for i := range most {
		floats[i], integers[i] = special[i%len(special)], uint8(37*i+120)
	}
	value := func(v float32) float64 { return float64(v) }
	for _, c := range []struct {
		dt       DType
		to, from simd.Map
	}{{U8, fromFloats(U8, value), fromIntegers[uint8](F32)}, {I8, fromFloats(I8, value), fromIntegers[int8](F32)}} {
		for n := 1; n < most; n++ {
			got, want := make([]uint8, most), make([]uint8, most)
			x := at(Of(floats), 4*(most-n))
			narrowCast(c.dt, F32)(&got[0], x, 1, n, 0, 0)
			c.to(&want[0], x, 1, n, 0, 0)
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%d of %v to %v: byte %d is %d, want %d", n, floats[most-n:], c.dt, i, got[i], want[i])
				}
			}
			wide, wanted := make([]float32, most), make([]float32, most)
			narrowCast(F32, c.dt)(at(Of(wide), 0), &integers[most-n], 1, n, 0, 0)
			c.from(at(Of(wanted), 0), &integers[most-n], 1, n, 0, 0)
			for i := range wide {
				if wide[i] != wanted[i] {
					t.Fatalf("%d of %v to f32: element %d is %v, want %v", n, c.dt, i, wide[i], wanted[i])
				}
			}
		}
	}
}
