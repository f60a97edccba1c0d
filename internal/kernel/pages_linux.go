package kernel

import (
	"syscall"
	"unsafe"
)

// pageBytes is the size of a large page.
const pageBytes = 2 << 20

// largePages asks the system for large pages for as much of b as they can hold: with those of
// 4 KiB, the processor looks up where the next page lies every 64 cache lines, and fetches nothing
// ahead across its end. It is advice: where the system has no large pages, nothing else changes.
func largePages(b []byte) {
	from := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageBytes)
	if n := (len(b) - from) / pageBytes * pageBytes; n > 0 {
		_ = syscall.Madvise(b[from:from+n], syscall.MADV_HUGEPAGE)
	}
}
