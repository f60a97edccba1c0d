package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// first marks the first count elements, at most those of a vector.
func (t *target) first(count gpr) mask {
	if t.z {
		ones, k := t.GP32(), t.K()
		t.MOVL(operand.U32(1<<32-1), ones)
		t.BZHIL(count.As32(), ones, ones)
		t.KMOVW(ones, k)
		return k
	}
	m := t.YMM()
	t.ramp(count, t.bytes(), m)
	return m
}

// ramp marks, for AVX2, the first elements of the size in m.
func (t *target) ramp(count gpr, size int, m vector) {
	ramp, ok := t.pool.byName["ramp"]
	if !ok {
		ramp = t.pool.StaticGlobal("ramp")
		t.pool.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 8 {
			t.pool.AddDatum(8*i, operand.U64(map[bool]uint64{true: 1<<64 - 1}[i < 4]))
		}
		t.pool.byName["ramp"] = ramp
	}
	end, back := t.GP64(), t.GP64()
	t.LEAQ(ramp.Offset(32), end)
	t.MOVQ(count, back)
	t.NEGQ(back)
	t.VMOVDQU(operand.Mem{Base: end, Index: back, Scale: uint8(size)}, m)
}

// read loads elements of the size into r. Where a mask is given, the others are not touched, and
// are zero in r.
func (t *target) read(size int, at operand.Mem, r vector, m mask) vector {
	switch {
	case m == nil:
		t.emit("VMOVUP"+move(size), at, r)
	case t.z:
		t.emit("VMOVUP"+move(size)+"_Z", at, m, r)
	default:
		t.emit("VMASKMOVP"+move(size), at, m, r)
	}
	return r
}

// write stores elements of the size, if a mask is given only those marked.
func (t *target) write(size int, v vector, at operand.Mem, m mask) {
	switch {
	case m == nil:
		t.emit("VMOVUP"+move(size), v, at)
	case t.z:
		t.emit("VMOVUP"+move(size), v, m, at)
	default:
		t.emit("VMASKMOVP"+move(size), v, m, at)
	}
}

// move returns the suffix of moves of elements of the size.
func move(size int) string {
	if size == 8 {
		return "D"
	}
	return "S"
}
