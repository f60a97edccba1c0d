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

var fetchInstruction = regexp.MustCompile(`(?m)^\tPREFETCHT2 +\(DI\)$`)

// fetchBytes spells PREFETCHW out.
func fetchBytes(asm string) string {
	return fetchInstruction.ReplaceAllString(asm, "\tBYTE $$0x0f; WORD $$0x0f0d // PREFETCHW (DI)")
}
