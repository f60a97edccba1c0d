package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Copy lays the operand out densely, broadcast to the shape of the result; any dtype.
type Copy struct{ elementwise }

// Flops is 0.
func (Copy) Flops(Layout, []Layout) int64 { return 0 }

func (Copy) cheap() bool { return true }

// Bind takes one operand of the result's dtype.
func (Copy) Bind(out Layout, in []Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	c := newCopying(out, in[0], 0)
	return c.loop(c.call)
}

// A copying copies an operand into a part of the result.
type copying struct {
	*nest
	call rowCall
}

// newCopying takes the layouts of the part and of the operand, and the operand's number.
func newCopying(part, in Layout, operand int) copying {
	n := newNest(part, in)
	n.first = operand
	if n.copyShortAxes() {
		return copying{n, nil}
	}
	n.divide()
	n.lay[1], n.strewn = nil, false // rows are laid out in the result at once
	copies, toX := copier(n, 1), n.step(1)
	return copying{n, func(a arrays, rows, cols int) { copies(a.at[0], a.at[1], rows, cols, a.stride[0], a.stride[1], toX) }}
}

// copier returns the loop that copies rows of an operand into the result.
func copier(n *nest, hand int) layRows {
	size, toOut := n.size[hand], n.step(0)
	if toOut != size {
		each := copyElements(size)
		return func(dst, src *byte, rows, cols, dstStride, row, col int) {
			each(dst, src, rows, cols, dstStride, toOut, row, col)
		}
	}
	if lay := layer(n, hand); lay != nil {
		return lay
	}
	copies := simd.CopyOf(level, size)
	return func(dst, src *byte, rows, cols, dstStride, row, _ int) { copies(dst, src, rows, cols, dstStride, row) }
}
