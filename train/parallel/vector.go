package parallel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// vector is the memory of the terms and sums of a bucket: its values of float64 and behind them
// those of float32, so that both travel in one message.
type vector struct {
	f64   []float64
	f32   []float32
	mem   []byte // of both
	block []byte // a factor, in the first bytes, and a block of products
}

// A factor takes up to factorBytes. Products take up to blockBytes at a time, and so stay in the
// nearest cache.
const (
	factorBytes = 8
	blockBytes  = 8 << 10
)

func newVector(n32, n64 int) vector {
	wide, size := 8*n64, 8*n64+4*n32
	block := beside(size)
	mem := newMemory(block + size)
	v := vector{mem: mem[block:], block: mem[:block]}
	v.f64, v.f32 = values[float64](v.mem[:wide]), values[float32](v.mem[wide:])
	return v
}

// beside returns the bytes that a vector takes beside its values.
func beside(size int) int { return factorBytes + min(aligned(size), blockBytes) }

// newMemory returns memory that is aligned for float64.
func newMemory(bytes int) []byte {
	words := make([]float64, (bytes+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:bytes]
}

// float is a type of values.
type float interface{ float32 | float64 }

// values returns memory as the values that are in it.
func values[T float](mem []byte) []T {
	if len(mem) == 0 { // where a value would not fit
		return nil
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(one)))
}

// arithmetic has the loops over values of both types.
type arithmetic struct {
	f32 loops[float32]
	f64 loops[float64]
}

func newArithmetic() arithmetic { return arithmetic{newLoops[float32](), newLoops[float64]()} }

// set puts the values of parts, each scaled and rounded to its type, one behind the other.
func (a *arithmetic) set(v vector, parts []Part) {
	x, y := v.f32, v.f64
	for _, p := range parts {
		x = x[a.f32.scale(x, p.F32, float32(p.Scale), v.block):]
		y = y[a.f64.scale(y, p.F64, p.Scale, v.block):]
	}
	clear(x)
	clear(y)
}

// addParts adds what set would put.
func (a *arithmetic) addParts(v vector, parts []Part) {
	x, y := v.f32, v.f64
	for _, p := range parts {
		x = x[a.f32.addScaled(x, p.F32, float32(p.Scale), v.block):]
		y = y[a.f64.addScaled(y, p.F64, p.Scale, v.block):]
	}
	addZero(x)
	addZero(y)
}

// add sets dst to left + right, the bytes of wide values of float64 and behind them of values of
// float32. dst may be one of the others.
func (a *arithmetic) add(dst, left, right []byte, wide int) {
	a.f64.add(values[float64](dst[:8*wide]), values[float64](left[:8*wide]), values[float64](right[:8*wide]))
	a.f32.add(values[float32](dst[8*wide:]), values[float32](left[8*wide:]), values[float32](right[8*wide:]))
}

// loops are those over values of one type. They round after each operation.
type loops[T float] struct {
	sum     simd.Zip
	product simd.Zip // by one number; nil if there is none
}

func newLoops[T float]() loops[T] {
	level := simd.Active()
	return loops[T]{simd.ZipOf[T](level, simd.Add).Rows, simd.ZipOf[T](level, simd.Mul).OneY}
}

// run applies a loop to n values from each pointer on; y may be one value.
func run[T float](zip simd.Zip, dst, x, y *T, n int) {
	zip((*byte)(unsafe.Pointer(dst)), (*byte)(unsafe.Pointer(x)), (*byte)(unsafe.Pointer(y)), 1, n, 0, 0, 0)
}

// add sets dst to x + y.
func (l loops[T]) add(dst, x, y []T) {
	if len(dst) > 0 {
		run(l.sum, &dst[0], &x[0], &y[0], len(dst))
	}
}

// scale sets the beginning of dst to s·x, as far as both go, and returns how far.
func (l loops[T]) scale(dst, x []T, s T, block []byte) int {
	n := min(len(dst), len(x))
	dst, x = dst[:n], x[:n]
	switch {
	case s == 1:
		copy(dst, x)
	case l.product != nil && n > 0:
		factor := values[T](block[:factorBytes])
		factor[0] = s
		run(l.product, &dst[0], &x[0], &factor[0], n)
	default:
		for i, v := range x {
			dst[i] = s * v
		}
	}
	return n
}

// addScaled adds s·x to the beginning of dst, as far as both go, and returns how far.
func (l loops[T]) addScaled(dst, x []T, s T, block []byte) int {
	n := min(len(dst), len(x))
	if s == 1 {
		l.add(dst[:n], dst[:n], x[:n])
		return n
	}
	products := values[T](block[factorBytes:])
	for from := 0; from < n; from += len(products) {
		k := min(len(products), n-from)
		l.scale(products[:k], x[from:], s, block)
		l.add(dst[from:from+k], dst[from:from+k], products[:k])
	}
	return n
}

// addZero adds zero, which changes −0.
func addZero[T float](dst []T) {
	for i := range dst {
		dst[i] += 0
	}
}
