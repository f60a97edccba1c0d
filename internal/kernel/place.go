package kernel

// Place lays its operand into a result of zeros: the element (i0,i1,…) goes to
// (Start[0]+i0·Step[0], …). It is the transpose of Slice; any dtype.
type Place struct {
	apart
	Start, Step [MaxRank]int
}

// Flops is 0.
func (Place) Flops(Layout, []Layout) int64 { return 0 }

// Divide divides along the first axes that the operand fills.
func (k Place) Divide(out Layout, in []Layout) []Division {
	n := 0
	for n < out.Rank && k.Start[n] == 0 && (k.Step[n] == 1 || out.Dims[n] == 1) && in[0].Dims[n] == out.Dims[n] {
		n++
	}
	return along(out, in, n)
}

// Bind takes one operand, of the result's rank, that fits into the result.
func (k Place) Bind(out Layout, in []Layout) Bound {
	size := [MaxRank]int{}
	copy(size[:], in[0].Dims[:in[0].Rank])
	part, ok := Slice{Start: k.Start, Step: k.Step, Size: size}.View(out)
	if !ok {
		panic("kernel: the operand of Place does not fit into the result")
	}
	bytes := out.Len() * out.DType.Size()
	if part.Len() == 0 {
		return Bound{1, func(c *Ctx, lo, hi int) {
			if lo < hi {
				c.Out.First(bytes).Clear()
			}
		}}
	}
	// Where the outer axis runs backwards or has gaps, no row tells what to clear and what to copy,
	// so there is one unit.
	copies := newCopying(part, in[0], 0)
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo < hi {
			c.Out.First(bytes).Clear()
			copies.run(c, 0, copies.units(), copies.call)
		}
	}}
}
