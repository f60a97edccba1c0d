package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// Go's assembler does not know AVX512-BF16. Its two instructions are emitted under the names of
// others with the same operands, which nothing else uses, and spelt out as bytes in the end.
const (
	brainProduct = "VPDPWSSD"       // VDPBF16PS: adds the products of pairs to float32
	brainConvert = "VPMULTISHIFTQB" // VCVTNE2PS2BF16: rounds two vectors of float32 to one
)

// brainTerm is the term of products of bfloat16, of which an element is a pair of neighbours in p.
var brainTerm = term{name: "brain", avx512: [2]int{14, 2},
	description: "a[i,p]·b[p,j], where an element is a pair of bfloat16, whose two products are added"}

// brain emits the loops of products whose operands are rounded to bfloat16.
func (t *target) brain() {
	t.microKernel(brainTerm)
	t.brainPairs()
	t.brainRows()
}

// brainPairs emits the packing of rows of at most two vectors, two rows at a time.
func (t *target) brainPairs() {
	s := term{avx512: [2]int{1, 2}}
	t.start("brainPairs", "func(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int)",
		fmt.Sprintf("Rounds pairs of rows of at most %d float32 to bfloat16, with what was in one column side by side; rows counts the pairs and is above 0.", 2*t.lanes()))
	t.bodies(s, func(b *tile) {
		dst := t.Load(t.Param("dst"), t.GP64())
		src := t.Load(t.Param("src"), t.GP64())
		rowDst := t.Load(t.Param("rowDst"), t.GP64())
		rowSrc := t.Load(t.Param("rowSrc"), t.GP64())
		pairs := t.Load(t.Param("rows"), t.GP64())
		order := t.ZMM()
		t.VMOVDQU16(operand.NewDataAddr(operand.Symbol{Name: "brainOrder", Static: true}, 0), order)
		loop := t.label("loop")
		t.Label(loop)
		low := b.row(src)
		t.ADDQ(rowSrc, src)
		for j, high := range b.row(src) {
			both := t.ZMM()
			t.emit(brainConvert, low[j], high, both)
			t.VPERMW(both, order, both)
			t.storeInside(both, operand.Mem{Base: dst, Disp: j * t.width()}, b.at(j))
		}
		t.ADDQ(rowSrc, src)
		t.ADDQ(rowDst, dst)
		t.DECQ(pairs)
		t.JNZ(operand.LabelRef(loop))
		t.end()
	})
}

// brainOrder emits the order that puts element i of the upper half beside that of the lower one.
func (t *target) brainOrder() {
	t.StaticGlobal("brainOrder")
	t.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 {
		t.AddDatum(2*i, operand.U16(i/2+i%2*16))
	}
}

// brainRows emits the rounding of rows.
func (t *target) brainRows() {
	t.start("brainRows", "func(dst *byte, rowDst int, src *byte, rowSrc, rows, cols int)",
		"Rounds rows of float32 to bfloat16; after an odd number of columns comes a 0. rows and cols are above 0.")
	dst := t.Load(t.Param("dst"), t.GP64())
	src := t.Load(t.Param("src"), t.GP64())
	rowDst := t.Load(t.Param("rowDst"), t.GP64())
	rowSrc := t.Load(t.Param("rowSrc"), t.GP64())
	rows := t.Load(t.Param("rows"), t.GP64())
	cols := t.Load(t.Param("cols"), t.GP64())
	rest, bits := t.GP64(), t.GP64()
	t.MOVQ(cols, rest)
	t.ANDQ(operand.Imm(31), rest)
	t.SUBQ(rest, cols)
	// The masks of what is left after whole vectors: of two vectors that are read, and one written.
	t.MOVQ(operand.I64(-1), bits)
	t.BZHIQ(rest, bits, bits)
	first, second, written := t.K(), t.K(), t.K()
	t.KMOVW(bits.As32(), first)
	upper := t.GP64()
	t.MOVQ(bits, upper)
	t.SHRQ(operand.Imm(16), upper)
	t.KMOVW(upper.As32(), second)
	t.INCQ(rest) // an odd one is completed
	t.ANDQ(operand.I32(-2), rest)
	t.MOVQ(operand.I64(-1), bits)
	t.BZHIQ(rest, bits, bits)
	t.KMOVD(bits.As32(), written)
	t.Label("row")
	from, to, left := t.GP64(), t.GP64(), t.GP64()
	t.MOVQ(src, from)
	t.MOVQ(dst, to)
	t.MOVQ(cols, left)
	t.TESTQ(left, left)
	t.JZ(operand.LabelRef("tail"))
	t.Label("whole")
	low, high := t.ZMM(), t.ZMM()
	t.VMOVUPS(operand.Mem{Base: from}, low)
	t.VMOVUPS(operand.Mem{Base: from, Disp: 64}, high)
	t.emit(brainConvert, low, high, high)
	t.VMOVUPS(high, operand.Mem{Base: to})
	t.ADDQ(operand.Imm(128), from)
	t.ADDQ(operand.Imm(64), to)
	t.SUBQ(operand.Imm(32), left)
	t.JNZ(operand.LabelRef("whole"))
	t.Label("tail")
	t.TESTQ(rest, rest)
	t.JZ(operand.LabelRef("next"))
	t.VMOVUPS_Z(operand.Mem{Base: from}, first, low)
	t.VMOVUPS_Z(operand.Mem{Base: from, Disp: 64}, second, high)
	t.emit(brainConvert, low, high, high)
	t.VMOVDQU16(high, written, operand.Mem{Base: to})
	t.Label("next")
	t.ADDQ(rowSrc, src)
	t.ADDQ(rowDst, dst)
	t.DECQ(rows)
	t.JNZ(operand.LabelRef("row"))
	t.end()
}

var brainInstruction = regexp.MustCompile(`(?m)^\t(` + brainProduct + `|` + brainConvert + `) +Z(\d+), Z(\d+), Z(\d+)$`)

// brainBytes spells the instructions of AVX512-BF16 out, in an EVEX encoding of registers alone.
func brainBytes(asm string) string {
	return brainInstruction.ReplaceAllStringFunc(asm, func(line string) string {
		m := brainInstruction.FindStringSubmatch(line)
		name, opcode, prefix := "VDPBF16PS", 0x52, 2
		if m[1] == brainConvert {
			name, opcode, prefix = "VCVTNE2PS2BF16", 0x72, 3
		}
		var r [3]int // as Go orders them: the second source, the first one, the result
		for i := range r {
			r[i], _ = strconv.Atoi(m[2+i])
		}
		rm, v, dst := r[0], r[1], r[2]
		off := func(bit int) int { return 1 - bit&1 } // registers' upper bits are inverted
		p0 := off(dst>>3)<<7 | off(rm>>4)<<6 | off(rm>>3)<<5 | off(dst>>4)<<4 | 2
		p1 := (^v&15)<<3 | 1<<2 | prefix
		p2 := 2<<5 | off(v>>4)<<3
		return fmt.Sprintf("\tLONG $0x%02x%02x%02x62; WORD $0x%02x%02x // %s Z%d, Z%d, Z%d",
			p2, p1, p0, 0xc0|dst&7<<3|rm&7, opcode, name, rm, v, dst)
	})
}
