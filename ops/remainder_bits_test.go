package ops

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRestOfQuotient: the remainder and the quotient that come from a rounded division are those
// that package math finds bit by bit, also where a/b is rounded to the next whole number.
func TestRestOfQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	some := []float64{0, math.Copysign(0, -1), 1, 3, 0.1, 0.3, 1e-320, 5e-324, 1e300, math.MaxFloat64, 0x1p52, 0x1p53 - 1, math.Inf(1), math.NaN()}
	short := 0 // of divisions that need no bits
	for i := range 400000 {
		a, b := math.Ldexp(r.NormFloat64(), r.IntN(70)-30), math.Ldexp(r.NormFloat64(), r.IntN(20)-10)
		switch i % 8 {
		case 0:
			a = b * float64(r.IntN(1<<20)-1<<19) // nearly, or exactly, a multiple
		case 1:
			a = math.Nextafter(b*float64(r.IntN(1000)-500), math.Inf(1-2*r.IntN(2)))
		case 2:
			a, b = some[r.IntN(len(some))], math.Copysign(some[r.IntN(len(some))], r.NormFloat64())
		case 3:
			a, b = float64(float32(a)), float64(float32(b))
		}
		if _, _, ok := divided(a, b); ok {
			short++
		}
		if got, want := rest(a, b), restByBits(a, b); got != want && (got == got || want == want) || math.Signbit(got) != math.Signbit(want) && want == want {
			t.Fatalf("the remainder of %v by %v is %v, want %v", a, b, got, want)
		}
		if i%8 == 2 || i%20 > 3 {
			continue
		}
		q := new(big.Rat).Quo(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		want, _ := new(big.Float).SetInt(new(big.Int).Div(q.Num(), q.Denom())).Float64()
		if got := quotient(a, b); got != want && math.Abs(want) < 0x1p52 {
			t.Fatalf("the quotient of %v by %v is %v, want %v", a, b, got, want)
		}
	}
	if short < 300000 {
		t.Errorf("only %d of 400000 divisions are short", short)
	}
}
