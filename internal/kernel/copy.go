package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Copy lays the operand out densely, broadcast to the shape of the result; any dtype.
type Copy struct{ elementwise }

// Flops is 0.
func (Copy) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes one operand of the result's dtype.
func (Copy) Bind(out Layout, in []Layout) Loop {
	if out.Len() == 0 {
		return idle
	}
	c := newCopying(out, in[0], 0)
	return c.loop(c.call)
}

// A copying lays an operand into a part of the result.
type copying struct {
	*nest
	call rowCall
}

// newCopying takes the layout of the part and the operand's, and its number.
func newCopying(part, in Layout, operand int) copying {
	n := newNest(part, in)
	n.first = operand
	n.divide()
	lay, size, toOut, toX := n.lay[1], n.size[0], n.step(0), n.step(1)
	n.lay[1], n.strewn = nil, false // rows are laid out in the result at once
	switch {
	case toOut != size:
		each := copyElements(size)
		return copying{n, func(a arrays, rows, cols int) {
			each(a.at[0], a.at[1], rows, cols, a.stride[0], toOut, a.stride[1], toX)
		}}
	case lay != nil:
		return copying{n, func(a arrays, rows, cols int) { lay(a.at[0], a.at[1], rows, cols, a.stride[0], a.stride[1], toX) }}
	}
	rows := simd.CopyOf(level, size)
	return copying{n, func(a arrays, count, cols int) { rows(a.at[0], a.at[1], count, cols, a.stride[0], a.stride[1]) }}
}
