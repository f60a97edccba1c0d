package kernel

import (
	"fmt"
	"sync"
	"unsafe"
)

// Kernel is a computation on arrays of any shape that fits. Kernels are values and may be shared.
type Kernel interface {
	// Bind fixes the layouts. out is always dense. All allocation happens here.
	Bind(out Layout, in []Layout) Bound
	// Flops estimates the arithmetic operations of a run; an elementary function counts as one.
	Flops(out Layout, in []Layout) int64
	// InPlace reports whether out may share the memory of operand i when both are dense, of the
	// same dtype and size.
	InPlace(i int) bool
	// Strided reports whether operand i may have any strides and offset; otherwise it must be
	// dense.
	Strided(i int) bool
}

// A Product is a kernel that sums products over rows of both operands. It does best on many rows at
// once, and its arithmetic grows faster than its operands.
type Product interface {
	Kernel
	multiplies()
}

// Moves reports whether a kernel moves elements without looking at them, so that it takes any
// dtype, also those for storage.
func Moves(k Kernel) bool {
	switch k.(type) {
	case Cast, Copy, Concat, Select, Place, Gather, DynamicSlice, DynamicUpdate:
		return true
	}
	return false
}

// Cheap reports whether computing the result of a kernel again, from operands in the cache, costs
// no more than reading it from memory.
func Cheap(k Kernel) bool {
	c, ok := k.(interface{ cheap() bool })
	return ok && c.cheap()
}

// ReadsThrough reports whether a kernel takes operand i of these layouts, though it does not take
// it with any strides.
func ReadsThrough(k Kernel, i int, out Layout, in []Layout) bool {
	c, ok := k.(ConvInput)
	return ok && i == 1 && c.reads(out, in)
}

// Bound is a kernel bound to shapes, to run on any memory that fits. Its units are independent
// chunks: they may run in any order, on any worker, with bitwise the same result. Run does units
// [lo,hi).
type Bound struct {
	Units int
	Run   func(c *Ctx, lo, hi int)
}

// Ctx supplies a bound kernel with memory, and with the state of the worker that runs it.
type Ctx struct {
	Out   Mem
	In    []Mem
	Inner Inner // the program that a loop over steps runs; nil for other instructions
	*Worker
}

// Inner is the program of a loop's body, which runs on the memory of a Ctx.
type Inner interface{ Run(c *Ctx) }

// Worker is the state of random draws, and the scratch that kernels write to. Kernels that run side
// by side have a worker each.
type Worker struct {
	Seed, Step uint64
	Fault      Fault // of the kernels that ran since it was cleared
	Row        int   // the first of those that the kernel computes, where the work is divided into rows
	Upcoming   Mem   // what is read after the next product: see [FetchesUpcoming]

	fetching fetching // of the product that runs

	scratch Mem
	work    Mem     // of kernels that are [Working], as large as the largest so far
	keyed   []keyed // the elements of a sort, as long as the longest so far
	hashed  []int64 // the table of a kernel that needs one, as long as the longest so far
}

// table returns n zeros, which stay the worker's: it allocates only where no table has been as long.
func (w *Worker) table(n int) []int64 {
	if len(w.hashed) < n {
		w.hashed = make([]int64, n)
	}
	clear(w.hashed[:n])
	return w.hashed[:n]
}

// Fault is an index outside of its axis that a kernel has met: the first in the operand that holds
// the indices.
type Fault struct {
	Found bool
	At    int // its position in that operand
	Value int64
}

// add records a fault, unless an earlier one is recorded.
func (f *Fault) add(at int, value int64) {
	if !f.Found || at < f.At {
		*f = Fault{true, at, value}
	}
}

// Scratch begins with tiles of tileLen elements of up to 8 bytes, one for each operand. Elementwise
// loops work tile by tile, which keeps their operands in the L1 cache. The copies that products
// make of their operands come after the tiles.
const (
	tileLen      = 1024
	tileBytes    = 8 * tileLen
	handTiles    = 4
	panelBytes   = stripBytes
	besideBytes  = 512 << 10
	scratchBytes = handTiles*tileBytes + panelBytes + besideBytes
)

// WorkerBytes is the size of a worker's scratch.
const WorkerBytes = scratchBytes

// scratches are those of workers that ended, which the next ones take.
var scratches sync.Pool

// NewWorker returns a worker with its scratch, about 1 MB.
func NewWorker() *Worker {
	if scratch, is := scratches.Get().(*Mem); is {
		return &Worker{scratch: *scratch}
	}
	return &Worker{scratch: Alloc(scratchBytes)}
}

// End gives the scratch of a worker to one that comes later. No kernel may run with it any more.
func (w *Worker) End() {
	scratch := w.scratch
	if w.scratch = (Mem{}); scratch.Len() > 0 { // it is given once
		scratches.Put(&scratch)
	}
}

// NewCtx returns a Ctx with a worker of its own.
func NewCtx() *Ctx { return &Ctx{Worker: NewWorker()} }

// Working is a kernel that works in memory of its own, besides scratch.
type Working interface {
	Kernel
	// Work returns how many bytes of it a worker needs.
	Work(out Layout, in []Layout) int
}

// Reserve gives a worker memory for the [Working] kernels that need so many bytes at most.
func (w *Worker) Reserve(bytes int) { w.working(bytes) }

// working returns the memory of a Working kernel. It allocates only where none has been as long.
func (w *Worker) working(bytes int) Mem {
	if bytes > w.work.Len() {
		w.work = Alloc(bytes)
	}
	return w.work.First(bytes)
}

// tile returns scratch tile i, seen as elements of type T.
func tile[T any](c *Ctx, i int) []T { return raw[T](c.scratch.Slice(i*tileBytes, tileBytes))[:tileLen] }

// The scratch of products: a tile of x, panels of the right operand, and beside them a tile of the
// left one, or a result that is to be transposed.
func (c *Ctx) center() *byte { return (*byte)(c.scratch.p) }
func (c *Ctx) panels() *byte { return move(c.center(), handTiles*tileBytes) }
func (c *Ctx) beside() *byte { return move(c.panels(), panelBytes) }

// blocks returns the number of blocks of the given size that cover n.
func blocks(n, per int) int { return (n + per - 1) / per }

// rowsPer returns how many rows of n elements make a unit of about a tile.
func rowsPer(n int) int { return max(1, tileLen/max(1, n)) }

// unsupported returns the text of the panic of Bind for a dtype without a loop.
func unsupported(kernel any, dt DType) string {
	return fmt.Sprintf("kernel: no %T loop for %v", kernel, dt)
}

// The types that generic loops range over. Bools are read as bytes where they are compared or
// reduced.
type (
	float   interface{ float32 | float64 }
	integer interface{ int32 | int64 }
	number  interface{ float | integer }
	ordered interface{ number | uint8 }
)

// sizeOf returns the number of bytes of a T.
func sizeOf[T any]() int {
	var e T
	return int(unsafe.Sizeof(e))
}
