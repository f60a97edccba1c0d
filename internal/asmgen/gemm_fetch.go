package main

import (
	"regexp"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fetch emits the fetching of cache lines that are to be read, or written. Those to be read come
// into the L2 cache: many at once would drive out of the L1 cache what is computed with meanwhile.
// Go's assembler does not know PREFETCHW, which every processor with AVX2 takes: it is emitted
// under the name of another instruction that nothing else uses, with its operand in DI, and spelt
// out as bytes in the end.
func fetch(c *build.Context) {
	for _, f := range []struct {
		name, to string
		line     func(operand.Op)
	}{{"fetchToRead", "reading", c.PREFETCHT1}, {"fetchToWrite", "writing", c.PREFETCHT2}} {
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

// The cache lines of the results are fetched row by row: a row after each 1<<-rowShift of the p,
// the last when lastTerms remain. So lines arrive by the time they are added to or written, they do
// not keep the first p from memory, and few of them are on their way at a time: what the sums read
// does not wait behind them.
const (
	rowShift  = 6
	lastTerms = 16
)

// A results says which rows of the results are still to be fetched: their number, counting the last
// p as one, the address of the next, and the number of p after each.
type results struct{ rows, next, terms reg.Register }

// holdBack takes the last p from k, if there are enough. With fewer it jumps to the loop.
func (t *tile) holdBack(k reg.Register, loop string) results {
	r := results{t.GP64(), t.GP64(), t.GP64()}
	t.XORQ(r.rows, r.rows)
	t.CMPQ(k, operand.Imm(1<<rowShift))
	t.JLT(operand.LabelRef(loop))
	t.MOVQ(k, r.terms)
	t.SHRQ(operand.Imm(rowShift), r.terms)
	t.IMUL3Q(operand.Imm(uint64(t.rows)), r.terms, r.rows)
	t.SUBQ(r.rows, k)
	t.SUBQ(operand.Imm(lastTerms), k)
	t.MOVQ(operand.I32(t.rows+1), r.rows)
	t.Load(t.Param("c"), r.next)
	return r
}

// fetch fetches the cache lines of the next row of results, and those that follow in the row, and
// goes back to the loop. After the last row it goes back for the last p, and then goes on.
func (t *tile) fetch(r results, k reg.Register, loop string) {
	finished, rest := t.label("finished"), t.label("rest")
	t.DECQ(r.rows)
	t.JLT(operand.LabelRef(finished))
	t.JZ(operand.LabelRef(rest))
	for j := 0; j < t.vectors*t.width(); j += 64 {
		t.PREFETCHT0(operand.Mem{Base: r.next, Disp: j})
	}
	t.ADDQ(t.argument("rowC"), r.next)
	t.MOVQ(r.terms, k)
	t.JMP(operand.LabelRef(loop))
	t.Label(rest)
	t.MOVQ(operand.I32(lastTerms), k)
	t.JMP(operand.LabelRef(loop))
	t.Label(finished)
}

var fetchInstruction = regexp.MustCompile(`(?m)^\tPREFETCHT2 +\(DI\)$`)

// fetchBytes spells PREFETCHW out.
func fetchBytes(asm string) string {
	return fetchInstruction.ReplaceAllString(asm, "\tBYTE $$0x0f; WORD $$0x0f0d // PREFETCHW (DI)")
}
