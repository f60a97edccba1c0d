package kernel

// Concat lays its operands, any number, side by side along an axis, negative counted from the end. They are of one dtype, any, and
// differ in the size of the axis alone.
type Concat struct {
	apart
	Axis int
}

// Flops is 0.
func (Concat) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes at least one operand.
func (k Concat) Bind(out Layout, in []Layout) Loop {
	switch out.DType.Size() {
	case 1:
		return concatLoop[uint8](out, in, out.axis(k.Axis))
	case 4:
		return concatLoop[uint32](out, in, out.axis(k.Axis))
	default:
		return concatLoop[uint64](out, in, out.axis(k.Axis))
	}
}

// concatLoop takes each operand tile by tile; its units are those of the first operand, of the second, and so on.
func concatLoop[T any](out Layout, in []Layout, axis int) Loop {
	type part struct {
		*walk
		row, place int // elements in a row of the operand, and where they go in a row of the result
		first      int // unit
	}
	parts := make([]part, len(in))
	units, place, row := 0, 0, out.count(axis, out.Rank)
	for i, l := range in {
		p := part{walkOf(l, allAxes, l.Offset), l.count(axis, l.Rank), place, units}
		parts[i] = p
		units += blocks(p.n, tileLen)
		place += p.row
	}
	return Loop{units, func(c *Ctx, lo, hi int) {
		dst := raw[T](c.Out)
		for i := range parts {
			p := &parts[i]
			src := raw[T](c.In[i])
			from, to := max(lo-p.first, 0)*tileLen, min((hi-p.first)*tileLen, p.n)
			for from < to {
				r := from / p.row
				col := from - r*p.row
				m := min(to-from, p.row-col)
				gather(p.walk, dst[r*row+p.place+col:][:m], src, 0, from)
				from += m
			}
		}
	}}
}
