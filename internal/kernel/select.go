package kernel

// Select takes, element by element, the second operand where the first, a mask of Bools, is true, else the third. All broadcast;
// the last two are of the result's dtype, any.
type Select struct{ elementwise }

// Bind takes mask, a and b.
func (Select) Bind(out Layout, in []Layout) Loop {
	switch out.DType.Size() {
	case 1:
		return loop3(out, in, choose[uint8])
	case 4:
		return loop3(out, in, choose[uint32])
	default:
		return loop3(out, in, choose[uint64])
	}
}

func choose[T any](dst []T, mask []bool, a, b []T) {
	mask, a, b = mask[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if mask[i] {
			dst[i] = a[i]
		} else {
			dst[i] = b[i]
		}
	}
}

// Copy lays the operand out densely, broadcast to the shape of the result; any dtype.
type Copy struct{ elementwise }

// Flops is 0.
func (Copy) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes one operand of the result's dtype.
func (Copy) Bind(out Layout, in []Layout) Loop {
	switch out.DType.Size() {
	case 1:
		return copyLoop[uint8](out, in[0])
	case 4:
		return copyLoop[uint32](out, in[0])
	default:
		return copyLoop[uint64](out, in[0])
	}
}

// copyLoop gathers straight into the result.
func copyLoop[T any](out, in Layout) Loop {
	n, w := out.Len(), walkOver(out, in)
	return Loop{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		if a, b := lo*tileLen, min(hi*tileLen, n); a < b {
			gather(w, raw[T](c.Out)[a:b], raw[T](c.In[0]), 0, a)
		}
	}}
}
