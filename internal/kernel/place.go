package kernel

// Place lays its operand into a result of zeros: the element (i0,i1,…) goes to (Start[0]+i0·Step[0], …). It is the transpose of
// Slice; any dtype.
type Place struct {
	apart
	Start, Step [MaxRank]int
}

// Flops is 0.
func (Place) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes one operand, of the result's rank, that fits into the result.
func (k Place) Bind(out Layout, in []Layout) Loop {
	size := [MaxRank]int{}
	copy(size[:], in[0].Dims[:in[0].Rank])
	part, ok := Slice{Start: k.Start, Step: k.Step, Size: size}.View(out)
	if !ok {
		panic("kernel: the operand of Place does not fit into the result")
	}
	switch out.DType.Size() {
	case 1:
		return placeLoop[uint8](part, in[0])
	case 4:
		return placeLoop[uint32](part, in[0])
	default:
		return placeLoop[uint64](part, in[0])
	}
}

// placeLoop is one unit: clearing and laying cannot be told apart by rows when the outer axis is laid backwards or with gaps.
func placeLoop[T any](part, in Layout) Loop {
	from := walkOf(in, allAxes, in.Offset)
	return Loop{1, func(c *Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		clear(dst)
		buf := tile[T](c, 0)
		var ix [MaxRank]int
		to := part.Offset
		for at := 0; at < from.n; {
			n := min(tileLen, from.n-at)
			gather(from, buf[:n], src, 0, at)
			for _, v := range buf[:n] {
				dst[to] = v
				for a := part.Rank - 1; a >= 0; a-- {
					to += part.Strides[a]
					if ix[a]++; ix[a] < part.Dims[a] {
						break
					}
					to -= part.Dims[a] * part.Strides[a]
					ix[a] = 0
				}
			}
			at += n
		}
	}}
}
