package kernel

import (
	"math"
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// gatherTurned is a [Gather] whose rows are an axis after all others: each integer picks the
// elements of one row from a table that all rows share, and the rows are written turned. The
// integers of neighbouring rows lie side by side, and so do the elements of a slice.
type gatherTurned struct {
	apart
	after int // axes of the table after the one looked up
}

// rowsLast returns the kernel for a table and integers of which each row of the result takes one.
func (k Gather) rowsLast(out Layout, in []Layout) (turned Kernel, ok bool) {
	table, ints := in[0], in[1]
	a := table.axis(k.Axis)
	slice := walkOf(table, suffix(a+1), 0)
	if a > 0 || ints.Len() == 0 || out.Rank == MaxRank || out.DType.Size() < 4 || slice.n > mostTurnedSlice || slice.n > 1 && !slice.dense() {
		return nil, false
	}
	return gatherTurned{after: table.Rank - 1}, true
}

// mostTurnedSlice is the greatest number of elements of a slice that gatherTurned copies, and
// turnedTogether the number of slices that it copies together.
const mostTurnedSlice, turnedTogether = 64, 64

// Flops is 0.
func (gatherTurned) Flops(Layout, []Layout) int64 { return 0 }

// Reads returns what [Gather] reads.
func (gatherTurned) Reads(out Layout, in []Layout, i int) int { return Gather{}.Reads(out, in, i) }

// Bind takes table and integers, each with the rows as the last axis.
func (k gatherTurned) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return bindTurnedGather(k, out, in, math.Float32bits(float32(math.NaN())))
	case F64:
		return bindTurnedGather(k, out, in, math.Float64bits(math.NaN()))
	case I32:
		return bindTurnedGather[uint32](k, out, in, 0)
	case I64:
		return bindTurnedGather[uint64](k, out, in, 0)
	}
	panic(unsupported(k, out.DType))
}

func bindTurnedGather[T uint32 | uint64](k gatherTurned, out Layout, in []Layout, missing T) Bound {
	table := in[0]
	a := table.Rank - 2 - k.after
	g := &turnedGathering[T]{ints: indexOf(in[1]), size: table.Dims[a], stride: table.Strides[a] * sizeOf[T](),
		from: table.Offset * sizeOf[T](), row: table.count(a+1, table.Rank-1), rows: out.Dims[out.Rank-1],
		missing: missing, reachOut: out.reach() * sizeOf[T](), reach: table.reach() * sizeOf[T]()}
	return Bound{1, g.run}
}

// A turnedGathering copies slices of elements that lie side by side to columns.
type turnedGathering[T uint32 | uint64] struct {
	ints            index
	size            int // of the axis looked up
	stride, from    int // from slice to slice, and where the first begins, in bytes
	row, rows       int // elements of a slice, and slices
	reachOut, reach int // bytes of the result and of the table, at least
	missing         T
}

func (g *turnedGathering[T]) run(c *Ctx, lo, hi int) {
	if lo >= hi {
		return
	}
	checkReach(c, g.reachOut, g.reach)
	switch {
	case g.ints.dense() && g.ints.dtype == I64:
		copySlices(g, c, raw[int64](c.In[1])[g.ints.offset:][:g.rows], 0)
	case g.ints.dense() && g.ints.dtype == I32:
		copySlices(g, c, raw[int32](c.In[1])[g.ints.offset:][:g.rows], 0)
	default:
		var ints [turnedTogether]int64
		for q := 0; q < g.rows; q += turnedTogether {
			n := min(turnedTogether, g.rows-q)
			for i := range n {
				ints[i] = g.ints.get(c.In[1], q+i)
			}
			copySlices(g, c, ints[:n], q)
		}
	}
}

// copySlices copies the slices that the integers from number q on pick.
func copySlices[T uint32 | uint64, I int32 | int64](g *turnedGathering[T], c *Ctx, ints []I, q int) {
	size := sizeOf[T]()
	for len(ints) > 0 {
		to, table := at(c.Out, q*size), at(c.In[0], g.from)
		var n int
		switch g.row { // calling for a few elements costs more than the copy
		case 2:
			n = pickTwo[T](to, table, ints, g)
		case 3:
			n = pickThree[T](to, table, ints, g)
		default:
			n = pickMany[T](to, table, ints, g)
		}
		q += n
		if ints = ints[n:]; len(ints) > 0 {
			c.Fault.add(q, int64(ints[0]))
			for e := range g.row {
				sliceAt[T](at(c.Out, (e*g.rows+q)*size), 1)[0] = g.missing
			}
			q, ints = q+1, ints[1:]
		}
	}
}

// The loops below copy slices to columns up to an integer outside of the table, and return how
// many.

func pickTwo[T uint32 | uint64, I int32 | int64](dst, table *byte, ints []I, g *turnedGathering[T]) int {
	size, stride := uint64(g.size), g.stride
	to, from := unsafe.Pointer(dst), unsafe.Pointer(table)
	next := unsafe.Add(to, g.rows*sizeOf[T]())
	for q, i := range ints {
		if uint64(i) >= size {
			return q
		}
		x := (*[2]T)(unsafe.Add(from, int(i)*stride))
		*(*T)(unsafe.Add(to, q*sizeOf[T]())) = x[0]
		*(*T)(unsafe.Add(next, q*sizeOf[T]())) = x[1]
	}
	return len(ints)
}

func pickThree[T uint32 | uint64, I int32 | int64](dst, table *byte, ints []I, g *turnedGathering[T]) int {
	size, stride := uint64(g.size), g.stride
	to, from := unsafe.Pointer(dst), unsafe.Pointer(table)
	next, last := unsafe.Add(to, g.rows*sizeOf[T]()), unsafe.Add(to, 2*g.rows*sizeOf[T]())
	for q, i := range ints {
		if uint64(i) >= size {
			return q
		}
		x := (*[3]T)(unsafe.Add(from, int(i)*stride))
		*(*T)(unsafe.Add(to, q*sizeOf[T]())) = x[0]
		*(*T)(unsafe.Add(next, q*sizeOf[T]())) = x[1]
		*(*T)(unsafe.Add(last, q*sizeOf[T]())) = x[2]
	}
	return len(ints)
}

func pickMany[T uint32 | uint64, I int32 | int64](dst, table *byte, ints []I, g *turnedGathering[T]) int {
	size, stride := uint64(g.size), g.stride
	from := unsafe.Pointer(table)
	var picked [turnedTogether]*byte
	for q := 0; q < len(ints); q += turnedTogether {
		part := ints[q:min(q+turnedTogether, len(ints))]
		n := len(part)
		for k, i := range part {
			if uint64(i) >= size {
				n = k
				break
			}
			picked[k] = (*byte)(unsafe.Add(from, int(i)*stride))
		}
		if n > 0 {
			simd.Collect(level, sizeOf[T](), move(dst, q*sizeOf[T]()), picked[:n], g.row, g.rows*sizeOf[T]())
		}
		if n < len(part) {
			return q + n
		}
	}
	return len(ints)
}
