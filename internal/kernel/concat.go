package kernel

// Concat lays its operands, any number, side by side along an axis, negative counted from the end.
// They are of one dtype, any, and differ in the size of the axis alone.
type Concat struct {
	apart
	Axis int
}

// Flops is 0.
func (Concat) Flops(Layout, []Layout) int64 { return 0 }

// Divide divides along the axes before the one that is joined.
func (k Concat) Divide(out Layout, in []Layout) []Division { return along(out, in, out.axis(k.Axis)) }

// Bind takes at least one operand.
func (k Concat) Bind(out Layout, in []Layout) Bound {
	if b, ok := k.collects(out, in); ok {
		return b
	}
	axis := out.axis(k.Axis)
	var parts []copying
	var starts []int // the first unit of each
	units := 0
	part := out
	for i, l := range in {
		part.Dims[axis] = l.Dims[axis]
		if part.Len() > 0 {
			c := newCopying(part, l, i)
			parts, starts = append(parts, c), append(starts, units)
			units += c.units()
		}
		part.Offset += l.Dims[axis] * out.Strides[axis]
	}
	return Bound{units, func(c *Ctx, lo, hi int) {
		for i, p := range parts {
			p.run(c, max(lo-starts[i], 0), min(hi-starts[i], p.units()), p.call)
		}
	}}
}
