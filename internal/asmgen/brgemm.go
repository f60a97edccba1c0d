package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// brgemm emits the micro-kernels of batch-reduced products: the tile of gemm's dot product, summed
// over a batch of operands that lie a stride apart, and the same of rows instead of numbers, element
// by element. The rows of a window are such a batch.
func brgemm(c *build.Context) {
	for _, z := range []bool{true, false} {
		for _, bits := range []int{32, 64} {
			t := &target{Context: c, z: z, bits: bits}
			t.batchReduce()
			t.windowReduce()
			if bits == 32 {
				t.quadReduce()
			}
		}
	}
	(&target{Context: c, bits: 32}).quadColumns()
	ones(c)
}

// batchReduce emits the function that computes a tile.
func (t *target) batchReduce() {
	rows, vectors := dot.largest(t)
	t.start("batchReduce", "func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int, "+
		"c *byte, rowC int, accumulate bool)", fmt.Sprintf("Σ_q Σ_p a[q,i,p]·b[q,p,j], for at most %d×%d results.", rows, vectors*t.lanes()))
	t.bodies(dot, (*tile).emitBatchSums)
}

// windows are the products of elements of two rows.
var windows = term{"windows", dot.avx512, dot.avx2, "a[q,i,p,j]·b[q,p,j]"}

// windowReduce emits the function that computes a tile whose sums are of products of rows.
func (t *target) windowReduce() {
	rows, vectors := windows.largest(t)
	t.start("windowReduce", "func(rows, cols, k, batch int, a *byte, rowA, colA, nextA int, b *byte, rowB, nextB int, "+
		"c *byte, rowC int, accumulate bool)", fmt.Sprintf("Σ_q Σ_p %s, for at most %d×%d results.", windows.description, rows, vectors*t.lanes()))
	t.bodies(windows, (*tile).emitBatchSums)
}

// emitBatchSums sums over the batch and over p.
func (t *tile) emitBatchSums() {
	sum := t.each(func(i, j int) vector { return t.zero() })
	a := t.matrix("a", "rowA")
	colA := t.Load(t.Param("colA"), t.GP64())
	b := t.Load(t.Param("b"), t.GP64())
	rowB := t.Load(t.Param("rowB"), t.GP64())
	k := t.Load(t.Param("k"), t.GP64())
	batch := t.Load(t.Param("batch"), t.GP64())
	next, loop, done := t.label("next"), t.label("loop"), t.label("done")
	t.TESTQ(k, k)
	t.JZ(operand.LabelRef(done))
	t.TESTQ(batch, batch)
	t.JZ(operand.LabelRef(done))
	jumpA, jumpB := t.jump("nextA", colA, k), t.jump("nextB", rowB, k)
	t.Label(next)
	t.Load(t.Param("k"), k)
	t.Label(loop)
	right := t.row(b)
	if t.name == quads.name {
		right = t.widened(right)
	}
	for i := range t.rows {
		switch t.name {
		case windows.name:
			t.addProducts(a, i, right, sum[i])
		case quads.name:
			t.addQuads(a.at(i, 0), right, sum[i])
		default:
			t.addTerms(a.at(i, 0), matrix{}, i, right, nil, sum[i])
		}
	}
	t.advance(a, colA)
	t.ADDQ(rowB, b)
	t.DECQ(k)
	t.JNZ(operand.LabelRef(loop))
	t.advance(a, jumpA)
	t.ADDQ(jumpB, b)
	t.DECQ(batch)
	t.JNZ(operand.LabelRef(next))
	t.Label(done)
	t.emitResults(sum)
	t.end()
}

// jump returns the distance from the end of one product's k steps to the start of the next.
func (t *tile) jump(next string, step, k reg.Register) reg.Register {
	passed, jump := t.GP64(), t.GP64()
	t.MOVQ(k, passed)
	t.IMULQ(step, passed)
	t.Load(t.Param(next), jump)
	t.SUBQ(passed, jump)
	return jump
}

// addProducts adds the products of row i of a with b, element by element.
func (t *tile) addProducts(a matrix, i int, b, sum []vector) {
	for j := range b {
		at := a.at(i, j*t.width())
		if e := t.at(j); e.mask != nil || e.ones != nil {
			t.float("VFMADD231P*", t.loadInside(at, e), b[j], sum[j])
		} else {
			t.float("VFMADD231P*", at, b[j], sum[j])
		}
	}
}
