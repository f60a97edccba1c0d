package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanesOfSums is the number of vectors of sums of a row, enough to hide the latency of an addition.
const lanesOfSums = 4

// reductions emits the reductions of rows and of columns.
func (t *target) reductions() {
	size := t.bytes()
	dst, x, y := port{name: "dst", size: size, dense: true}, port{name: "x", size: size}, port{name: "y", size: size}
	t.rowSum("rowSum", "is the sum of each row.", []port{dst, x}, func(c cell, sum vector) {
		c.emit("VADDP"+c.s(), c.load(1), sum, sum)
	})
	t.rowSum("rowSumSquares", "is the sum of the squares of each row.", []port{dst, x}, func(c cell, sum vector) {
		v := c.load(1)
		c.fma(sum, v, v)
	})
	t.rowSum("rowDot", "is the sum of the products of each row of x and of y.", []port{dst, x, y}, func(c cell, sum vector) {
		c.fma(sum, c.load(1), c.load(2))
	})
	mean := port{name: "mean", size: size, once: true}
	t.rowSum("rowDeviation", "is the sum of the squared differences of each row from a mean per row.", []port{dst, x, mean},
		func(c cell, sum vector) {
			d := c.sub(c.loadOr(1, c.load(2)), c.load(2)) // 0 beyond the row
			c.fma(sum, d, d)
		})
	t.row(rowLoop{
		name: "standardise", doc: "is (x - mean)·scale, with a mean and a scale per row.",
		ports:  []port{{name: "dst", size: size}, x, mean, {name: "scale", size: size, once: true}},
		unroll: 4,
		body:   func(c cell) { c.store(0, c.mul(c.sub(c.load(1), c.load(2)), c.load(3))) },
	})
	t.rowExtreme("rowMax", true)
	t.rowExtreme("rowMin", false)
	t.columnFolds()
	t.rowIndex()
}

// rowSum emits a sum over rows; accumulate adds the terms of a cell.
func (t *target) rowSum(name, doc string, ports []port, accumulate func(c cell, sum vector)) {
	var sums []vector
	t.row(rowLoop{
		name: name, doc: doc, ports: ports, unroll: lanesOfSums,
		before: func(*rowLoop) { sums = t.zeros() },
		body:   func(c cell) { accumulate(c, sums[c.nth]) },
		after:  func(r *rowLoop) { t.storeScalar(t.sumOf(sums), r.pointers[0]) },
	})
}

// zeros returns vectors of sums.
func (t *target) zeros() (sums []vector) {
	for range lanesOfSums {
		sums = append(sums, t.zero())
	}
	return sums
}

// sumOf adds all elements of the vectors; the result is in the lowest.
func (t *target) sumOf(vs []vector) vector {
	return t.fold(vs, func(a, b vector) vector { return t.add(a, b) })
}

// fold combines neighbours until one element is left, in the lowest lane.
func (t *target) fold(vs []vector, combine func(a, b vector) vector) vector {
	v := pairwise(vs, combine)
	if v.Size() == 64 {
		high := t.YMM()
		t.VEXTRACTF64X4(operand.Imm(1), v, high)
		v = combine(v.AsY().(vector), high)
	}
	high := t.XMM()
	if t.z { // it has more registers
		t.VEXTRACTF32X4(operand.Imm(1), v, high)
	} else {
		t.VEXTRACTF128(operand.Imm(1), v, high)
	}
	v = combine(v.AsX().(vector), high)
	high = t.XMM()
	t.VPERMILPD(operand.Imm(1), v, high)
	v = combine(v, high)
	if t.bits == 32 {
		high = t.XMM()
		t.VMOVSHDUP(v, high)
		v = combine(v, high)
	}
	return v
}

// storeScalar writes the lowest element.
func (t *target) storeScalar(v vector, to reg.Register) {
	t.emit("VMOVS"+t.s(), v.AsX(), operand.Mem{Base: to})
}

// rowExtreme emits the greatest or the least of each row: NaN where there is one, and -Inf or Inf
// for no elements.
func (t *target) rowExtreme(name string, greatest bool) {
	start, what := math.Inf(1), "least"
	if greatest {
		start, what = math.Inf(-1), "greatest"
	}
	var best []vector
	var nan mask // a NaN was seen
	var held vector
	note := func(a, b vector) {
		t.unite(nan, t.compare(unordered, a, b))
	}
	t.row(rowLoop{
		name: name, doc: "is the " + what + " element of each row, or NaN.",
		ports: []port{{name: "dst", size: t.bytes(), dense: true}, {name: "x", size: t.bytes()}}, unroll: lanesOfSums,
		before: func(*rowLoop) {
			best = nil
			for range lanesOfSums {
				best = append(best, t.all(t.number(start)))
			}
			nan = t.noMask()
		},
		body: func(c cell) {
			b := best[c.nth]
			v := c.loadOr(1, b)
			t.emit("VMOVAP"+t.s(), t.ordered(greatest, b, v), b)
			switch { // one comparison serves two vectors
			case c.of == 1:
				note(v, v)
			case c.nth%2 == 0:
				held = v
			default:
				note(held, v)
			}
		},
		after: func(r *rowLoop) {
			t.storeScalar(t.fold(best, func(a, b vector) vector { return t.ordered(greatest, a, b) }), r.pointers[0])
			number := t.label("number")
			t.testMask(nan)
			t.JEQ(operand.LabelRef(number))
			t.storeScalar(t.nan(), r.pointers[0])
			t.Label(number)
		},
	})
}

// rowIndex emits the search for a number in each row that has it.
func (t *target) rowIndex() {
	size := t.bytes()
	var marks gpr
	var found string
	t.row(rowLoop{
		name: "rowIndex", doc: "is the index, an int64, of the first element of each row that equals value; -1 if value is NaN.",
		ports:  []port{{name: "dst", size: 8, dense: true}, {name: "x", size: size}, {name: "value", size: size, once: true}},
		unroll: 1,
		before: func(*rowLoop) { marks, found = t.GP64(), t.label("found") },
		body: func(c cell) { // zeros beyond the row come after the element in question
			equals := c.compare(equal, c.load(1), c.load(2))
			if c.z {
				c.KMOVW(equals, marks.As32())
			} else {
				c.emit("VMOVMSKP"+c.s(), equals, marks.As32())
			}
			c.TESTL(marks.As32(), marks.As32())
			c.JNE(operand.LabelRef(found))
		},
		after: func(r *rowLoop) {
			store := t.label("store")
			t.MOVQ(operand.I32(-1), marks)
			t.JMP(operand.LabelRef(store))
			t.Label(found)
			t.TZCNTL(marks.As32(), marks.As32())
			t.ADDQ(r.i, marks)
			t.Label(store)
			t.MOVQ(marks, operand.Mem{Base: r.pointers[0]})
		},
	})
}
