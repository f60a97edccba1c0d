package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quads are the terms of products of integers, of which an element is four neighbours in p: of a
// bytes without a sign, of b with one. AVX512-VNNI has an instruction for four products and their
// sum. AVX2 widens the bytes to 16 bits, those at even and at odd places apart, because its product
// of bytes saturates; that takes registers.
var quads = term{"quads", [2]int{14, 2}, [2]int{4, 2}, "a[q,i,p]·b[q,p,j]"}

// quadReduce emits the function that computes a tile.
func (t *target) quadReduce() {
	rows, vectors := quads.largest(t)
	t.start("quadReduce", "func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int, "+
		"c *byte, rowC int, accumulate bool)", fmt.Sprintf("Σ_q Σ_p %s, where an element is four bytes, whose four products are added, for at most %d×%d results.",
		quads.description, rows, vectors*t.lanes()))
	t.bodies(quads, (*tile).emitBatchSums)
}

// widened returns the bytes of b as AVX2 takes them: for each vector, those at even places and those
// at odd ones.
func (t *tile) widened(b []vector) (both []vector) {
	if t.z {
		return b
	}
	for _, v := range b {
		even, odd := t.vector(), t.vector()
		t.emit("VPSLLW", operand.Imm(8), v, even)
		t.emit("VPSRAW", operand.Imm(8), even, even)
		t.emit("VPSRAW", operand.Imm(8), v, odd)
		both = append(both, even, odd)
	}
	return both
}

// addQuads adds the products of the four bytes at a with each of those of b.
func (t *tile) addQuads(a operand.Mem, b, sum []vector) {
	left := t.vector()
	t.float("VBROADCASTS*", a, left)
	if t.z {
		for j := range b {
			t.emit("VPDPBUSD", b[j], left, sum[j])
		}
		return
	}
	even, product := t.vector(), t.vector()
	t.emit("VPSLLW", operand.Imm(8), left, even)
	t.emit("VPSRLW", operand.Imm(8), even, even)
	t.emit("VPSRLW", operand.Imm(8), left, left)
	for j := range sum {
		for k, x := range []vector{even, left} {
			t.emit("VPMADDWD", b[2*j+k], x, product)
			t.emit("VPADDD", product, sum[j], sum[j])
		}
	}
}

// quadColumns emits the packing of 16 columns of bytes.
func (t *target) quadColumns() {
	t.start("quadColumns", "func(dst *byte, rowDst int, src *byte, rowSrc, quads int)",
		"Lays four rows of 16 bytes out as 16 columns of four, for so many quads of rows, of which there is one at least.")
	dst := t.Load(t.Param("dst"), t.GP64())
	rowDst := t.Load(t.Param("rowDst"), t.GP64())
	src := t.Load(t.Param("src"), t.GP64())
	rowSrc := t.Load(t.Param("rowSrc"), t.GP64())
	left := t.Load(t.Param("quads"), t.GP64())
	triple := t.GP64()
	t.LEAQ(operand.Mem{Base: rowSrc, Index: rowSrc, Scale: 2}, triple)
	loop := t.label("loop")
	t.Label(loop)
	var rows [4]reg.VecVirtual
	for i, from := range []operand.Mem{{Base: src}, {Base: src, Index: rowSrc, Scale: 1}, {Base: src, Index: rowSrc, Scale: 2}, {Base: src, Index: triple, Scale: 1}} {
		rows[i] = t.XMM()
		t.VMOVDQU(from, rows[i])
	}
	low, high := [2]reg.VecVirtual{t.XMM(), t.XMM()}, [2]reg.VecVirtual{t.XMM(), t.XMM()}
	for i := range 2 {
		t.VPUNPCKLBW(rows[2*i+1], rows[2*i], low[i])
		t.VPUNPCKHBW(rows[2*i+1], rows[2*i], high[i])
	}
	for i, half := range [2][2]reg.VecVirtual{low, high} {
		first, second := t.XMM(), t.XMM()
		t.VPUNPCKLWD(half[1], half[0], first)
		t.VPUNPCKHWD(half[1], half[0], second)
		t.VMOVDQU(first, operand.Mem{Base: dst, Disp: 32 * i})
		t.VMOVDQU(second, operand.Mem{Base: dst, Disp: 32*i + 16})
	}
	t.LEAQ(operand.Mem{Base: src, Index: rowSrc, Scale: 4}, src)
	t.ADDQ(rowDst, dst)
	t.DECQ(left)
	t.JNZ(operand.LabelRef(loop))
	t.end()
}
