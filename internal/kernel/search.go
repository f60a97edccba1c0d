package kernel

// SearchSorted gives the places of numbers in sorted rows: for each number how many elements of its
// row come before it, or with Right those equal to it too. NaN comes after all numbers. The operands
// are the rows, along their last axis, and the numbers, of the same dtype, whose first axes are the
// other axes of the rows. The result is I32. In rows that are not sorted a place is what bisection
// gives.
type SearchSorted struct {
	apart
	Right bool
}

// Flops counts one for each halving of a row, and each number.
func (SearchSorted) Flops(out Layout, in []Layout) int64 {
	halvings := 0
	for n := in[0].Dims[in[0].Rank-1]; n > 0; n /= 2 {
		halvings++
	}
	return int64(halvings) * int64(out.Len())
}

// Divide divides along the axes of the numbers.
func (SearchSorted) Divide(out Layout, in []Layout) []Division {
	d := along(out, in, out.Rank)[0]
	for a := in[0].Rank - 1; a < out.Rank; a++ {
		d.Axes[0][a] = -1
	}
	return []Division{d}
}

// Bind takes the rows and the numbers.
func (k SearchSorted) Bind(_ Layout, in []Layout) Bound {
	switch in[0].DType {
	case F32:
		return searchLoop[float32](k, in)
	case F64:
		return searchLoop[float64](k, in)
	case I32:
		return searchLoop[int32](k, in)
	case I64:
		return searchLoop[int64](k, in)
	}
	panic(unsupported(k, in[0].DType))
}

func searchLoop[T number](k SearchSorted, in []Layout) Bound {
	last := in[0].Rank - 1
	n, stride := in[0].Dims[last], in[0].Strides[last]
	rows, xs := walkOf(in[0], prefix(last), in[0].Offset), walkOf(in[1], allAxes, in[1].Offset)
	each := max(1, xs.n/max(1, rows.n)) // numbers of a row
	const per = 256
	return Bound{blocks(xs.n, per), func(c *Ctx, lo, hi int) {
		dst, sorted, src, buf := raw[int32](c.Out), raw[T](c.In[0]), raw[T](c.In[1]), tile[T](c, 0)
		for ; lo < hi; lo++ {
			from, to := lo*per, min(lo*per+per, xs.n)
			row, left := rows.at(from/each), each-from%each // numbers until the next row
			for i, v := range read(xs, src, buf, 0, from, to) {
				if left == 0 {
					row, left = rows.at((from+i)/each), each
				}
				left--
				dst[from+i] = int32(bisect(sorted, row, stride, n, v, k.Right))
			}
		}
	}}
}

// bisect returns how many of n sorted numbers, from first on and a stride apart, come before v, or
// with right before or with it. Each loop has one comparison, which decides by a conditional move.
func bisect[T number](sorted []T, first, stride, n int, v T, right bool) int {
	at := 0
	switch {
	case v != v && right:
		return n
	case v != v: // all but NaN come before it
		for n > 0 {
			half, rest := n/2, n/2
			if e := sorted[first+(at+half)*stride]; e == e {
				at, rest = at+half+1, n-half-1
			}
			n = rest
		}
	case right:
		for n > 0 {
			half, rest := n/2, n/2
			if sorted[first+(at+half)*stride] <= v {
				at, rest = at+half+1, n-half-1
			}
			n = rest
		}
	default:
		for n > 0 {
			half, rest := n/2, n/2
			if sorted[first+(at+half)*stride] < v {
				at, rest = at+half+1, n-half-1
			}
			n = rest
		}
	}
	return at
}
