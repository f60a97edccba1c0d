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
