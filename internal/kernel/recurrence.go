package kernel

// Recurrence computes h_t = a_t·h_{t-1} + b_t along an axis, negative counted from the end, from
// the first index to the last, or the other way with Reverse; where it begins, h is b, whatever a
// is. The operands are a and b, numbers of the result's dtype. Floats are accumulated in float64;
// integers wrap around.
type Recurrence struct {
	apart
	Axis    int
	Reverse bool
}

// CumArg gives, at each index of an axis, negative counted from the end, the index of the greatest
// (Max) or least element up to there, with the rules of [Arg]. The operand holds numbers or Bools, the
// result I64.
type CumArg struct {
	apart
	Axis int
	Max  bool
}

// Flops counts two per element of the result.
func (Recurrence) Flops(out Layout, _ []Layout) int64 { return 2 * int64(out.Len()) }

// Flops counts one per element of the operand.
func (CumArg) Flops(_ Layout, in []Layout) int64 { return int64(in[0].Len()) }

// Divide divides along the axes before the one along which it runs.
func (k Recurrence) Divide(out Layout, in []Layout) []Division {
	return along(out, in, out.axis(k.Axis))
}

// Divide divides along the axes before the one along which it runs.
func (k CumArg) Divide(out Layout, in []Layout) []Division { return along(out, in, out.axis(k.Axis)) }

// Bind takes a and b.
func (k Recurrence) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return recurrenceLoop[float32, float64](k, out, in)
	case F64:
		return recurrenceLoop[float64, float64](k, out, in)
	case I32:
		return recurrenceLoop[int32, int64](k, out, in)
	case I64:
		return recurrenceLoop[int64, int64](k, out, in)
	}
	panic(unsupported(k, out.DType))
}

func recurrenceLoop[T, S number](k Recurrence, out Layout, in []Layout) Bound {
	axis := out.axis(k.Axis)
	n, to := out.Dims[axis], out.Strides[axis]
	rows, _ := split(out, 1<<axis)
	as, _ := split(in[0], 1<<axis)
	bs, _ := split(in[1], 1<<axis)
	sa, sb := in[0].Strides[axis], in[1].Strides[axis]
	if k.Reverse && n > 0 { // the walks begin at the last index
		rows.offset, as.offset, bs.offset = rows.offset+(n-1)*to, as.offset+(n-1)*sa, bs.offset+(n-1)*sb
		to, sa, sb = -to, -sa, -sb
	}
	per := rowsPer(n)
	return Bound{blocks(rows.n, per), func(c *Ctx, lo, hi int) {
		dst, a, b := raw[T](c.Out), raw[T](c.In[0]), raw[T](c.In[1])
		for r := lo * per; r < min(hi*per, rows.n); r++ {
			q, pa, pb := rows.at(r), as.at(r), bs.at(r)
			var h S
			for i := range n {
				if i == 0 {
					h = S(b[pb])
				} else {
					h = S(S(a[pa])*h) + S(b[pb])
				}
				dst[q] = T(h)
				q, pa, pb = q+to, pa+sa, pb+sb
			}
		}
	}}
}

// Bind takes one operand.
func (k CumArg) Bind(out Layout, in []Layout) Bound {
	switch in[0].DType {
	case F32:
		return cumArgLoop[float32](k, out, in[0])
	case F64:
		return cumArgLoop[float64](k, out, in[0])
	case I32:
		return cumArgLoop[int32](k, out, in[0])
	case I64:
		return cumArgLoop[int64](k, out, in[0])
	case Bool:
		return cumArgLoop[uint8](k, out, in[0])
	}
	panic(unsupported(k, in[0].DType))
}

func cumArgLoop[T ordered](k CumArg, out, x Layout) Bound {
	axis := out.axis(k.Axis)
	n, to, from := out.Dims[axis], out.Strides[axis], x.Strides[axis]
	rows, _ := split(out, 1<<axis)
	kept, _ := split(x, 1<<axis)
	per := rowsPer(n)
	return Bound{blocks(rows.n, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[int64](c.Out), raw[T](c.In[0])
		for r := lo * per; r < min(hi*per, rows.n); r++ {
			q, p := rows.at(r), kept.at(r)
			var best T
			arg := int64(0)
			for i := range n {
				if v := src[p]; i == 0 || extreme(v, best, k.Max) {
					best, arg = v, int64(i)
				}
				dst[q] = arg
				q, p = q+to, p+from
			}
		}
	}}
}
