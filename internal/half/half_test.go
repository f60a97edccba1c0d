package half_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// TestFloat32 compares all of them with the definition.
func TestFloat32(t *testing.T) {
	for i := range 1 << 16 {
		got, want := half.Float32(uint16(i)), 0.0
		sign, e, m := 1-2*float64(i>>15), i>>10&31, float64(i&1023)
		switch {
		case e == 31 && m != 0:
			if got == got || math.Float32bits(got) != uint32(i>>15)<<31|0xff<<23|uint32(m)<<13 {
				t.Errorf("%#04x is %g, %#08x, want a NaN of the same bits", i, got, math.Float32bits(got))
			}
			continue
		case e == 31:
			want = math.Inf(int(sign))
		case e == 0:
			want = sign * math.Ldexp(m, -24)
		default:
			want = sign * math.Ldexp(1024+m, e-25)
		}
		if float64(got) != want || math.Signbit(float64(got)) != (sign < 0) {
			t.Errorf("%#04x is %g, want %g", i, got, want)
		}
	}
}
