package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shortRows emits the copy of rows of at most two vectors.
func (t *target) shortRows() {
	s := term{avx512: [2]int{1, 2}, avx2: [2]int{1, 2}}
	t.start("shortRows", "func(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int)",
		fmt.Sprintf("Copies rows of at most %d elements; rows is above 0.", 2*t.lanes()))
	t.bodies(s, func(b *tile) {
		dst := t.Load(t.Param("dst"), t.GP64())
		src := t.Load(t.Param("src"), t.GP64())
		rowDst := t.Load(t.Param("rowDst"), t.GP64())
		rowSrc := t.Load(t.Param("rowSrc"), t.GP64())
		rows := t.Load(t.Param("rows"), t.GP64())
		loop := t.label("loop")
		t.Label(loop)
		for j, v := range b.row(src) {
			t.storeInside(v, operand.Mem{Base: dst, Disp: j * t.width()}, b.at(j))
		}
		t.ADDQ(rowSrc, src)
		t.ADDQ(rowDst, dst)
		t.DECQ(rows)
		t.JNZ(operand.LabelRef(loop))
		t.end()
	})
}

// transpose emits the transposition of blocks: as many rows as a vector has lanes, and 32 bytes of
// each.
func (t *target) transpose() {
	lanes, quarter := t.lanes(), 16/t.bytes() // a 128-bit lane holds a quarter of a row
	t.start("transpose", "func(dst, src *byte, rows, cols, dstStride, srcStride int)",
		fmt.Sprintf("Copies element i,j of src to element j,i of dst. rows is a multiple of %d and cols of %d, both above 0.", lanes, 2*quarter))
	dst := t.Load(t.Param("dst"), t.GP64())
	src := t.Load(t.Param("src"), t.GP64())
	rows := t.Load(t.Param("rows"), t.GP64())
	dstStride := t.Load(t.Param("dstStride"), t.GP64())
	srcStride := t.Load(t.Param("srcStride"), t.GP64())
	t.Label("rows")
	cols := t.Load(t.Param("cols"), t.GP64())
	from, to := t.strided(src, srcStride, lanes), t.strided(dst, dstStride, 2*quarter)
	t.Label("cols")
	for q := range 2 {
		// Lane l of part i holds elements of row i + l·quarter.
		parts := make([]vector, quarter)
		for i := range parts {
			x := t.XMM()
			t.VMOVUPS(from.at(i, 16*q), x)
			y := t.YMM()
			t.VINSERTF128(operand.Imm(1), from.at(i+quarter, 16*q), x.AsY(), y)
			parts[i] = y
			for l := 2; l < lanes/quarter; l++ {
				z := t.ZMM()
				t.VINSERTF32X4(operand.Imm(uint64(l)), from.at(i+l*quarter, 16*q), parts[i].AsZ(), z)
				parts[i] = z
			}
		}
		for i := 0; quarter == 4 && i < 4; i += 2 {
			parts[i], parts[i+1] = t.two("VUNPCKLPS", parts[i], parts[i+1]), t.two("VUNPCKHPS", parts[i], parts[i+1])
		}
		for i := range quarter {
			name := [...]string{"VUNPCKLPD", "VUNPCKHPD"}[i%2]
			t.VMOVUPS(t.two(name, parts[i/2], parts[i/2+quarter/2]), to.at(q*quarter+i, 0))
		}
	}
	for _, b := range from.base {
		t.ADDQ(operand.Imm(32), b)
	}
	for _, b := range to.base {
		t.LEAQ(operand.Mem{Base: b, Index: dstStride, Scale: uint8(2 * quarter)}, b)
	}
	t.SUBQ(operand.Imm(uint64(2*quarter)), cols)
	t.JNZ(operand.LabelRef("cols"))
	for range lanes / 4 {
		t.LEAQ(operand.Mem{Base: src, Index: srcStride, Scale: 4}, src)
	}
	t.ADDQ(operand.Imm(uint64(t.width())), dst)
	t.SUBQ(operand.Imm(uint64(lanes)), rows)
	t.JNZ(operand.LabelRef("rows"))
	t.end()
}

// stripes address rows a stride apart, by a base for each five.
type stripes struct {
	base         []reg.Register
	step, triple reg.Register
}

// strided copies the addresses of n rows, so that they can be moved.
func (t *target) strided(base, step reg.Register, n int) stripes {
	s := stripes{step: step, triple: t.GP64()}
	t.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, s.triple)
	for i := 0; i < n; i += 5 {
		b := t.GP64()
		if i == 0 {
			t.MOVQ(base, b)
		} else {
			t.LEAQ(operand.Mem{Base: s.base[i/5-1], Index: step, Scale: 4}, b)
			t.ADDQ(step, b)
		}
		s.base = append(s.base, b)
	}
	return s
}

// at returns the address of row i.
func (s stripes) at(i, disp int) operand.Mem {
	m := operand.Mem{Base: s.base[i/5], Disp: disp}
	switch i %= 5; i {
	case 1, 2, 4:
		m.Index, m.Scale = s.step, uint8(i)
	case 3:
		m.Index, m.Scale = s.triple, 1
	}
	return m
}
