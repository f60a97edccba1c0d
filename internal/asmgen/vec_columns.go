package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columnFolds emits the reductions of columns.
func (t *target) columnFolds() {
	sum := &columns{target: t, size: 8, combine: func(a, b vector) vector { return t.add(a, b) }}
	sum.accumulate = sum.addWide
	sum.emitFold("columnSum", "adds the sum of each column of x to acc, of float64.")
	square := &columns{target: t, size: 8, combine: sum.combine, deviates: true}
	square.accumulate = square.addWide
	square.emitFold("columnDeviation", "adds the squares of the differences of each column of x from its mean to acc, of float64.")
	if t.bits == 32 {
		narrow := &columns{target: t, size: 4, combine: sum.combine}
		narrow.accumulate = func(v vector, rest mask) { narrow.into(t, 0, v, rest) }
		narrow.emitFold("columnAdd", "adds the sum of each column of x to acc.")
	}
	for _, f := range []struct {
		name, doc string
		greatest  bool
	}{
		{"columnMax", "makes acc the greatest of it and each column of x, or NaN.", true},
		{"columnMin", "makes acc the least of it and each column of x, or NaN.", false},
	} {
		best := &columns{target: t, size: t.bytes(), combine: func(a, b vector) vector { return t.extreme(f.greatest, a, b) }}
		best.accumulate = func(v vector, rest mask) { best.into(t, 0, v, rest) }
		best.emitFold(f.name, f.doc)
	}
}

// columns is the state of a pass of a fold of columns: p points at its rows, q at the row four
// further on.
type columns struct {
	*target
	size                            int // bytes of an element of acc
	combine                         func(a, b vector) vector
	accumulate                      func(v vector, rest mask)
	deviates                        bool // squares of differences from means are combined
	p, q, acc, left, stride, thrice gpr
	mean                            gpr
}

// emitFold emits the function. It combines eight rows with each other and then with acc; of the
// rows that are left it does four, two and one, so that a few rows cost few passes over acc.
func (c *columns) emitFold(name, doc string) {
	operands := "acc, x"
	if c.deviates {
		operands, c.mean = "acc, x, mean", c.GP64()
	}
	c.start(name, "func("+operands+" *byte, rows, cols, xStride int)", doc)
	c.p, c.q, c.acc, c.left, c.stride, c.thrice = c.GP64(), c.GP64(), c.GP64(), c.GP64(), c.GP64(), c.GP64()
	rows := c.Load(c.Param("rows"), c.GP64())
	x := c.Load(c.Param("x"), c.GP64())
	c.Load(c.Param("xStride"), c.stride)
	c.LEAQ(operand.Mem{Base: c.stride, Index: c.stride, Scale: 2}, c.thrice)
	for _, n := range []int{8, 4, 2, 1} {
		pass, end := c.label("pass"), c.label("end")
		c.CMPQ(rows, operand.Imm(uint64(n)))
		c.JLT(operand.LabelRef(end))
		c.Label(pass)
		c.MOVQ(x, c.p)
		if n > 4 {
			c.LEAQ(operand.Mem{Base: x, Index: c.stride, Scale: 4}, c.q)
		}
		c.pass(n)
		c.LEAQ(operand.Mem{Base: x, Index: c.stride, Scale: uint8(n)}, x)
		c.SUBQ(operand.Imm(uint64(n)), rows)
		if n == 8 {
			c.CMPQ(rows, operand.Imm(uint64(n)))
			c.JGE(operand.LabelRef(pass))
		}
		c.Label(end)
	}
	c.end()
}

// pass combines n rows, a power of two up to 8, with acc.
func (c *columns) pass(n int) {
	c.Load(c.Param("acc"), c.acc)
	c.Load(c.Param("cols"), c.left)
	if c.deviates {
		c.Load(c.Param("mean"), c.mean)
	}
	full, part, end := c.label("vectors"), c.label("part"), c.label("done")
	lanes := c.lanes()
	c.CMPQ(c.left, operand.Imm(uint64(lanes)))
	c.JLT(operand.LabelRef(part))
	c.Label(full)
	c.accumulate(c.load(n, nil), nil)
	c.ADDQ(operand.Imm(uint64(lanes*c.bytes())), c.p)
	if n > 4 {
		c.ADDQ(operand.Imm(uint64(lanes*c.bytes())), c.q)
	}
	if c.deviates {
		c.ADDQ(operand.Imm(uint64(lanes*c.bytes())), c.mean)
	}
	c.ADDQ(operand.Imm(uint64(lanes*c.size)), c.acc)
	c.SUBQ(operand.Imm(uint64(lanes)), c.left)
	c.CMPQ(c.left, operand.Imm(uint64(lanes)))
	c.JGE(operand.LabelRef(full))
	c.Label(part)
	c.TESTQ(c.left, c.left)
	c.JLE(operand.LabelRef(end))
	rest := c.first(c.left)
	c.accumulate(c.load(n, rest), rest)
	c.Label(end)
}

// load combines a vector of each of n rows.
func (c *columns) load(n int, rest mask) vector {
	var vs []vector
	var mean vector
	if c.deviates {
		mean = c.read(c.bytes(), operand.Mem{Base: c.mean}, c.vector(), rest)
	}
	for i := range n {
		at := operand.Mem{Base: c.p}
		if i >= 4 {
			at.Base = c.q
		}
		switch i % 4 {
		case 1, 2:
			at.Index, at.Scale = c.stride, uint8(i%4)
		case 3:
			at.Index, at.Scale = c.thrice, 1
		}
		v := c.read(c.bytes(), at, c.vector(), rest)
		if c.deviates {
			v = c.sub(v, mean)
			v = c.mul(v, v)
		}
		vs = append(vs, v)
	}
	return pairwise(vs, c.combine)
}

// pairwise combines neighbours until one is left.
func pairwise(vs []vector, combine func(a, b vector) vector) vector {
	for len(vs) > 1 {
		var half []vector
		for i := 0; i < len(vs); i += 2 {
			half = append(half, combine(vs[i], vs[i+1]))
		}
		vs = half
	}
	return vs[0]
}

// addWide adds v to acc, whose elements are float64.
func (c *columns) addWide(v vector, rest mask) {
	wide := *c.target
	wide.bits = 64
	if c.bits == 64 {
		c.into(&wide, 0, v, rest)
		return
	}
	var low, high vector
	var restLow, restHigh mask
	if c.z {
		y := c.YMM()
		c.VEXTRACTF64X4(operand.Imm(1), v, y)
		low, high = c.ZMM(), c.ZMM()
		c.VCVTPS2PD(v.AsY(), low)
		c.VCVTPS2PD(y, high)
		if rest != nil {
			k := c.K()
			c.KSHIFTRW(operand.Imm(8), rest, k)
			restLow, restHigh = rest, k
		}
	} else {
		x := c.XMM()
		c.VEXTRACTF128(operand.Imm(1), v, x)
		low, high = c.YMM(), c.YMM()
		c.VCVTPS2PD(v.AsX(), low)
		c.VCVTPS2PD(x, high)
		if rest != nil {
			x, l, h := c.XMM(), c.YMM(), c.YMM()
			c.VEXTRACTF128(operand.Imm(1), rest, x)
			c.VPMOVSXDQ(rest.(reg.Vec).AsX(), l)
			c.VPMOVSXDQ(x, h)
			restLow, restHigh = l, h
		}
	}
	c.into(&wide, 0, low, restLow)
	c.into(&wide, c.lanes()/2*8, high, restHigh)
}

// into combines v, whose elements are of t's type, with acc at the offset.
func (c *columns) into(t *target, offset int, v vector, rest mask) {
	at := operand.Mem{Base: c.acc, Disp: offset}
	old := t.read(t.bytes(), at, t.vector(), rest)
	if t.bits != c.bits {
		v = t.add(v, old)
	} else {
		v = c.combine(v, old)
	}
	t.write(t.bytes(), v, at, rest)
}
