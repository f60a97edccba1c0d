package tape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// The limits of what one group holds, in bytes, and in instructions.
const (
	wholeLimit   = 512 << 10  // of operands that every row needs
	sumLimit     = 64 << 10   // of a sum over the rows
	heavyLimit   = 256 << 10  // the same, where a row adds much to it:
	heavyFlops   = 8          // operations for each byte, at least
	manyLimit    = 16 << 10   // of each of several sums, which is to stay in the L1 cache
	leastTerms   = 256        // rows of each of several sums: blocks have no rows of two sums
	blockLimit   = 256 << 10  // of the longest result in a block of as many rows as products want
	rowLimit     = 1536 << 10 // of a row of all results together
	coarseLimit  = 128 << 10  // of a row of a result, where joining makes the rows longer
	siblingLimit = 4 << 10    // the same, where the instruction only reads what the group reads
	apartLimit   = 256 << 10  // of a result that is made with others only for more than a number
	numberBytes  = 8          // of a number
	memberLimit  = 2048
	mergeLimit   = 64  // of a group that moves into an earlier one
	minStretch   = 128 // elements that a block should have at least
)

// longEnough reports whether blocks within a stretch have enough elements to be worth a call.
func (f *fused) longEnough(i int, d kernel.Division, rows, stretch int) bool {
	if stretch == rows {
		return true
	}
	return f.elements(i, d, rows, stretch) >= minStretch
}

// elements returns the elements that a block of a stretch has, of the longest operand or result.
func (f *fused) elements(i int, d kernel.Division, rows, stretch int) int {
	n := 0
	if d.Accumulate == nil {
		n = f.instrs[i].out.layout.Len()
	}
	for _, v := range f.instrs[i].in {
		n = max(n, v.layout.Len())
	}
	return n / rows * stretch
}

// with returns e extended by the result of instruction i.
func (f *fused) with(e extent, i int, d kernel.Division, rows int) extent {
	n, ins := f.rowBytes(i, d, rows), &f.instrs[i]
	e.longest = max(e.longest, n)
	if d.Accumulate == nil && isProduct(ins.kernel) {
		l := ins.out.layout
		e.product, e.unit = max(e.product, n), max(e.unit, product(l.Dims[:l.Rank-1])/rows)
	}
	return e
}

// outgrown reports whether a block of as many rows as the products want would be too large, because
// of other results than the products' own.
func (f *fused) outgrown(e extent) bool {
	return e.unit > 0 && e.longest > e.product && f.blockOf(e) > blockLimit
}

// blockOf returns the bytes of the longest result in a block of as many rows as the products want.
func (f *fused) blockOf(e extent) int { return e.longest * ((f.how.sizes.rows + e.unit - 1) / e.unit) }

// worthSumming reports whether a sum over the rows is worth its partial sums: a large one is if
// each row adds much to it. A product is no worse on its own. Several sums are if each is small.
func (f *fused) worthSumming(i int, d kernel.Division, rows int) bool {
	bytes := touched(f.instrs[i].out.layout)
	if n := d.Sums(); n > 1 {
		return bytes/n <= manyLimit
	}
	return bytes <= sumLimit || f.heavy(i, rows) && bytes <= heavyLimit
}

// heavy reports whether each row adds much to a sum over the rows.
func (f *fused) heavy(i, rows int) bool {
	ins := &f.instrs[i]
	return !isProduct(ins.kernel) && ins.flops/int64(rows) >= heavyFlops*int64(touched(ins.out.layout))
}

// gains reports whether instruction i may gain from being in a group for what both read, v. Of
// numbers alone, such as a learning rate, there is nothing to gain but a stage less: with many
// large parameters in one group each block would take a short piece of every one.
func (f *fused) gains(i int, g *group, v value) bool {
	return touched(v.layout) > numberBytes || !g.large && !f.large(i)
}

// large reports whether the result of instruction i is large, see [fused.gains].
func (f *fused) large(i int) bool { return touched(f.instrs[i].out.layout) >= apartLimit }

// rowBytes returns the bytes of a row of the result; a sum over the rows has none.
func (f *fused) rowBytes(i int, d kernel.Division, rows int) int {
	if d.Accumulate != nil {
		return 0
	}
	l := f.instrs[i].out.layout
	return l.Len() * l.DType.Size() / rows
}

// exceeds says that something takes more bytes than a limit.
func exceeds(what string, bytes, limit int) string {
	return fmt.Sprintf("%s of %s exceeds %s", what, memory.Text(int64(bytes)), memory.Text(int64(limit)))
}

// tooShort says that the stretches of an instruction's rows are not long enough.
func (f *fused) tooShort(whose string, i int, d kernel.Division, rows, stretch int) string {
	return fmt.Sprintf("%sa stretch of equally spaced rows has %d elements: fewer than %d", whose, f.elements(i, d, rows, stretch), minStretch)
}

// tooLarge says that a sum over the rows is not worth its partial sums.
func (f *fused) tooLarge(i int, d kernel.Division, rows int) string {
	what, limit, n := "a sum over the rows", sumLimit, d.Sums()
	switch {
	case n > 1:
		what, limit = "one of several sums over rows", manyLimit
	case f.heavy(i, rows):
		what, limit = "a sum to which each row adds much,", heavyLimit
	}
	return exceeds(what, touched(f.instrs[i].out.layout)/n, limit)
}

// readsFrom reports whether instruction i reads what a group makes.
func (f *fused) readsFrom(i, at int) bool {
	return slices.ContainsFunc(f.instrs[i].in, func(v value) bool { return f.from[v.buf] >= 0 && f.of[f.from[v.buf]] == at })
}

// rowsText names the numbers of rows that an instruction divides into, by its divisions.
func rowsText(divs []kernel.Division) string {
	var s []string
	for _, d := range divs {
		if n := fmt.Sprint(product(d.Dims)); !slices.Contains(s, n) {
			s = append(s, n)
		}
	}
	return strings.Join(s, " or ")
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
