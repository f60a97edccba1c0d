package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

var fetchToRead, fetchToWrite = simd.FetchOf(level)

// Fetches reports whether [Fetch] does anything.
func Fetches() bool { return fetchToRead != nil }

// Fetch has the processor fetch the n bytes, at least one, that begin off bytes after the beginning
// of m, because they are soon to be read, or written. It waits for none of them. It is not checked:
// they must lie in m.
func Fetch(m Mem, off, n int, toWrite bool) {
	p, lines := (*byte)(unsafe.Add(m.p, off)), (n+alignment-1)/alignment
	if toWrite {
		fetchToWrite(p, lines)
	} else {
		fetchToRead(p, lines)
	}
}

// FetchesUpcoming reports whether a kernel is a product that has the processor fetch what its
// worker calls Upcoming, a few lines with each tile, so that it is in a cache once the product is
// there.
func FetchesUpcoming(k Kernel) bool {
	m, ok := k.(MatMul)
	return ok && !m.Brain && Fetches()
}

// fetching is the memory that the tiles of a product have fetched for what is computed next, as
// addresses, and how many bytes further each step of a tile's sums goes.
type fetching struct {
	next, end uintptr
	step      int
}

// beginFetching divides what the worker calls Upcoming among the tiles, this once.
func (m *multiplication) beginFetching(c *Ctx) {
	w := c.Worker
	w.fetching = fetching{}
	if n := w.Upcoming.n; n > 0 {
		steps := m.batches * blocks(m.m, m.Rows) * blocks(m.n, m.Cols) * m.k
		from := uintptr(w.Upcoming.p)
		w.fetching = fetching{from, from + uintptr(n), n/max(1, steps) + 1}
		w.Upcoming = Mem{}
	}
}

// take returns what a tile fetches whose sums have so many terms: the first address, and the
// distance from one to the next.
func (f *fetching) take(terms int) (from uintptr, step int) {
	from = f.next
	f.next += uintptr(terms * f.step)
	return from, f.step
}
