package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// matVecRows is the number of rows that the product of a matrix and a vector takes at once: their
// sums hide each other's latency.
const matVecRows = 4

// matVec emits the product of a matrix, the elements of whose rows are side by side, and a vector.
func (t *target) matVec() {
	t.start("matVec", "func(rows, k int, a *byte, rowA int, x, c *byte, stepC int, accumulate bool)", "c[i] (+)= Σ_p a[i,p]·x[p].")
	rows := t.Load(t.Param("rows"), t.GP64())
	a := t.Load(t.Param("a"), t.GP64())
	rowA := t.Load(t.Param("rowA"), t.GP64())
	c := t.Load(t.Param("c"), t.GP64())
	stepC := t.Load(t.Param("stepC"), t.GP64())
	k := t.Load(t.Param("k"), t.GP64())
	last := t.GP64()
	t.MOVQ(k, last)
	t.ANDQ(operand.Imm(uint64(t.lanes()-1)), last)
	end := t.firstLanes(last)
	t.Label("four")
	t.CMPQ(rows, operand.Imm(matVecRows))
	t.JLT(operand.LabelRef("single"))
	t.matVecBody(matVecRows, a, rowA, c, stepC, k, last, end)
	t.SUBQ(operand.Imm(matVecRows), rows)
	t.JMP(operand.LabelRef("four"))
	t.Label("single")
	t.TESTQ(rows, rows)
	t.JZ(operand.LabelRef("done"))
	t.matVecBody(1, a, rowA, c, stepC, k, last, end)
	t.DECQ(rows)
	t.JMP(operand.LabelRef("single"))
	t.Label("done")
	t.end()
}

// matVecBody does n rows and moves on.
func (t *target) matVecBody(n int, a, rowA, c, stepC, k, last reg.Register, end edge) {
	x := t.Load(t.Param("x"), t.GP64())
	sum := make([]vector, n)
	row := make([]reg.GPVirtual, n)
	for i := range sum {
		sum[i], row[i] = t.zero(), t.GP64()
		if i == 0 {
			t.MOVQ(a, row[i])
		} else {
			t.LEAQ(operand.Mem{Base: row[i-1], Index: rowA, Scale: 1}, row[i])
		}
	}
	loop, tail, whole := t.label("loop"), t.label("tail"), t.label("whole")
	left := t.GP64()
	t.MOVQ(k, left)
	t.Label(loop)
	t.SUBQ(operand.Imm(uint64(t.lanes())), left)
	t.JLT(operand.LabelRef(tail))
	right := t.vector()
	t.float("VMOVUP*", operand.Mem{Base: x}, right)
	for i := range sum {
		t.float("VFMADD231P*", operand.Mem{Base: row[i]}, right, sum[i])
		t.ADDQ(operand.Imm(uint64(t.width())), row[i])
	}
	t.ADDQ(operand.Imm(uint64(t.width())), x)
	t.JMP(operand.LabelRef(loop))
	t.Label(tail)
	t.TESTQ(last, last)
	t.JZ(operand.LabelRef(whole))
	right = t.loadInside(operand.Mem{Base: x}, end)
	for i := range sum {
		t.float("VFMADD231P*", t.loadInside(operand.Mem{Base: row[i]}, end), right, sum[i])
	}
	t.Label(whole)
	for i, s := range t.totals(sum) {
		add := t.label("add")
		accumulate := t.Load(t.Param("accumulate"), t.GP32())
		t.TESTL(accumulate, accumulate)
		t.JZ(operand.LabelRef(add))
		t.float("VADDS*", operand.Mem{Base: c}, s, s)
		t.Label(add)
		t.float("VMOVS*", s, operand.Mem{Base: c})
		t.ADDQ(stepC, c)
		if i == 0 {
			t.LEAQ(operand.Mem{Base: a, Index: rowA, Scale: uint8(n)}, a)
		}
	}
}

// totals adds up the lanes of four vectors, or of one. Each total is in the first lane of a
// register.
func (t *target) totals(sums []vector) []reg.VecVirtual {
	half := make([]vector, matVecRows)
	for i := range half {
		v := sums[i%len(sums)]
		half[i] = v
		if t.z && i < len(sums) {
			half[i] = t.YMM()
			t.VEXTRACTF64X4(operand.Imm(1), v, half[i])
			t.float("VADDP*", v.AsY(), half[i], half[i])
		} else if t.z {
			half[i] = half[0]
		}
	}
	hadd := func(a, b vector) vector {
		r := t.YMM()
		t.float("VHADDP*", b, a, r)
		return r
	}
	fold := func(v vector) reg.VecVirtual {
		r := t.XMM()
		t.VEXTRACTF128(operand.Imm(1), v, r)
		t.float("VADDP*", v.AsX(), r, r)
		return r
	}
	var all []reg.VecVirtual
	lanes := 16 / t.bytes()
	for i := 0; i < matVecRows; i += lanes {
		pair := hadd(half[i], half[i+1])
		if lanes == 4 {
			pair = hadd(pair, hadd(half[i+2], half[i+3]))
		}
		f := fold(pair)
		for j := range lanes {
			s := f
			if j > 0 {
				s = t.XMM()
				t.float("VPERMILP*", operand.Imm(uint64(j)), f, s)
			}
			all = append(all, s)
		}
	}
	return all[:len(sums)]
}
