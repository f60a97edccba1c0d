package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// conversions emits the loops from and to floats of the target's size.
func (t *target) conversions() {
	cast := func(name, doc string, dst, x int, of func(c cell, x vector) vector) {
		t.row(rowLoop{
			name: name, doc: doc, ports: []port{{name: "dst", size: dst}, {name: "x", size: x}}, unroll: 2,
			body: func(c cell) { c.store(0, of(c, c.load(1))) },
		})
	}
	size := t.bytes()
	cast("fromInt", "makes int32 floats.", size, 4, func(c cell, x vector) vector {
		return c.convert(pick(t, "VCVTDQ2PS", "VCVTDQ2PD"), x, size)
	})
	cast("toInt", "drops the fraction: NaN gives 0, and what is beyond int32 the nearest there is.", 4, size, cell.truncate)
	t.row(rowLoop{
		name: "fromBool", doc: "makes 1 and 0 of true and false.",
		ports: []port{{name: "dst", size: size}, {name: "x", size: 1}}, unroll: 2,
		body: func(c cell) { c.store(0, c.where(c.loadBools(1), c.number(1))) },
	})
	if t.bits == 32 {
		t.bytesOf("Uint8", "VPMOVZXBD", "VPACKUSWB", 0, math.MaxUint8)
		t.bytesOf("Int8", "VPMOVSXBD", "VPACKSSWB", math.MinInt8, math.MaxInt8)
	}
	if t.bits == 64 {
		cast("fromFloat", "makes float32 float64.", 8, 4, func(c cell, x vector) vector { return c.convert("VCVTPS2PD", x, 8) })
		cast("toFloat", "rounds float64 to float32.", 4, 8, func(c cell, x vector) vector { return c.convert("VCVTPD2PS"+c.y(), x, 4) })
	}
}

// bytesOf emits the loops from and to integers of a byte, which two instructions widen and narrow.
func (t *target) bytesOf(name, widen, narrow string, least, greatest float64) {
	t.row(rowLoop{
		name: "from" + name, doc: "makes integers of a byte floats.",
		ports: []port{{name: "dst", size: t.bytes()}, {name: "x", size: 1}}, unroll: 2,
		body: func(c cell) {
			x := c.register(4)
			c.emit(widen, c.loadBytes(1), x)
			c.store(0, c.convert("VCVTDQ2PS", x, 4))
		},
	})
	t.row(rowLoop{
		name: "to" + name, doc: "drops the fraction: NaN gives 0, and what is beyond the integers of a byte the nearest there is.",
		ports: []port{{name: "dst", size: 1}, {name: "x", size: t.bytes()}}, unroll: 2,
		body: func(c cell) {
			x := c.load(1)
			x = c.where(c.compare(ordered, x, x), x)
			x = c.convert("VCVTTPS2DQ", c.max(c.min(x, c.number(greatest)), c.number(least)), 4)
			bytes := c.XMM()
			if c.z {
				c.VPMOVDB(x, bytes)
			} else {
				upper := c.XMM()
				c.VEXTRACTI128(operand.Imm(1), x, upper)
				c.VPACKSSDW(upper, x.(reg.VecVirtual).AsX(), bytes)
				c.emit(narrow, bytes, bytes, bytes)
			}
			c.storeBytes(0, bytes)
		},
	})
}

// y returns the suffix of instructions that narrow float64, whose operands do not tell their size.
func (c cell) y() string {
	if c.z {
		return ""
	}
	return "Y"
}

// convert returns the elements converted to another size.
func (c cell) convert(instruction string, x vector, size int) vector {
	r := c.register(size)
	c.emit(instruction, x, r)
	return r
}

// truncate converts to int32; the instruction gives the least integer for numbers that it cannot
// convert.
func (c cell) truncate(x vector) vector {
	x = c.where(c.compare(ordered, x, x), x)
	if c.bits == 64 {
		return c.convert("VCVTTPD2DQ"+c.y(), c.min(x, c.number(math.MaxInt32)), 4)
	}
	r := c.convert("VCVTTPS2DQ", x, 4)
	great := c.compare(notBelow, x, c.number(1<<31))
	return c.choose(great, c.all(c.pattern(math.MaxInt32)), r)
}

// exponentials emits the loop of softmax.
func (t *target) exponentials() {
	var sums []vector
	size := t.bytes()
	t.row(rowLoop{
		name: "expSum", doc: "is exp(x - peak), 0 where that is tiny, with a peak per row; sum is that of each row.",
		ports:  []port{{name: "dst", size: size}, {name: "sum", size: size, dense: true}, {name: "x", size: size}, {name: "peak", size: size, once: true}},
		unroll: 2,
		before: func(*rowLoop) { sums = t.zeros() },
		body: func(c cell) {
			e := c.weight(c.sub(c.load(2), c.load(3)))
			c.store(0, e)
			sum := sums[c.nth]
			switch {
			case !c.part:
				c.emit("VADDP"+c.s(), e, sum, sum)
			case c.z:
				c.emit("VADDP"+c.s(), e, sum, c.rest, sum)
			default:
				c.emit("VADDP"+c.s(), c.where(c.restOf(size), e), sum, sum)
			}
		},
		after: func(r *rowLoop) { t.storeScalar(t.sumOf(sums[:2]), r.pointers[1]) },
	})
}
