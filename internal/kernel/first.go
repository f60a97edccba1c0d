package kernel

import "math/bits"

// FirstEqual takes integers to the positions of the first integer that equals each: of [7 3 7 7] it
// makes [0 1 0 0]. The result is I64 and has the shape of the integers. Axes before From are of
// examples, which have nothing to do with each other; positions count row by row along the others. Its
// time is proportional to the number of integers.
type FirstEqual struct {
	apart
	From int
}

// Flops is 0.
func (FirstEqual) Flops(Layout, []Layout) int64 { return 0 }

// Bind takes the integers.
func (k FirstEqual) Bind(out Layout, in []Layout) Bound {
	ints, n := indexOf(in[0]), out.count(k.From, out.Rank)
	if ints.n == 0 {
		return idle
	}
	width := bits.Len(uint(2*n - 1)) // of a table that is at most half full
	return Bound{out.count(0, k.From), func(c *Ctx, lo, hi int) {
		for u := lo; u < hi; u++ {
			dst, table := raw[int64](c.Out)[u*n:][:n], c.table(1<<width)
			for r := range dst {
				v := ints.get(c.In[0], u*n+r)
				// The upper bits of a product with 2⁶⁴ over the golden ratio depend on all bits of v (Knuth).
				h := uint64(v) * gamma >> (64 - width)
				for table[h] != 0 && ints.get(c.In[0], u*n+int(table[h])-1) != v {
					h = (h + 1) & (1<<width - 1)
				}
				if table[h] == 0 {
					table[h] = int64(r) + 1
				}
				dst[r] = table[h] - 1
			}
		}
	}}
}
