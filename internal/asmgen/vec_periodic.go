package main

import "math"

// periodic emits sine and cosine. Elements so large that the remainder needs more digits of π stay
// as they are; the emitted function reports whether there was one.
func (t *target) periodic() {
	limit := t.number(pick(t, 0x1p13, 0x1p30))
	for _, f := range functions {
		if !f.Periodic {
			continue
		}
		var beyond mask
		t.row(rowLoop{
			name: f.Name, doc: "of each element: " + f.Name + ".", result: "bool",
			ports:  []port{{name: "dst", size: t.bytes()}, {name: "x", size: t.bytes()}},
			unroll: 1,
			enter:  func() { beyond = t.noMask() },
			body: func(c cell) {
				x := c.load(1)
				great := t.compare(greater, t.and(x, t.otherBits()), limit)
				t.unite(beyond, great)
				c.store(0, t.choose(great, x, f.of(t, x)))
			},
			leave: func() {
				t.testMask(beyond)
				r := t.GP8()
				t.SETNE(r)
				t.Store(r, t.ReturnIndex(0))
			},
		})
	}
}

// sin is the sine or the cosine of the remainder.
func (t *target) sin(x vector) vector {
	n, r := t.quadrant(x)
	return t.choose(t.compare(equal, x, t.number(0)), x, t.turned(n, r)) // sin(-0) is -0
}

// cos is the sine one quadrant on.
func (t *target) cos(x vector) vector {
	n, r := t.quadrant(x)
	return t.turned(t.addInt(n, t.pattern(1)), r)
}

// quadrant splits x into n·π/2 + r. The last bits of n, an integer, are those of a number that
// magic was added to. The first part of π/2 has all the bits of a float: the remainder of x is
// exact nevertheless, since it is a small multiple of their last bit.
func (t *target) quadrant(x vector) (n, r vector) {
	n = t.times(t.copy(x), t.all(t.number(2/math.Pi)), t.magic())
	turns := t.sub(n, t.magic())
	r = t.copy(x)
	for _, part := range pick(t, []float64{1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15},
		[]float64{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33}) {
		r = t.fnma(r, turns, t.number(part))
	}
	return n, r
}

// turned is sin(r + n·π/2) for |r| a little over π/4 at most.
func (t *target) turned(n, r vector) vector {
	z := t.mul(r, r)
	zz := t.mul(z, z)
	odd := t.mul(t.polynomial(t.coefs("sin"), z, zz), z)
	odd = t.times(odd, r, r)
	// 1 - z/2, and its rounding error.
	half := t.all(t.number(-0.5))
	near := t.times(t.copy(z), half, t.number(1))
	rest := t.fma(t.sub(t.all(t.number(1)), near), z, half)
	even := t.add(near, t.fma(rest, zz, t.polynomial(t.coefs("cos"), z, zz)))
	sign := t.shiftLeft(t.and(n, t.pattern(2)), uint8(t.bits-2))
	return t.xor(t.choose(t.lastBit(n), even, odd), sign)
}

// lastBit marks odd integers.
func (t *target) lastBit(n vector) mask {
	if !t.z {
		return t.shiftLeft(n, uint8(t.bits-1)) // choose looks at the first bit alone
	}
	k := t.K()
	t.emit("VPTESTM"+t.d(), t.pattern(1), n, k)
	return k
}

// noMask marks nothing.
func (t *target) noMask() mask {
	if !t.z {
		return t.zero()
	}
	k := t.K()
	t.KXORW(k, k, k)
	return k
}

// unite adds what more marks to m.
func (t *target) unite(m, more mask) {
	if t.z {
		t.KORW(more, m, m)
	} else {
		t.VORPS(more, m, m)
	}
}

// testMask sets the zero flag if nothing is marked.
func (t *target) testMask(m mask) {
	if t.z {
		t.KORTESTW(m, m)
	} else {
		t.VPTEST(m, m)
	}
}
