package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// The limits of what one group holds, in bytes, and in instructions.
const (
	wholeLimit   = 512 << 10  // of operands that every row needs
	sumLimit     = 64 << 10   // of a sum over the rows
	heavyLimit   = 256 << 10  // the same, where a row adds much to it:
	heavyFlops   = 8          // operations for each byte, at least
	blockLimit   = 256 << 10  // of the longest result in a block of as many rows as products want
	rowLimit     = 1536 << 10 // of a row of all results together
	coarseLimit  = 128 << 10  // of a row of a result, where joining makes the rows longer
	siblingLimit = 4 << 10    // the same, where the instruction only reads what the group reads
	memberLimit  = 2048
	mergeLimit   = 64  // of a group that moves into an earlier one
	minStretch   = 128 // elements that a block should have at least
)

// longEnough reports whether blocks within a stretch have enough elements to be worth a call.
func (f *fused) longEnough(i int, d kernel.Division, rows, stretch int) bool {
	if stretch == rows {
		return true
	}
	n := 0
	if d.Accumulate == nil {
		n = f.instrs[i].out.layout.Len()
	}
	for _, v := range f.instrs[i].in {
		n = max(n, v.layout.Len())
	}
	return n/rows*stretch >= minStretch
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
	return e.unit > 0 && e.longest > e.product && e.longest*((f.how.sizes.rows+e.unit-1)/e.unit) > blockLimit
}

// worthSumming reports whether a sum over the rows is worth its partial sums: a large one is if
// each row adds much to it. A product is no worse on its own.
func (f *fused) worthSumming(i, rows int) bool {
	ins := &f.instrs[i]
	bytes := touched(ins.out.layout)
	heavy := !isProduct(ins.kernel) && ins.flops/int64(rows) >= heavyFlops*int64(bytes)
	return bytes <= sumLimit || heavy && bytes <= heavyLimit
}

// rowBytes returns the bytes of a row of the result; a sum over the rows has none.
func (f *fused) rowBytes(i int, d kernel.Division, rows int) int {
	if d.Accumulate != nil {
		return 0
	}
	l := f.instrs[i].out.layout
	return l.Len() * l.DType.Size() / rows
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
