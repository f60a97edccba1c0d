package kernel

import (
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Powers of float64 are exp(y·log x), where the logarithm and its product with y are in two parts:
// a power multiplies the error of the logarithm by up to 745. They err by less than two units in
// the last place. Special operands, and results that may be out of range, are left to the function
// that is given in Go.

// A powerEntry is for the numbers z near c = 1/inverse. Inverse has so few bits that z·inverse - 1
// is exact.
type powerEntry struct{ inverse, log, rest float64 } // log + rest is log c

const (
	powerBits   = 7
	powerOffset = 0x3fe6955500000000 // a little less than √½, so that 1 is amid its entry
	logUnit     = 0x1p-42            // of which ln2High and the logs of entries are multiples
	ln2High     = 0x1.62e42fefa3800p-1
	ln2Low      = 0x1.ef35793c76730p-45
)

// powerTable returns the entries for the ranges of numbers that have their first bits in common.
var powerTable = sync.OnceValue(func() *[1 << powerBits]powerEntry {
	table := new([1 << powerBits]powerEntry)
	for i := range table {
		middle := math.Float64frombits(powerOffset + uint64(2*i+1)<<(51-powerBits))
		steps := 256.0
		if middle < 1 {
			steps = 128
		}
		c := math.Round(steps/middle) / steps
		exact := negLog(c)
		log, _ := exact.Float64()
		log = math.RoundToEven(log/logUnit) * logUnit
		rest, _ := exact.Sub(exact, big.NewFloat(log)).Float64()
		table[i] = powerEntry{c, log, rest}
	}
	return table
})

// negLog is -log c of a number between ½ and 2 in 128 bits: 2·atanh((1-c)/(1+c)).
func negLog(c float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(128).SetFloat64(v) }
	s := number(1 - c)
	s.Quo(s, number(1+c))
	square, power, sum := number(0), number(2), number(0)
	square.Mul(s, s)
	power.Mul(power, s)
	for k := 1.0; k < 60; k += 2 {
		term := number(k)
		sum.Add(sum, term.Quo(power, term))
		power.Mul(power, square)
	}
	return sum
}

// logOf returns the logarithm of a positive normal number in two parts.
func logOf(table *[1 << powerBits]powerEntry, x float64) (hi, lo float64) {
	b := math.Float64bits(x)
	from := b - powerOffset
	e := &table[from>>(52-powerBits)%(1<<powerBits)]
	k := float64(int64(from) >> 52)
	z := math.Float64frombits(b - from&(0xfff<<52))
	r := math.FMA(z, e.inverse, -1)
	// k·ln 2 + log c + r - r²/2 + r³·(⅓ - …), the rounding errors of the sums aside.
	first := k*ln2High + e.log
	second := first + r
	half := -0.5 * r
	square := r * half
	high := second + square
	rr := r * r
	series := rr * r * (1./3 - r*(1./4) + rr*(1./5-r*(1./6)+rr*(1./7-r*(1./8)+rr*(1./9-r*(1./10)))))
	lo = k*ln2Low + e.rest + (first - second + r) + math.FMA(half, r, -square) + (second - high + square) + series
	sum := high + lo
	return sum, high - sum + lo
}

// wholePower returns x^w of a normal x, where w is a whole number and the power, or its inverse, is
// exact in float64, as that of a small whole number is.
func wholePower(x, w float64) (y float64, ok bool) {
	const fraction = 1<<52 - 1
	n := math.Abs(w)
	if n > 1022 {
		return 0, false
	}
	number := math.Float64bits(x)&fraction | (fraction + 1)
	zeros := bits.TrailingZeros64(number)
	odd := float64(number >> zeros) // |x| without its power of two
	y = 1
	if odd > 1 {
		for range int(n) {
			if y *= odd; y > 1<<53 {
				return 0, false
			}
		}
	}
	exponent := int(math.Float64bits(x)>>52&0x7ff) - 1075 + zeros
	y = math.Ldexp(y, exponent*int(n))
	if w < 0 {
		y = 1 / y
	}
	if x < 0 && int(n)%2 == 1 {
		y = -y
	}
	return y, true
}

// bindPower returns the loop of powers of float64, and calls of for special ones.
func bindPower(of func(x, y float64) float64, out Layout, in []Layout) Bound {
	exp, table := simd.MapOf[float64](level, simd.Exp), powerTable()
	return byTiles(out, in, func(c *Ctx, dst, x, y []float64) { powers(c, table, exp, of, dst, x, y) })
}

// powers does the elements of one tile. The first two tiles of the scratch may hold operands.
func powers(c *Ctx, table *[1 << powerBits]powerEntry, exp simd.Map, of func(x, y float64) float64, dst, x, y []float64) {
	n := len(dst)
	power, rest := sliceAt[float64](hand(c, 2), n), sliceAt[float64](hand(c, 3), n)
	for i, v := range x {
		power[i], rest[i] = math.NaN(), 0
		if !(0x1p-1022 <= math.Abs(v) && math.Abs(v) <= math.MaxFloat64) {
			continue
		}
		hi, lo := logOf(table, math.Abs(v))
		if w := y[i]; math.Abs(w*hi) < 700 && (v > 0 || w == math.Trunc(w)) {
			power[i] = w * hi
			rest[i] = w*lo + math.FMA(w, hi, -power[i])
		}
	}
	exp(pointerTo(power), pointerTo(power), 1, n, 0, 0)
	for i, p := range power {
		w := y[i]
		if p == p && w == math.Trunc(w) {
			if whole, ok := wholePower(x[i], w); ok {
				power[i] = whole
				continue
			}
		}
		switch {
		case p != p:
			power[i] = of(x[i], w)
		case x[i] < 0 && math.Abs(w) < 0x1p53 && int64(w)%2 != 0:
			power[i] = -(p + p*rest[i])
		default:
			power[i] = p + p*rest[i]
		}
	}
	copy(dst, power)
}
