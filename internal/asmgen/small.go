package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mostTerms is the largest number of terms of a small product: the rows of its right operand stay
// in registers.
const mostTerms = 8

// small emits the products of batches of small matrices. A row of results is a vector.
func small(c *build.Context) {
	for _, z := range []bool{false, true} {
		for _, bits := range []int{32, 64} {
			t := &target{Context: c, z: z, bits: bits}
			t.smallProducts("smallProducts", 32)
			if z && bits == 64 {
				t.smallProducts("smallWide", 64)
			}
		}
	}
	ones(c)
}

// A smallProduct is a body for a number of terms.
type smallProduct struct {
	*target
	width int // bytes of a vector
	terms int
	edge
}

// smallProducts emits the function for vectors of so many bytes.
func (t *target) smallProducts(name string, width int) {
	t.start(name, "func(batch, m, n, k int, a *byte, nextA, rowA, colA int, b *byte, nextB, rowB int, c *byte, rowC int)",
		fmt.Sprintf("c[q,i,j] = Σ_p a[q,i,p]·b[q,p,j], for n up to %d and k from 1 to %d.", width/t.bytes(), mostTerms))
	k := t.Load(t.Param("k"), t.GP64())
	for terms := 1; terms < mostTerms; terms++ {
		t.CMPQ(k, operand.Imm(uint64(terms)))
		t.JE(operand.LabelRef(fmt.Sprint("terms", terms)))
	}
	for terms := mostTerms; terms > 0; terms-- {
		t.Label(fmt.Sprint("terms", terms))
		n := t.Load(t.Param("n"), t.GP64())
		(&smallProduct{t, width, terms, t.firstLanes(n)}).emit()
	}
}

// register returns a register for a row.
func (s *smallProduct) register() reg.VecVirtual {
	if s.width == 64 {
		return s.ZMM()
	}
	return s.YMM()
}

// emit emits the body, which returns from the function.
func (s *smallProduct) emit() {
	batch := s.Load(s.Param("batch"), s.GP64())
	a := (&tile{target: s.target, rows: s.terms}).matrix("a", "colA") // the elements of a row
	rowA := s.Load(s.Param("rowA"), s.GP64())
	b := s.Load(s.Param("b"), s.GP64())
	c := s.Load(s.Param("c"), s.GP64())
	rowC := s.Load(s.Param("rowC"), s.GP64())
	inside := s.register()
	if !s.z {
		s.VMOVDQU(s.ones, inside)
	}
	next, row, done := s.label("next"), s.label("row"), s.label("done")
	s.TESTQ(batch, batch)
	s.JZ(operand.LabelRef(done))
	s.Label(next)
	from := s.GP64()
	s.MOVQ(b, from)
	right := make([]reg.VecVirtual, s.terms)
	for p := range right {
		right[p] = s.register()
		if s.z {
			s.float("VMOVUP*_Z", operand.Mem{Base: from}, s.mask, right[p])
		} else {
			s.float("VMASKMOVP*", operand.Mem{Base: from}, inside, right[p])
		}
		if p+1 < s.terms {
			rowB := s.Load(s.Param("rowB"), s.GP64())
			s.ADDQ(rowB, from)
		}
	}
	m := s.Load(s.Param("m"), s.GP64())
	start := s.GP64()
	s.MOVQ(a.base[0], start)
	left := a
	left.base[0] = s.GP64()
	s.MOVQ(start, left.base[0])
	if s.terms > 7 {
		left.base[1] = s.GP64()
		s.MOVQ(a.base[1], left.base[1])
	}
	s.Label(row)
	sum := s.register()
	if s.width == 64 {
		s.VPXORQ(sum, sum, sum)
	} else {
		s.float("VXORP*", sum, sum, sum)
	}
	for p, v := range right {
		if s.z {
			s.float("VFMADD231P*_BCST", left.at(p, 0), v, sum)
		} else {
			x := s.register()
			s.float("VBROADCASTS*", left.at(p, 0), x)
			s.float("VFMADD231P*", x, v, sum)
		}
	}
	if s.z {
		s.float("VMOVUP*", sum, s.mask, operand.Mem{Base: c})
	} else {
		s.float("VMASKMOVP*", sum, inside, operand.Mem{Base: c})
	}
	s.advance(left, rowA)
	s.ADDQ(rowC, c)
	s.DECQ(m)
	s.JNZ(operand.LabelRef(row))
	nextA := s.Load(s.Param("nextA"), s.GP64())
	s.advance(a, nextA)
	nextB := s.Load(s.Param("nextB"), s.GP64())
	s.ADDQ(nextB, b)
	s.DECQ(batch)
	s.JNZ(operand.LabelRef(next))
	s.Label(done)
	s.end()
}
