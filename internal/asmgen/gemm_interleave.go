package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A shuffle makes n vectors out of n others: lane e of the k-th comes from the vector, and the lane
// of it, that source returns.
//
// Rows of n elements, one after the other, fill n vectors, and so do n columns of as many rows as a
// vector has lanes. Each lane of a result comes from one lane of one source. So a vector of lane
// indices for each result, and a mask of lanes for each of its sources, are all that the shuffle
// needs.
type shuffle struct {
	*target
	n       int
	source  func(k, e int) (vector, lane int)
	indices []reg.Register
	masks   map[uint]reg.Register // AVX-512: by the lanes that are set
}

// interleaves emits the loops from rows of two, three and four elements to columns, and back.
func (t *target) interleaves() {
	for i, name := range [...]string{"Pairs", "Triples", "Fours"} {
		n := i + 2
		t.start("deinterleave"+name, "func(dst, src *byte, rows, stride int)",
			fmt.Sprintf("Converts rows of %d elements, one after the other, to columns stride bytes apart. rows is a multiple of %d above 0.", n, t.lanes()))
		t.shuffle(n, true, func(k, e int) (vector, lane int) { return (e*n + k) / t.lanes(), (e*n + k) % t.lanes() })
		t.start("interleave"+name, "func(dst, src *byte, rows, stride int)",
			fmt.Sprintf("Converts %d columns, stride bytes apart, to rows, one after the other. rows is a multiple of %d above 0.", n, t.lanes()))
		t.shuffle(n, false, func(k, e int) (vector, lane int) { return (k*t.lanes() + e) % n, (k*t.lanes() + e) / n })
	}
}

// shuffle emits the loop. The vectors that are made are columns if makesColumns, else their sources
// are.
func (t *target) shuffle(n int, makesColumns bool, source func(k, e int) (vector, lane int)) {
	dst := t.Load(t.Param("dst"), t.GP64())
	src := t.Load(t.Param("src"), t.GP64())
	rows := t.Load(t.Param("rows"), t.GP64())
	column, dense := stripes{base: []reg.Register{src}, step: t.Load(t.Param("stride"), t.GP64()), triple: t.GP64()}, dst
	if makesColumns {
		column.base[0], dense = dst, src
	}
	t.LEAQ(operand.Mem{Base: column.step, Index: column.step, Scale: 2}, column.triple)
	s := &shuffle{target: t, n: n, source: source, masks: map[uint]reg.Register{}}
	s.prepare(map[bool]string{true: "deinterleave", false: "interleave"}[makesColumns])
	loop := t.label("loop")
	t.Label(loop)
	for k := range n {
		from := func(v int) operand.Mem { return operand.Mem{Base: dense, Disp: v * t.width()} }
		to := column.at(k, 0)
		if !makesColumns {
			from, to = func(v int) operand.Mem { return column.at(v, 0) }, from(k)
		}
		t.float("VMOVUP*", s.vector(k, from), to)
	}
	t.ADDQ(operand.U32(uint32(n*t.width())), dense)
	t.ADDQ(operand.Imm(uint64(t.width())), column.base[0])
	t.SUBQ(operand.Imm(uint64(t.lanes())), rows)
	t.JNZ(operand.LabelRef(loop))
	t.end()
}

// lanesFrom returns the set of lanes of the k-th vector that come from vector v.
func (s *shuffle) lanesFrom(k, v int) (set uint) {
	for e := range s.lanes() {
		if from, _ := s.source(k, e); from == v {
			set |= 1 << e
		}
	}
	return set
}

// prepare loads the indices and, for AVX-512, the masks. AVX2 has indices of float64 in the
// instruction.
func (s *shuffle) prepare(name string) {
	for k := range s.n {
		if s.z || s.bits == 32 {
			s.indices = append(s.indices, s.target.vector())
			s.VMOVUPS(s.table(fmt.Sprintf("%s%d_%d_%d_%d", name, s.n, s.bits, s.lanes(), k), k), s.indices[k])
		}
		for v := 1; s.z && v < s.n; v++ {
			set := s.lanesFrom(k, v)
			if s.masks[set] == nil {
				bits, mask := s.GP32(), s.K()
				s.MOVL(operand.U32(uint32(set)), bits)
				s.KMOVW(bits, mask)
				s.masks[set] = mask
			}
		}
	}
}

// table returns the constant of the indices of the k-th vector.
func (s *shuffle) table(name string, k int) operand.Mem {
	table := s.StaticGlobal(name)
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	for e := range s.lanes() {
		_, lane := s.source(k, e)
		if s.bits == 32 {
			s.AddDatum(4*e, operand.U32(uint32(lane)))
		} else {
			s.AddDatum(8*e, operand.U64(uint64(lane)))
		}
	}
	return table
}

// vector makes the k-th vector out of those in memory.
func (s *shuffle) vector(k int, from func(v int) operand.Mem) vector {
	made := s.permuted(k, from(0))
	for v := 1; v < s.n; v++ {
		set := s.lanesFrom(k, v)
		switch {
		case s.z:
			s.float("VPERMP*", from(v), s.indices[k], s.masks[set], made)
		case s.bits == 32:
			s.VBLENDPS(operand.Imm(uint64(set)), s.permuted(k, from(v)), made, made)
		default:
			s.VBLENDPD(operand.Imm(uint64(set)), s.permuted(k, from(v)), made, made)
		}
	}
	return made
}

// permuted returns a vector with its lanes in the order of the k-th.
func (s *shuffle) permuted(k int, from operand.Mem) vector {
	r := s.target.vector()
	if s.z || s.bits == 32 {
		s.float("VPERMP*", from, s.indices[k], r)
		return r
	}
	imm := uint64(0)
	for e := range 4 {
		_, lane := s.source(k, e)
		imm |= uint64(lane) << (2 * e)
	}
	s.VPERMPD(operand.Imm(imm), from, r)
	return r
}
