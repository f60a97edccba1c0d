package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

// A function of one variable has a constant in package simd, a loop for every level and an entry in
// their tables.
type function struct {
	Name     string // of the loops: exp32AVX2; the constant is Exp
	Doc      string // comment of the constant, where the name does not say it
	Portable string // in plain Go, of a float64; none where package simd has a loop over slices
	of       func(t *target, x vector) vector
	// Cheap functions need several vectors in flight per turn of the loop to run as fast as memory;
	// for the others one vector is enough.
	unroll   int
	Cheap    bool // computing it again takes no longer than reading it
	Periodic bool // great elements are left to Portable
	LoopOnly bool // it is not listed with the functions; its loop has a field of its own
}

// functions lists all functions, in the order of their constants.
var functions = []function{
	{Name: "copy", of: func(_ *target, x vector) vector { return x }, unroll: 4, LoopOnly: true},
	{Name: "neg", of: func(t *target, x vector) vector { return t.xor(x, t.signBit()) }, unroll: 4, Cheap: true},
	{Name: "abs", of: func(t *target, x vector) vector { return t.and(x, t.otherBits()) }, unroll: 4, Cheap: true},
	{Name: "sign", Doc: "1, -1, 0 for ±0, NaN for NaN", of: (*target).sign, unroll: 2, Cheap: true},
	{Name: "square", Doc: "x·x", of: func(t *target, x vector) vector { return t.mul(x, x) }, unroll: 4, Cheap: true},
	// Adding 0 makes -0 positive.
	{Name: "relu", Doc: "max(x, 0): NaN for NaN", of: func(t *target, x vector) vector { return t.add(t.max(t.zero(), x), t.number(0)) }, unroll: 4, Cheap: true},
	{Name: "sqrt", of: (*target).sqrt, unroll: 1},
	{Name: "rsqrt", Doc: "1/√x", Portable: "rsqrt", of: func(t *target, x vector) vector { return t.div(t.all(t.number(1)), t.sqrt(x)) }, unroll: 1},
	{Name: "reciprocal", Doc: "1/x", of: func(t *target, x vector) vector { return t.div(t.all(t.number(1)), x) }, unroll: 1},
	{Name: "exp", Portable: "math.Exp", of: (*target).exp, unroll: 1},
	{Name: "weight", of: (*target).weight, unroll: 1, LoopOnly: true},
	{Name: "expm1", Doc: "exp(x) - 1", Portable: "math.Expm1", of: (*target).expm1, unroll: 1},
	{Name: "log", Portable: "log", of: (*target).log, unroll: 1},
	{Name: "log1p", Doc: "log(1+x)", Portable: "math.Log1p", of: (*target).log1p, unroll: 1},
	{Name: "tanh", Portable: "math.Tanh", of: (*target).tanh, unroll: 1},
	{Name: "sigmoid", Doc: "1/(1+exp(-x))", Portable: "sigmoid", of: (*target).sigmoid, unroll: 1},
	{Name: "softplus", Doc: "log(1+exp(x))", Portable: "softplus", of: (*target).softplus, unroll: 2},
	{Name: "logSigmoid", Doc: "log(1/(1+exp(-x)))", Portable: "logSigmoid", of: (*target).logSigmoid, unroll: 2},
	{Name: "erf", Portable: "math.Erf", of: (*target).erf, unroll: 1},
	{Name: "asinh", Doc: "log(x + √(x²+1))", Portable: "math.Asinh", of: (*target).asinh, unroll: 1},
	{Name: "atan", Portable: "math.Atan", of: (*target).atan, unroll: 1},
	{Name: "exp2", Doc: "2ˣ", Portable: "math.Exp2", of: (*target).exp2, unroll: 1},
	{Name: "log2", Doc: "exact for powers of 2", Portable: "binaryLog", of: (*target).log2, unroll: 1},
	{Name: "log10", Doc: "exact for powers of 10", Portable: "decimalLog", of: (*target).log10, unroll: 1},
	{Name: "sinh", Portable: "hyperbolicSine", of: (*target).sinh, unroll: 1},
	{Name: "cosh", Portable: "hyperbolicCosine", of: (*target).cosh, unroll: 1},
	{Name: "acosh", Portable: "math.Acosh", of: (*target).acosh, unroll: 1},
	{Name: "atanh", Portable: "math.Atanh", of: (*target).atanh, unroll: 1},
	{Name: "asin", Portable: "arcSine", of: (*target).asin, unroll: 1},
	{Name: "acos", Portable: "arcCosine", of: (*target).acos, unroll: 1},
	{Name: "sin", Portable: "math.Sin", of: (*target).sin, Periodic: true},
	{Name: "cos", Portable: "math.Cos", of: (*target).cos, Periodic: true},
}

// functions emits the loops over one operand.
func (t *target) functions() {
	for _, f := range functions {
		if !f.Periodic {
			t.mapping(f)
		}
	}
	t.row(rowLoop{
		name: "spread", doc: "repeats one value per row.",
		ports:  []port{{name: "dst", size: t.bytes()}, {name: "x", size: t.bytes(), once: true}},
		unroll: 4,
		body:   func(c cell) { c.store(0, c.load(1)) },
	})
}

// mapping emits the loop of a function.
func (t *target) mapping(f function) {
	t.row(rowLoop{
		name: f.Name, doc: fmt.Sprintf("of each element: %s.", f.Name),
		ports:  []port{{name: "dst", size: t.bytes()}, {name: "x", size: t.bytes()}},
		unroll: f.unroll, woven: f.unroll == 2,
		body: func(c cell) { c.store(0, f.of(t, c.load(1))) },
	})
}

// nan returns the NaN that the machine makes.
func (t *target) nan() vector { return t.all(t.pattern(pick[uint64](t, 0xffc00000, 0xfff8<<48))) }

// horner evaluates the polynomial with the coefficients, the constant first.
func (t *target) horner(coefs []float64, x vector) vector {
	p := t.all(t.number(coefs[len(coefs)-1]))
	for i := len(coefs) - 2; i >= 0; i-- {
		p = t.times(p, x, t.number(coefs[i]))
	}
	return p
}

// polynomial splits the coefficients into even and odd ones: two chains, half as long. xx is x².
func (t *target) polynomial(coefs []float64, x, xx vector) vector {
	var even, odd []float64
	for i, c := range coefs {
		if i%2 == 0 {
			even = append(even, c)
		} else {
			odd = append(odd, c)
		}
	}
	return t.times(t.horner(odd, xx), x, t.horner(even, xx))
}

// quartets splits the coefficients into groups of four neighbours, each a short chain. xx is x².
func (t *target) quartets(coefs []float64, x, xx vector) vector {
	var p vector
	fourth := t.mul(xx, xx)
	for _, c := range slices.Backward(slices.Collect(slices.Chunk(coefs, 4))) {
		if q := t.horner(c, x); p == nil {
			p = q
		} else {
			p = t.times(p, fourth, q)
		}
	}
	return p
}

// coefs returns the coefficients of a polynomial for the size of the elements.
func (t *target) coefs(name string) []float64 { return coefficients[fmt.Sprint(name, t.bits)] }

// pick returns the value for the size of the elements.
func pick[T any](t *target, single, double T) T {
	if t.bits == 32 {
		return single
	}
	return double
}

// ln2 returns ln 2 in two parts. The first has so few bits that its products with exponents are
// exact, and is not above ln 2, so that the second is positive and Inf times it is Inf.
func (t *target) ln2() (hi, lo operand.Mem) {
	return t.number(pick(t, 0.693145751953125, math.Float64frombits(0x3fe62e42fee00000))),
		t.number(pick(t, 1.42860682030941723e-6, 1.90821492927058770002e-10))
}

// magic is so large that its last bit stands for 1: adding it rounds to an integer.
func (t *target) magic() operand.Mem { return t.number(pick(t, 0x1.8p23, 0x1.8p52)) }

// sign is 1, -1, 0 or NaN.
func (t *target) sign(x vector) vector {
	up := t.where(t.compare(greater, x, t.number(0)), t.number(1))
	down := t.where(t.compare(less, x, t.number(0)), t.number(-1))
	return t.or(t.or(up, down), t.where(t.compare(unordered, x, x), x))
}

// reduce splits x into n·ln 2 + r, where n is rounded to the nearest integer; r overwrites x.
func (t *target) reduce(x vector) (n, r vector) {
	n = t.times(t.copy(x), t.all(t.number(math.Log2E)), t.magic())
	n = t.sub(n, t.magic())
	return n, t.remainder(x, n)
}

// remainder is x - n·ln 2; it overwrites x.
func (t *target) remainder(x, n vector) vector {
	hi, lo := t.ln2()
	return t.fnma(t.fnma(x, n, hi), n, lo)
}

// clamp limits x to [lo,hi] and keeps NaN.
func (t *target) clamp(x vector, lo, hi float64) vector {
	return t.max(t.all(t.number(lo)), t.min(t.all(t.number(hi)), x))
}

// exp is exact to the last subnormal number. Beyond the bounds the result is 0 or Inf.
func (t *target) exp(x vector) vector { return t.expWithin(x, pick(t, -104.0, -746)) }

// weight is exp, or 0 where that is less than 2²⁴ times the smallest normal number.
func (t *target) weight(x vector) vector {
	bound := pick(t, -126.0, -1022)*math.Ln2 + 24*math.Ln2
	return t.where(t.compare(notBelow, x, t.number(bound)), t.expWithin(x, bound))
}

// expWithin is exp of the greater of x and the least argument, as 2ⁿ·exp(r) with |r| ≤ ln 2/2.
func (t *target) expWithin(x vector, least float64) vector {
	x = t.clamp(x, least, pick(t, 89.0, 710))
	n, r := t.reduce(x)
	return t.scale(t.add(t.near("exp", r), t.number(1)), n)
}

// near is exp(r) - 1 for small r, by the named coefficients.
func (t *target) near(coefs string, r vector) vector {
	rr := t.mul(r, r)
	return t.times(t.polynomial(t.coefs(coefs), r, rr), rr, r)
}

// scale is p·2ⁿ, rounded once.
func (t *target) scale(p, n vector) vector {
	if t.z {
		return t.two("VSCALEFP"+t.s(), p, n)
	}
	// In two steps, since 2ⁿ may be out of range where p·2ⁿ is not; the first step is exact.
	biased := t.biased()
	half := t.times(t.copy(n), t.all(t.number(0.5)), biased)
	rest := t.add(t.sub(n, t.sub(half, biased)), biased)
	return t.mul(t.mul(p, t.power(half)), t.power(rest))
}

// biased returns the number to add to an integer so that the last bits of the sum are those of the
// exponent.
func (t *target) biased() operand.Mem {
	return t.number(pick(t, 0x1.8p23+127, 0x1.8p52+1023))
}

// power is 2ⁿ of n + biased.
func (t *target) power(n vector) vector { return t.shiftLeft(n, pick(t, uint8(23), 52)) }

// expm1 is 2ⁿ·(exp(r) - 1) + (2ⁿ - 1). Near 0, where r would otherwise be too inexact, n is 0;
// below the bound the result is -1.
func (t *target) expm1(x vector) vector {
	x = t.clamp(x, pick(t, -20.0, -40), pick(t, 89.0, 710))
	small := t.compare(less, t.and(x, t.otherBits()), t.number(0.6))
	n := t.sub(t.times(t.copy(x), t.all(t.number(math.Log2E)), t.magic()), t.magic())
	n = t.choose(small, t.zero(), n)
	q := t.near("expm1", t.remainder(t.copy(x), n))
	// Half of 2ⁿ, since 2ⁿ may overflow where the result does not.
	half := t.power(t.add(n, t.number(pick(t, 0x1.8p23+126, 0x1.8p52+1022))))
	p := t.times(t.copy(q), half, t.sub(half, t.number(0.5)))
	p = t.choose(small, q, t.add(p, p))
	return t.or(p, t.and(x, t.signBit())) // expm1(-0) is -0
}

// log is n·ln 2 + log(m).
func (t *target) log(x vector) vector {
	m, n := t.parts(x)
	return t.logEnds(x, t.logOf(t.sub(m, t.number(1)), n))
}

// parts returns m in (√½, √2] and n with m·2ⁿ = x. With AVX-512 n is ±Inf for zero and infinity,
// and m is NaN for negative numbers; with AVX2 [target.logEnds] is for these.
func (t *target) parts(x vector) (m, n vector) {
	if t.z {
		n, m = t.vector(), t.vector()
		t.emit("VGETEXPP"+t.s(), x, n)
		t.emit("VGETMANTP"+t.s(), operand.Imm(8), x, m)
		k := t.compare(greater, m, t.number(math.Sqrt2))
		t.emit("VMULP"+t.s(), t.number(0.5), m, k, m)
		t.emit("VADDP"+t.s(), t.number(1), n, k, n)
		return m, n
	}
	// Subnormal numbers are scaled.
	tiny := t.compare(less, x, t.number(pick(t, 0x1p-126, 0x1p-1022)))
	m, n = t.split(t.choose(tiny, t.mul(x, t.number(0x1p54)), x))
	return m, t.sub(n, t.where(tiny, t.number(54)))
}

// logEnds is a logarithm of x, given that of its parts.
func (t *target) logEnds(x, res vector) vector {
	if t.z {
		return res
	}
	res = t.choose(t.compare(equal, x, t.number(0)), t.all(t.number(math.Inf(-1))), res)
	res = t.choose(t.compare(less, x, t.number(0)), t.nan(), res)
	return t.choose(t.compare(notBelow, x, t.number(math.Inf(1))), t.add(x, x), res)
}

// split returns m in (√½, √2] and n with m·2ⁿ = x, for positive finite numbers.
func (t *target) split(x vector) (m, n vector) {
	mantissa, bias := pick(t, uint8(23), 52), pick(t, 127.0, 1023)
	one, root := math.Float64bits(1), math.Float64bits(math.Sqrt2/2)+1
	if t.bits == 32 {
		one, root = uint64(math.Float32bits(1)), uint64(math.Float32bits(math.Sqrt2/2)+1)
	}
	i := t.addInt(x, t.pattern(one-root))
	if t.bits == 32 {
		n = t.vector()
		t.VCVTDQ2PS(t.shiftRight(i, mantissa), n)
		n = t.sub(n, t.number(bias))
	} else {
		n = t.sub(t.or(t.shiftRight(i, mantissa), t.number(0x1p52)), t.number(0x1p52+bias))
	}
	return t.addInt(t.and(i, t.pattern(1<<mantissa-1)), t.pattern(root)), n
}

// logOf is n·ln 2 + log(1+f), without n the latter alone.
func (t *target) logOf(f, n vector) vector {
	hi, lo := t.ln2()
	turns := func(y vector, part operand.Mem) vector {
		if n == nil {
			return y
		}
		return t.fma(y, n, part)
	}
	if t.bits == 32 {
		// f - f²/2 + f³·q(f)
		z := t.mul(f, f)
		y := t.mul(t.mul(t.polynomial(t.coefs("log"), f, z), f), z)
		y = t.fnma(turns(y, lo), z, t.number(0.5))
		return turns(t.add(f, y), hi)
	}
	// With s = f/(2+f), log(1+f) = 2·atanh(s) = f - (f²/2 - s·(f²/2 + s²·q(s²))).
	s := t.div(f, t.add(f, t.number(2)))
	z := t.mul(s, s)
	q := t.mul(t.polynomial(t.coefs("log"), z, t.mul(z, z)), z)
	h := t.mul(t.mul(f, f), t.number(0.5))
	y := turns(t.mul(s, t.add(h, q)), lo)
	return turns(t.sub(f, t.sub(h, y)), hi)
}

// log1p is the logarithm of u = 1+x, with the rounding error of u added to its mantissa.
func (t *target) log1p(x vector) vector {
	u := t.add(x, t.number(1))
	e := t.sub(x, t.sub(u, t.number(1)))
	m, n := t.split(u)
	// Where n is large, e does not count, and 2⁻ⁿ might be out of range.
	inverse := t.power(t.sub(t.all(t.biased()), t.min(n, t.number(100))))
	res := t.logOf(t.fma(t.sub(m, t.number(1)), e, inverse), n)
	res = t.or(res, t.and(x, t.signBit())) // log1p(-0) is -0
	res = t.choose(t.compare(equal, x, t.number(-1)), t.all(t.number(math.Inf(-1))), res)
	res = t.choose(t.compare(less, x, t.number(-1)), t.nan(), res)
	return t.choose(t.compare(notBelow, x, t.number(math.Inf(1))), x, res)
}

// asinh is log1p(x + x²/(1 + √(x²+1))) of |x|, with the sign of x; where x² might be infinite it is
// log(2x), and 1 + x is x.
func (t *target) asinh(x vector) vector {
	a := t.and(x, t.otherBits())
	root := t.sqrt(t.times(t.copy(a), a, t.number(1)))
	u := t.add(a, t.div(t.mul(a, a), t.add(root, t.number(1))))
	great := t.compare(greater, a, t.number(pick(t, 0x1p30, 0x1p60)))
	y := t.log1p(t.choose(great, a, u))
	y = t.add(y, t.where(great, t.number(math.Ln2)))
	return t.or(y, t.and(x, t.signBit()))
}

// atan is offset + u + u·z·q(z) of |x|, with z = u² and |u| ≤ 0.6: u is |x| near 0, else
// (|x|-1)/(|x|+1) with offset π/4, or -1/|x| with offset π/2. The offset is in two parts.
func (t *target) atan(x vector) vector {
	a, sign := t.and(x, t.otherBits()), t.and(x, t.signBit())
	middle := t.compare(greater, a, t.number(0.6))
	great := t.compare(greater, a, t.number(1/0.6))
	one := t.all(t.number(1))
	over := t.choose(great, t.all(t.number(-1)), t.choose(middle, t.sub(a, one), a))
	under := t.choose(great, a, t.choose(middle, t.add(a, one), one))
	half := t.choose(great, one, t.where(middle, t.number(0.5))) // of π/2
	u := t.div(over, under)
	z := t.mul(u, u)
	p := t.mul(t.mul(t.polynomial(t.coefs("atan"), z, t.mul(z, z)), z), u)
	hi, lo := pick(t, float64(float32(math.Pi/2)), math.Pi/2), pick(t, math.Pi/2-float64(float32(math.Pi/2)), 0x1.1a62633145c07p-54)
	p = t.add(u, t.fma(p, half, t.number(lo)))
	return t.or(t.times(half, t.all(t.number(hi)), p), sign)
}

// sigmoid is c/(c + c·exp(-x)) with c = 2⁻⁶⁴, so that the sum is finite wherever the quotient is
// not 0. There exp(-x) is 2ⁿ·exp(r), and the exponent of c·2ⁿ is that of a normal number.
func (t *target) sigmoid(x vector) vector {
	x = t.clamp(x, pick(t, -104.0, -746), 40)
	magic := t.number(pick(t, 0x1.8p23+127-64, 0x1.8p52+1023-64))
	n := t.times(t.copy(x), t.all(t.number(-math.Log2E)), magic)
	power := t.power(n) // c·2ⁿ
	n = t.sub(n, magic)
	hi, lo := t.ln2()
	r := t.fnma(t.fnms(x, n, hi), n, lo)
	c := t.all(t.number(0x1p-64))
	return t.div(c, t.add(t.times(t.near("exp", r), power, power), c))
}

// softplus is max(x,0) + log(1+exp(-|x|)).
func (t *target) softplus(x vector) vector { return t.add(t.max(t.zero(), x), t.log1pDecay(x)) }

// logSigmoid is min(x,0) - log(1+exp(-|x|)), which is -0 where that vanishes.
func (t *target) logSigmoid(x vector) vector {
	return t.sub(t.min(t.all(t.number(math.Copysign(0, -1))), x), t.log1pDecay(x))
}

// log1pDecay is log(1+e) for e = exp(-|x|), exact to the last subnormal number: 2⁶⁴·e has all its
// digits.
func (t *target) log1pDecay(x vector) vector {
	x = t.max(t.all(t.number(pick(t, -104.0, -746))), t.or(x, t.signBit()))
	magic := t.number(pick(t, 0x1.8p23+127+64, 0x1.8p52+1023+64))
	n := t.times(t.copy(x), t.all(t.number(math.Log2E)), magic)
	power := t.power(n)
	r := t.remainder(x, t.sub(n, magic))
	e := t.times(t.near("exp", r), power, power)
	if t.bits == 32 {
		// e + e²·q(e). The signs of the coefficients of q alternate, so that even and odd ones
		// apart would cancel.
		e = t.mul(e, t.number(0x1p-64))
		ee := t.mul(e, e)
		return t.fma(t.copy(e), ee, t.quartets(t.coefs("log1p"), e, ee))
	}
	// With s = e/(1+e/2), log(1+e) = 2·atanh(s/2) = s + s·z·q(z), where z = s².
	s := t.div(e, t.times(t.copy(e), t.all(t.number(0.5)), t.number(0x1p64)))
	z := t.mul(s, s)
	q := t.mul(t.polynomial(t.coefs("log1p"), z, t.mul(z, z)), z)
	return t.times(q, s, s)
}

// tanh is x + x·z·q(z) with z = x² near 0, else 1 - 2/(exp(2x)+1).
func (t *target) tanh(x vector) vector {
	a, sign := t.and(x, t.otherBits()), t.and(x, t.signBit())
	z := t.mul(x, x)
	q := t.mul(t.polynomial(t.coefs("tanh"), z, t.mul(z, z)), z)
	small := t.times(q, x, x)
	e := t.exp(t.add(a, a))
	big := t.sub(t.all(t.number(1)), t.div(t.all(t.number(2)), t.add(e, t.number(1))))
	return t.or(t.choose(t.compare(less, a, t.number(0.625)), small, big), sign)
}

// erf is x + x·q(x²) up to 1, else 1 - exp(p(x-1)).
func (t *target) erf(x vector) vector {
	a, sign := t.and(x, t.otherBits()), t.and(x, t.signBit())
	z := t.mul(x, x)
	small := t.times(t.polynomial(t.coefs("erfNear"), z, t.mul(z, z)), x, x)
	y := t.sub(t.min(t.all(t.number(pick(t, 4.0, 6))), a), t.number(1))
	e := t.exp(t.polynomial(t.coefs("erfFar"), y, t.mul(y, y)))
	big := t.sub(t.all(t.number(1)), e)
	return t.or(t.choose(t.compare(less, a, t.number(1)), small, big), sign)
}
