package kernel

import "slices"

// Sparsemax is the projection of each row along an axis, negative counted from the end, onto the
// vectors that have no negative element and the sum 1: max(x − τ, 0), where τ is such that the sum is
// 1. It is computed in float64. A row of -Inf alone, or with +Inf or NaN in it, gives NaN.
type Sparsemax struct {
	elementwise // each row overwrites itself alone
	Axis        int
}

// Flops counts two for each level of a tree of a row's elements, and each element.
func (k Sparsemax) Flops(out Layout, _ []Layout) int64 {
	levels := 1
	for n := out.Dims[out.axis(k.Axis)]; n > 1; n /= 2 {
		levels++
	}
	return 2 * int64(levels) * int64(out.Len())
}

// Divide divides along the axes before the one that is projected.
func (k Sparsemax) Divide(out Layout, in []Layout) []Division {
	return along(out, in, out.axis(k.Axis))
}

// Bind takes one operand, of floats.
func (k Sparsemax) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return sparsemaxLoop[float32](k, out, in[0])
	case F64:
		return sparsemaxLoop[float64](k, out, in[0])
	}
	panic(unsupported(k, out.DType))
}

// Work is a row of numbers.
func (k Sparsemax) Work(out Layout, _ []Layout) int { return 8 * out.Dims[out.axis(k.Axis)] }

func sparsemaxLoop[T float](k Sparsemax, out, x Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	axis := out.axis(k.Axis)
	n, to, from := out.Dims[axis], out.Strides[axis], x.Strides[axis]
	rows, _ := split(out, 1<<axis)
	kept, _ := split(x, 1<<axis)
	per := rowsPer(n)
	return Bound{blocks(rows.n, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		above := raw[float64](c.working(8 * n))
		for r := lo * per; r < min(hi*per, rows.n); r++ {
			q, p := rows.at(r), kept.at(r)
			most := src[p]
			for i := 1; i < n; i++ {
				most = max(most, src[p+i*from])
			}
			// Of numbers from the greatest down, those in the support are above τ, which is at
			// least one below the greatest: the others need not be sorted.
			m := 0
			for i := range n {
				if d := float64(src[p+i*from]) - float64(most); d > -1 {
					above[m] = d
					m++
				}
			}
			τ := threshold(above[:m])
			for range n { // where the greatest is not finite, x − greatest + τ is NaN
				d := float64(src[p]) - float64(most) - τ
				if most-most != 0 {
					d = float64(most - most)
				}
				dst[q] = T(max(d, 0))
				q, p = q+to, p+from
			}
		}
	}}
}

// threshold returns the τ for which Σ max(x − τ, 0) is 1, and reorders the numbers. It leaves out those
// that are not above the τ of all that are left (Michelot, 1986), as long as that takes few passes, and
// then sorts.
func threshold(x []float64) (τ float64) {
	for range 8 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		τ = (sum - 1) / float64(len(x))
		m := 0
		for _, v := range x {
			if v > τ {
				x[m] = v
				m++
			}
		}
		if m == len(x) {
			return τ
		}
		x = x[:m]
	}
	slices.Sort(x)
	sum := 0.0
	for i, v := range slices.Backward(x) {
		sum += v
		count := float64(len(x) - i)
		if 1+count*v <= sum {
			break
		}
		τ = (sum - 1) / count
	}
	return τ
}
