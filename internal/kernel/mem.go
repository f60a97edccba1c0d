package kernel

import (
	"slices"
	"unsafe"
)

// Elem is a Go type that an array may hold.
type Elem interface {
	float32 | float64 | int32 | int64 | bool | uint16 | int8 | uint8
}

// Mem is a block of memory that holds elements of one type. It keeps its backing alive. The zero
// Mem is empty.
type Mem struct {
	p unsafe.Pointer
	n int // bytes
}

// alignment is that of a cache line, and of the widest vector registers.
const alignment = 64

// Of returns the memory of a slice, shared, not copied.
func Of[T Elem](s []T) Mem {
	var e T
	return Mem{unsafe.Pointer(unsafe.SliceData(s)), len(s) * int(unsafe.Sizeof(e))}
}

// As returns the memory seen as elements of type T, shared, not copied. Memory that is not aligned
// to T, or bytes other than 0 and 1 seen as bool, are mistakes of the caller.
func As[T Elem](m Mem) []T { return raw[T](m) }

// raw is As for any type without pointers: where only the size of an element matters, one loop
// serves all types of that size.
func raw[T any](m Mem) []T {
	var e T
	return unsafe.Slice((*T)(m.p), m.n/int(unsafe.Sizeof(e)))
}

// IsZero reports whether all bytes are 0.
func (m Mem) IsZero() bool {
	return !slices.ContainsFunc(raw[byte](m), func(b byte) bool { return b != 0 })
}

// largeBytes is the size of blocks that are worth large pages: smaller ones have few, and much that
// lies in none.
const largeBytes = 4 << 20

// Alloc returns a block of zeroed memory, aligned to 64 bytes.
func Alloc(bytes int) Mem {
	if bytes == 0 {
		return Mem{}
	}
	b := make([]byte, bytes+alignment-1)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % alignment)
	if bytes >= largeBytes {
		largePages(b)
	}
	return Mem{unsafe.Pointer(&b[off]), bytes}
}

// Len returns the size in bytes.
func (m Mem) Len() int { return m.n }

// Slice returns the part of n bytes from byte off, shared. It panics if the part is not inside m.
func (m Mem) Slice(off, n int) Mem {
	part := raw[byte](m)[off : off+n : off+n]
	if n == 0 {
		return Mem{} // a pointer past the end would keep another object alive
	}
	return Mem{unsafe.Pointer(unsafe.SliceData(part)), n}
}

// From returns the part from byte off on, shared. It is not checked: off must lie in m.
func (m Mem) From(off int) Mem { return Mem{unsafe.Add(m.p, off), m.n - off} }

// First returns the part of the first n bytes, shared. It is not checked: there must be so many.
func (m Mem) First(n int) Mem { return Mem{m.p, n} }

// Clear sets every byte to 0.
func (m Mem) Clear() { clear(raw[byte](m)) }

// Copy copies the bytes of src, as many as fit, and gives their number. The blocks may overlap.
func (m Mem) Copy(src Mem) int { return copy(raw[byte](m), raw[byte](src)) }

// Overlaps reports whether the two blocks share a byte.
func (m Mem) Overlaps(o Mem) bool {
	a, b := uintptr(m.p), uintptr(o.p)
	return a < b+uintptr(o.n) && b < a+uintptr(m.n)
}
