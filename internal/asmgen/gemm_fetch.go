package main

import (
	"regexp"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fetch emits the fetching of cache lines that are to be read, or written. Go's assembler does not
// know PREFETCHW, which every processor with AVX2 takes: it is emitted under the name of another
// instruction that nothing else uses, with its operand in DI, and spelt out as bytes in the end.
func fetch(c *build.Context) {
	for _, f := range []struct {
		name, to string
		line     func(operand.Op)
	}{{"fetchToRead", "reading", c.PREFETCHT0}, {"fetchToWrite", "writing", c.PREFETCHT2}} {
		c.Function(f.name)
		c.Attributes(attr.NOSPLIT)
		c.SignatureExpr("func(p *byte, lines int)")
		c.Pragma("noescape")
		c.Doc("Fetches so many cache lines from p on, at least one, for " + f.to + ", and waits for none.")
		p := c.Load(c.Param("p"), reg.RDI)
		lines := c.Load(c.Param("lines"), c.GP64())
		c.Label("line")
		f.line(operand.Mem{Base: p})
		c.ADDQ(operand.Imm(64), p)
		c.DECQ(lines)
		c.JNZ(operand.LabelRef("line"))
		c.RET()
	}
}

// The cache lines of the results are fetched when so many p remain: they arrive by the time they
// are added to or written, and do not keep the first p from memory.
const lastTerms = 32

// holdBack takes the last p from k, if there are enough, and returns how many it took. With fewer
// it jumps to the loop.
func (t *tile) holdBack(k reg.Register, loop string) (last reg.Register) {
	last = t.GP64()
	t.XORQ(last, last)
	t.CMPQ(k, operand.Imm(2*lastTerms))
	t.JLT(operand.LabelRef(loop))
	t.MOVQ(operand.I32(lastTerms), last)
	t.SUBQ(operand.Imm(lastTerms), k)
	return last
}

// fetchResults fetches the cache lines in which the rows of results begin, and those that follow in
// a row.
func (t *tile) fetchResults() {
	c, rowC := t.Load(t.Param("c"), t.GP64()), t.Load(t.Param("rowC"), t.GP64())
	for range t.rows {
		for j := 0; j < t.vectors*t.width(); j += 64 {
			t.PREFETCHT0(operand.Mem{Base: c, Disp: j})
		}
		t.ADDQ(rowC, c)
	}
}

var fetchInstruction = regexp.MustCompile(`(?m)^\tPREFETCHT2 +\(DI\)$`)

// fetchBytes spells PREFETCHW out.
func fetchBytes(asm string) string {
	return fetchInstruction.ReplaceAllString(asm, "\tBYTE $$0x0f; WORD $$0x0f0d // PREFETCHW (DI)")
}
