package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// available returns what is free in memory and in the page file together, as Windows commits
// memory.
func available() (bytes int64, ok bool) {
	var s struct { // MEMORYSTATUSEX
		length, load                                   uint32
		totalPhysical, freePhysical                    uint64
		totalPageFile, freePageFile                    uint64
		totalVirtual, freeVirtual, freeExtendedVirtual uint64
	}
	s.length = uint32(unsafe.Sizeof(s))
	if r, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); r == 0 {
		return 0, false
	}
	return int64(min(s.freePageFile, s.freeVirtual)), true
}
