package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// level is the instruction set of the loops that Bind chooses.
var level = simd.Active()

// A nest holds the loops of an elementwise kernel over the axes of its result. Axes of size 1 are
// left out, and neighbouring axes are merged where one stride leads through both, in the result and
// in every operand. One call of a loop does the two innermost axes, as rows.
type nest struct {
	rank    int // at least 2
	dims    [MaxRank]int
	hands   int // the result and the operands
	first   int // the number of the first operand
	size    [maxHands]int
	strides [maxHands][MaxRank]int // in bytes
	offset  [maxHands]int          // in bytes
	reach   [maxHands]int          // bytes that each must have
	lay     [maxHands]layRows      // copies an operand that the loop cannot read in place, else nil
	strewn  bool                   // there are such operands

	// A unit is per rows of chunk elements.
	per, chunk, chunks, rows int

	short *shortAxes // of a nest that goes by them, else nil
}

// idle is the loop of a result without elements.
var idle = Bound{0, func(*Ctx, int, int) {}}

// maxHands is the largest number of arrays of an elementwise kernel, the result included.
const maxHands = 4

// unitLen is about the number of elements of a unit of an elementwise kernel: enough to be worth
// another worker.
const unitLen = 16 * tileLen

// newNest merges the axes. It panics if an operand does not broadcast to the result.
func newNest(out Layout, in ...Layout) *nest {
	n := &nest{hands: 1 + len(in)}
	hands := [maxHands]Layout{out}
	copy(hands[1:], in)
	for i, l := range hands[:n.hands] {
		over, ok := l.to(out.Rank, out.Dims)
		if !ok {
			panic("kernel: an operand's shape does not broadcast to the result's")
		}
		hands[i] = over
		n.size[i] = l.DType.Size()
		n.offset[i] = l.Offset * n.size[i]
		n.reach[i] = l.reach() * n.size[i]
	}
	for a, d := range out.Dims[:out.Rank] {
		if d == 1 {
			continue
		}
		merge := n.rank > 0
		for i := range n.hands {
			merge = merge && n.strides[i][n.rank-1] == hands[i].Strides[a]*n.size[i]*d
		}
		if !merge {
			n.dims[n.rank] = 1
			n.rank++
		}
		n.dims[n.rank-1] *= d
		for i := range n.hands {
			n.strides[i][n.rank-1] = hands[i].Strides[a] * n.size[i]
		}
	}
	for n.rank < 2 { // outer axes of size 1
		copy(n.dims[1:], n.dims[:n.rank])
		n.dims[0] = 1
		for i := range n.hands {
			copy(n.strides[i][1:], n.strides[i][:n.rank])
			n.strides[i][0] = n.size[i] // a single element is dense
		}
		n.rank++
	}
	return n
}

// inner returns the sizes of the two innermost axes.
func (n *nest) inner() (rows, cols int) { return n.dims[n.rank-2], n.dims[n.rank-1] }

// step returns the distance between neighbours of the innermost axis of an array.
func (n *nest) step(hand int) int { return n.strides[hand][n.rank-1] }

// one reports whether an array has one element per row.
func (n *nest) one(hand int) bool { return n.step(hand) == 0 }

// repeats reports whether an array has one element per row, side by side, and the rows are so many
// and so short that repeating the elements, and taking all rows as one, is faster than going row by
// row.
func (n *nest) repeats(hand int) bool {
	rows, cols := n.inner()
	return n.one(hand) && rows >= manyShort && n.strides[hand][n.rank-2] == n.size[hand] && simd.Repeats(level, n.size[hand], cols)
}

// divide fixes the units, once the loop is chosen; ones are the arrays of which it takes one
// element per row. Other arrays whose elements do not lie side by side will be copied to scratch.
func (n *nest) divide(ones ...int) {
	for i := 1; i < n.hands; i++ {
		n.lay[i] = layer(n, i)
	}
	for _, i := range ones {
		n.lay[i] = nil
	}
	for i := range n.hands {
		n.strewn = n.strewn || n.lay[i] != nil
	}
	n.rows = 1
	for _, d := range n.dims[:n.rank-1] {
		n.rows *= d
	}
	_, cols := n.inner()
	n.chunk = min(cols, unitLen)
	if n.strewn { // taller units use the cache lines of transposed operands whole
		n.chunk = min(cols, unitLen/32)
	}
	n.per = max(1, unitLen/max(1, n.chunk))
	n.chunks = blocks(cols, max(1, n.chunk))
}

// units returns the number of units.
func (n *nest) units() int {
	if n.short != nil {
		return n.short.units
	}
	return blocks(n.rows, n.per) * n.chunks
}

// direct reports whether a single call of the loop does all the work.
func (n *nest) direct() bool { return n.short == nil && !n.strewn && n.rank == 2 && n.units() == 1 }

// arrays holds pointers to the arrays of a nest, and the distances between their rows.
type arrays struct {
	at     [maxHands]*byte
	stride [maxHands]int
}

// loop runs call for blocks of rows, at most the two innermost axes.
func (n *nest) loop(call rowCall) Bound {
	return Bound{n.units(), func(c *Ctx, lo, hi int) { n.run(c, lo, hi, call) }}
}

// A rowCall computes rows whose elements lie as the loop wants them.
type rowCall func(a arrays, rows, cols int)

// run runs call for units [lo,hi).
func (n *nest) run(c *Ctx, lo, hi int, call rowCall) {
	if lo >= hi {
		return
	}
	n.check(c)
	if n.short != nil {
		n.short.run(n, c, lo, hi, call)
		return
	}
	high, cols := n.inner()
	for u := lo; u < hi; u++ {
		first, from := u/n.chunks*n.per, u%n.chunks*n.chunk
		last, width := min(first+n.per, n.rows), min(n.chunk, cols-from)
		for r := first; r < last; {
			rows := min(last-r, high-r%high)
			n.block(c, r, from, rows, width, call)
			r += rows
		}
	}
}

// short is the panic of a loop whose memory is smaller than the layouts that were bound.
const short = "kernel: the memory of an array is shorter than its layout"

// check panics if some memory is too small.
func (n *nest) check(c *Ctx) {
	for i := range n.hands {
		if n.mem(c, i).n < n.reach[i] {
			panic(short)
		}
	}
}

// mem returns the memory of an array.
func (n *nest) mem(c *Ctx, hand int) Mem {
	if hand == 0 {
		return c.Out
	}
	return c.In[n.first+hand-1]
}

// block runs call on rows from number r on, all of one pass over the second last axis, and on their
// columns from number from on.
func (n *nest) block(c *Ctx, r, from, rows, cols int, call rowCall) {
	var a arrays
	for i := range n.hands {
		a.at[i] = at(n.mem(c, i), n.offset[i]+from*n.step(i)+n.row(i, r))
		a.stride[i] = n.strides[i][n.rank-2]
	}
	if !n.strewn {
		call(a, rows, cols)
		return
	}
	wide := min(64, cols)
	if rows == 1 {
		wide = min(tileLen, cols)
	}
	high := tileLen / wide
	for j := 0; j < cols; j += wide {
		for i := 0; i < rows; i += high {
			w, h, b := min(wide, cols-j), min(high, rows-i), a
			dense := true // rows follow each other in all arrays
			for k := range n.hands {
				b.at[k] = move(a.at[k], i*a.stride[k]+j*n.step(k))
				if lay := n.lay[k]; lay != nil {
					buf := hand(c, k-1)
					lay(buf, b.at[k], h, w, w*n.size[k], a.stride[k], n.step(k))
					b.at[k], b.stride[k] = buf, w*n.size[k]
				}
				dense = dense && b.stride[k] == w*n.size[k] && (n.lay[k] != nil || n.step(k) == n.size[k])
			}
			if dense {
				h, w = 1, h*w
			}
			call(b, h, w)
		}
	}
}

// row returns the distance of row r from the first, in bytes.
func (n *nest) row(hand, r int) (at int) {
	for a := n.rank - 2; a > 0; a-- {
		q := r / n.dims[a]
		at += (r - q*n.dims[a]) * n.strides[hand][a]
		r = q
	}
	return at + r*n.strides[hand][0]
}

// layRows copies rows by cols elements, row and col bytes apart, to dense rows that are dstStride
// bytes apart.
type layRows func(dst, src *byte, rows, cols, dstStride, row, col int)

// layer returns the loop that copies an array's rows, nil where their elements lie side by side.
func layer(n *nest, hand int) layRows {
	size := n.size[hand]
	switch row, col := n.strides[hand][n.rank-2], n.step(hand); {
	case col == size:
		return nil
	case col == 0 && n.repeats(hand):
		level, spread := level, simd.SpreadOf(level, size)
		return func(dst, src *byte, rows, cols, dstStride, row, _ int) {
			if dstStride == cols*size {
				simd.Repeat(level, size, dst, src, rows, cols)
			} else {
				spread(dst, src, rows, cols, dstStride, row)
			}
		}
	case col == 0:
		spread := simd.SpreadOf(level, size)
		return func(dst, src *byte, rows, cols, dstStride, row, _ int) { spread(dst, src, rows, cols, dstStride, row) }
	case row == size && size >= 4 && n.dims[n.rank-2] > 1:
		level := level
		return func(dst, src *byte, rows, cols, dstStride, _, col int) {
			simd.Transpose(level, size, dst, src, cols, rows, dstStride, col)
		}
	}
	copies := copyElements(size)
	return func(dst, src *byte, rows, cols, dstStride, row, col int) {
		copies(dst, src, rows, cols, dstStride, size, row, col)
	}
}

// copyElements returns the loop that copies elements of a size one by one; rows and columns are any
// distance apart.
func copyElements(size int) func(dst, src *byte, rows, cols, dstRow, dstCol, row, col int) {
	switch size {
	case 1:
		return copyEach[uint8]
	case 2:
		return copyEach[uint16]
	case 4:
		return copyEach[uint32]
	}
	return copyEach[uint64]
}

func copyEach[T any](dst, src *byte, rows, cols, dstRow, dstCol, row, col int) {
	for i := range rows {
		d, s := unsafe.Pointer(move(dst, i*dstRow)), unsafe.Pointer(move(src, i*row))
		for j := range cols {
			*(*T)(unsafe.Add(d, j*dstCol)) = *(*T)(unsafe.Add(s, j*col))
		}
	}
}
