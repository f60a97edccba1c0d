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
	t.block(from.at, to)
	for _, b := range from.base {
		t.ADDQ(operand.Imm(32), b)
	}
	t.down(to, 2*quarter)
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

// collect emits the transposition of blocks whose rows lie anywhere. Each row has a register, and
// there are not enough for 16.
func (t *target) collect() {
	lanes, wide := t.lanes(), 32/t.bytes()
	if lanes > 8 {
		return
	}
	t.start("collect", "func(dst *byte, rows **byte, from, cols, dstStride int)",
		fmt.Sprintf("Copies element from+j of the row that begins at rows[i] to element j,i of dst, for %d rows. cols is a multiple of %d above 0; from counts bytes.", lanes, wide))
	table := t.Load(t.Param("rows"), t.GP64())
	rows := []reg.Register{}
	for i := range lanes {
		row := t.GP64()
		t.MOVQ(operand.Mem{Base: table, Disp: 8 * i}, row)
		rows = append(rows, row)
	}
	to := t.strided(t.Load(t.Param("dst"), t.GP64()), t.Load(t.Param("dstStride"), t.GP64()), wide)
	at := t.Load(t.Param("from"), t.GP64())
	cols := t.Load(t.Param("cols"), t.GP64())
	t.Label("cols")
	t.block(func(i, disp int) operand.Mem { return operand.Mem{Base: rows[i], Index: at, Scale: 1, Disp: disp} }, to)
	t.ADDQ(operand.Imm(32), at)
	t.down(to, wide)
	t.SUBQ(operand.Imm(uint64(wide)), cols)
	t.JNZ(operand.LabelRef("cols"))
	t.end()
}

// down moves the addresses of rows n rows down.
func (t *target) down(rows stripes, n int) {
	for _, b := range rows.base {
		t.LEAQ(operand.Mem{Base: b, Index: rows.step, Scale: uint8(n)}, b)
	}
}

// block transposes 32 bytes of each of as many rows as a vector has lanes.
func (t *target) block(from func(i, disp int) operand.Mem, to stripes) {
	lanes, quarter := t.lanes(), 16/t.bytes() // a 128-bit lane holds a quarter of a row
	for q := range 2 {
		// Lane l of part i holds elements of row i + l·quarter.
		parts := make([]vector, quarter)
		for i := range parts {
			x := t.XMM()
			t.VMOVUPS(from(i, 16*q), x)
			y := t.YMM()
			t.VINSERTF128(operand.Imm(1), from(i+quarter, 16*q), x.AsY(), y)
			parts[i] = y
			for l := 2; l < lanes/quarter; l++ {
				z := t.ZMM()
				t.VINSERTF32X4(operand.Imm(uint64(l)), from(i+l*quarter, 16*q), parts[i].AsZ(), z)
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
