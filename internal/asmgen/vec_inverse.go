package main

import "math"

// Powers and logarithms to other bases than e, hyperbolic functions and the inverses of these and
// of sine and cosine.

// exp2 is 2ⁿ·exp(r·ln 2), where r is exact.
func (t *target) exp2(x vector) vector {
	x = t.clamp(x, pick(t, -151.0, -1076), pick(t, 129.0, 1025))
	n := t.sub(t.add(x, t.magic()), t.magic())
	return t.scale(t.add(t.near("exp", t.mul(t.sub(x, n), t.number(math.Ln2))), t.number(1)), n)
}

// log2 is n + log(m)/ln 2.
func (t *target) log2(x vector) vector {
	m, n := t.parts(x)
	return t.logEnds(x, t.fma(n, t.logOf(t.sub(m, t.number(1)), nil), t.number(math.Log2E)))
}

// log10 is n·log₁₀ 2 + log(m)/ln 10. The first part of log₁₀ 2 has so few bits that its products
// with exponents are exact, and the second is positive.
func (t *target) log10(x vector) vector {
	m, n := t.parts(x)
	y := t.mul(t.logOf(t.sub(m, t.number(1)), nil), t.number(math.Log10E))
	y = t.fma(y, n, t.number(pick(t, 4.6050389811952137389e-6, 2.8363394551044964437e-14)))
	return t.logEnds(x, t.fma(y, n, t.number(pick(t, 0.301025390625, 0.30102999566395283182))))
}

// halfExp is exp(a)/2, which is finite where the hyperbolic functions are.
func (t *target) halfExp(a vector) vector {
	n, r := t.reduce(t.clamp(a, 0, pick(t, 90.0, 711)))
	return t.scale(t.add(t.near("exp", r), t.number(1)), t.sub(n, t.number(1)))
}

// cosh is e + ¼/e with e = exp|x|/2.
func (t *target) cosh(x vector) vector {
	e := t.halfExp(t.and(x, t.otherBits()))
	return t.add(e, t.div(t.all(t.number(0.25)), e))
}

// sinh is x + x·z·q(z) with z = x² up to 1, else e - ¼/e.
func (t *target) sinh(x vector) vector {
	a, sign := t.and(x, t.otherBits()), t.and(x, t.signBit())
	z := t.mul(x, x)
	q := t.mul(t.polynomial(t.coefs("sinh"), z, t.mul(z, z)), z)
	small := t.times(q, a, a)
	e := t.halfExp(a)
	big := t.sub(e, t.div(t.all(t.number(0.25)), e))
	return t.or(t.choose(t.compare(less, a, t.number(1)), small, big), sign)
}

// acosh is log1p(u + √(u·(x+1))) with u = x-1, NaN where that is negative; where x is great, it is
// log(2x), and 1 + x is x.
func (t *target) acosh(x vector) vector {
	u := t.sub(x, t.number(1))
	root := t.sqrt(t.mul(u, t.add(x, t.number(1))))
	great := t.compare(greater, x, t.number(pick(t, 0x1p30, 0x1p60)))
	u = t.choose(great, x, t.add(u, root))
	u = t.choose(t.compare(less, x, t.number(1)), t.nan(), u)
	y := t.log1p(u)
	return t.add(y, t.where(great, t.number(math.Ln2)))
}

// atanh is log1p(2a/(1-a))/2 of a = |x|, with the sign of x.
func (t *target) atanh(x vector) vector {
	a := t.and(x, t.otherBits())
	y := t.log1p(t.div(t.add(a, a), t.sub(t.all(t.number(1)), a)))
	return t.or(t.mul(y, t.number(0.5)), t.and(x, t.signBit()))
}

// arc is s + s·z·q(z), the inverse sine of s, where z = s². Of a = |x| up to ½, s is a; beyond, it
// is √((1-a)/2), the sine of half the angle whose cosine is a.
func (t *target) arc(a vector) (beyond mask, y vector) {
	beyond = t.compare(greater, a, t.number(0.5))
	z := t.choose(beyond, t.mul(t.sub(t.all(t.number(1)), a), t.number(0.5)), t.mul(a, a))
	s := t.choose(beyond, t.sqrt(z), a)
	q := t.mul(t.polynomial(t.coefs("asin"), z, t.mul(z, z)), z)
	return beyond, t.times(q, s, s)
}

// quarter returns π/2 in two parts.
func (t *target) quarter() (hi, lo vector) {
	first := pick(t, float64(float32(math.Pi/2)), math.Pi/2)
	return t.all(t.number(first)), t.all(t.number(pick(t, math.Pi/2-first, 0x1.1a62633145c07p-54)))
}

// asin is the arc of |x|, or π/2 - 2·arc, with the sign of x.
func (t *target) asin(x vector) vector {
	beyond, y := t.arc(t.and(x, t.otherBits()))
	hi, lo := t.quarter()
	far := t.add(hi, t.sub(lo, t.add(y, y)))
	return t.or(t.choose(beyond, far, y), t.and(x, t.signBit()))
}

// acos is π/2 - asin x near 0, else 2·arc, or 2·(π/2 - arc) where x is negative.
func (t *target) acos(x vector) vector {
	beyond, y := t.arc(t.and(x, t.otherBits()))
	signed := t.choose(beyond, y, t.or(y, t.and(x, t.signBit())))
	hi, lo := t.quarter()
	rest := t.add(hi, t.sub(lo, signed))
	res := t.choose(t.compare(greater, x, t.number(0.5)), y, rest)
	return t.add(res, t.where(beyond, res))
}
