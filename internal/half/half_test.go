package half_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/half"
)

// format is a type of floats of two bytes with its conversions.
type format struct {
	name              string
	exponents, digits int
	float             func(uint16) float32
	bits              func(float32) uint16
	round             func(float64) float64
}

var formats = []format{
	{"float16", 5, 10, half.Float32, half.Bits, half.Round},
	{"bfloat16", 8, 7, half.Brain, half.BrainBits, half.RoundBrain},
}

// number is the definition of the number that bits stand for.
func (f format) number(i int) float64 {
	sign, e, m := 1-2*float64(i>>15), i>>f.digits&(1<<f.exponents-1), float64(i&(1<<f.digits-1))
	bias := 1<<(f.exponents-1) - 1
	switch {
	case e == 1<<f.exponents-1 && m != 0:
		return math.NaN()
	case e == 1<<f.exponents-1:
		return math.Inf(int(sign))
	case e == 0:
		return sign * math.Ldexp(m, 1-bias-f.digits)
	}
	return sign * math.Ldexp(m+float64(int(1)<<f.digits), e-bias-f.digits)
}

// TestAllNumbers compares all of them with the definition, and takes each back to its bits.
func TestAllNumbers(t *testing.T) {
	for _, f := range formats {
		for i := range 1 << 16 {
			got, want := f.float(uint16(i)), f.number(i)
			switch {
			case want != want:
				payload := uint32(i&(1<<f.digits-1)) << (23 - f.digits)
				if math.Float32bits(got) != uint32(i>>15)<<31|0xff<<23|payload {
					t.Errorf("%s: %#04x is %g, %#08x, want a NaN of the same bits", f.name, i, got, math.Float32bits(got))
				}
				if b := f.bits(got); b != uint16(i)|1<<(f.digits-1) || f.round(float64(got)) == f.round(float64(got)) {
					t.Errorf("%s: the NaN %#04x becomes %#04x, want it quiet", f.name, i, b)
				}
			case float64(got) != want || math.Signbit(float64(got)) != (i>>15 != 0):
				t.Errorf("%s: %#04x is %g, want %g", f.name, i, got, want)
			case f.bits(got) != uint16(i) || f.round(want) != want:
				t.Errorf("%s: %#04x, %g, becomes %#04x, %g", f.name, i, want, f.bits(got), f.round(want))
			}
		}
	}
}

// TestRoundToNearestEven: the middle of two neighbours becomes the one with an even last bit, and a
// number next to the middle, as float32 or float64 has it, the nearer one. Beyond the largest number
// the next power of two takes the place of its neighbour.
func TestRoundToNearestEven(t *testing.T) {
	for _, f := range formats {
		inf := 1<<15 - 1<<f.digits
		at := func(i int) float64 {
			if i == inf {
				return 2*f.number(i-1) - f.number(i-2)
			}
			return f.number(i)
		}
		for i := range inf {
			middle, even := at(i)/2+at(i+1)/2, i+i&1
			for _, c := range []struct {
				v    float64
				want int
			}{{middle, even}, {math.Nextafter(middle, 0), i}, {math.Nextafter(middle, math.Inf(1)), i + 1}} {
				for _, sign := range []float64{1, -1} {
					if got, want := f.round(sign*c.v), sign*f.number(c.want); got != want || math.Signbit(got) != (sign < 0) {
						t.Fatalf("%s: %v becomes %v, want %v", f.name, sign*c.v, got, want)
					}
				}
			}
			narrow := float32(middle)
			if float64(narrow) != middle {
				continue // below float32's subnormal numbers
			}
			for _, c := range []struct {
				v    float32
				want int
			}{{narrow, even}, {math.Nextafter32(narrow, 0), i}, {math.Nextafter32(narrow, float32(math.Inf(1))), i + 1}} {
				for _, sign := range []uint16{0, 1 << 15} {
					v := math.Float32frombits(math.Float32bits(c.v) | uint32(sign)<<16)
					if got := f.bits(v); got != uint16(c.want)|sign {
						t.Fatalf("%s: %v becomes %#04x, want %#04x", f.name, v, got, uint16(c.want)|sign)
					}
				}
			}
		}
	}
}

// TestAsOthersRound compares with what NumPy and PyTorch round numbers to; testdata/casts.py writes
// them.
func TestAsOthersRound(t *testing.T) {
	text, err := os.ReadFile("testdata/casts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ X, Float16, X32, Bfloat16 []string }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	compare := func(name string, x, want []string, round func(float64) float64) {
		if len(x) < 200 || len(x) != len(want) {
			t.Fatalf("%s: %d numbers and %d", name, len(x), len(want))
		}
		for i := range x {
			v, err1 := strconv.ParseFloat(x[i], 64)
			w, err2 := strconv.ParseFloat(want[i], 64)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if got := round(v); got != w && !(got != got && w != w) || math.Signbit(got) != math.Signbit(w) {
				t.Errorf("%s: %v becomes %v, want %v", name, v, got, w)
			}
		}
	}
	compare("float16", all.X, all.Float16, half.Round)
	compare("bfloat16", all.X32, all.Bfloat16, half.RoundBrain)
}
