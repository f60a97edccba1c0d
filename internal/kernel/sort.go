package kernel

import "math"

// ArgSort gives the indices along an axis, negative counted from the end, in the order of the
// elements there: the first of them, as many as the axis of the result is long. Equal elements, to
// which 0 and -0 belong, come in the order of their indices; NaN comes after all numbers, or before
// them with Descending. The operand holds numbers or Bools, the result I64.
type ArgSort struct {
	apart
	Axis       int
	Descending bool
}

// Flops counts two for each level of a tree of the axis's elements, and each element.
func (k ArgSort) Flops(_ Layout, in []Layout) int64 {
	levels := 1
	for n := in[0].Dims[in[0].axis(k.Axis)]; n > 1; n /= 2 {
		levels++
	}
	return 2 * int64(levels) * int64(in[0].Len())
}

// Divide divides along the axes before the one that is sorted.
func (k ArgSort) Divide(out Layout, in []Layout) []Division {
	return along(out, in, in[0].axis(k.Axis))
}

// Bind takes one operand.
func (k ArgSort) Bind(out Layout, in []Layout) Bound {
	switch in[0].DType {
	case F32:
		return argSortLoop(k, out, in[0], func(v float32) uint64 { return uint64(floatKey32(v)) })
	case F64:
		return argSortLoop(k, out, in[0], floatKey64)
	case I32:
		return argSortLoop(k, out, in[0], func(v int32) uint64 { return uint64(uint32(v) ^ 1<<31) })
	case I64:
		return argSortLoop(k, out, in[0], func(v int64) uint64 { return uint64(v) ^ 1<<63 })
	case Bool:
		return argSortLoop(k, out, in[0], func(v uint8) uint64 { return uint64(v) })
	}
	panic(unsupported(k, in[0].DType))
}

// floatKey32 returns a number that is in the order of floats, the same for all NaN and for both
// zeros.
func floatKey32(v float32) uint32 {
	switch b := math.Float32bits(v); {
	case v != v:
		return math.MaxUint32
	case v == 0:
		return 1 << 31
	default: // all bits of negative numbers are turned, without a branch that nobody can predict
		return b ^ (uint32(int32(b)>>31) | 1<<31)
	}
}

// floatKey64 is floatKey32 of 64 bits.
func floatKey64(v float64) uint64 {
	switch b := math.Float64bits(v); {
	case v != v:
		return math.MaxUint64
	case v == 0:
		return 1 << 63
	default:
		return b ^ (uint64(int64(b)>>63) | 1<<63)
	}
}

// A keyed is an element in a sort: a number in its order, and its index.
type keyed struct {
	key uint64
	at  int64
}

// sorting returns room for n elements twice, which stays the worker's: it allocates only where none
// has been as long.
func (w *Worker) sorting(n int) (a, b []keyed) {
	if len(w.keyed) < 2*n {
		w.keyed = make([]keyed, 2*n)
	}
	return w.keyed[:n], w.keyed[n : 2*n]
}

// argSortLoop sorts row by row. Where few of a row are wanted, it collects those that come before
// the last one wanted so far, and sorts whenever there are twice as many as wanted.
func argSortLoop[T ordered](k ArgSort, out, x Layout, key func(T) uint64) Bound {
	a := x.axis(k.Axis)
	kept, axis := split(x, 1<<a)
	n, stride, wanted, after, bits := x.Dims[a], 0, out.Dims[a], 1, 8*sizeOf[T]()
	if axis.rank > 0 && n > 1 {
		_, stride = axis.inner()
	}
	for _, d := range out.Dims[a+1 : out.Rank] {
		after *= d
	}
	flip := uint64(0)
	if k.Descending {
		flip = math.MaxUint64 >> (64 - bits)
	}
	room := min(n, max(2*wanted, 24)) // so few that they are sorted by insertion where few are wanted
	per := rowsPer(n)
	return Bound{blocks(kept.n, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[int64](c.Out), raw[T](c.In[0])
		sorted, beside := c.sorting(room)
		for o := lo * per; o < min(hi*per, kept.n); o++ {
			p, m, last := kept.at(o), 0, uint64(math.MaxUint64)
			least, most := src[p], src[p] // what is less, or more, comes after the last
			for i := range n {
				v := src[p]
				p += stride
				if last < math.MaxUint64 && (k.Descending && v < least || !k.Descending && v > most) {
					continue
				}
				e := key(v) ^ flip
				if e > last || e == last && i >= room {
					continue
				}
				if m == room {
					sortKeyed(sorted, beside, bits)
					m, last = wanted, sorted[wanted-1].key
					least = src[kept.at(o)+int(sorted[wanted-1].at)*stride]
					most = least
					if e >= last {
						continue
					}
				}
				sorted[m] = keyed{e, int64(i)}
				m++
			}
			sortKeyed(sorted[:m], beside[:m], bits)
			q := o/after*after*wanted + o%after
			for _, e := range sorted[:wanted] {
				dst[q] = e.at
				q += after
			}
		}
	}}
}

// sortKeyed sorts elements by keys of so many bits, equal ones in their order: short lists by
// insertion, longer ones by merging, and others by their bytes from the lowest on, which leaves
// those out that all have the same.
func sortKeyed(list, beside []keyed, bits int) {
	switch {
	case len(list) < 24:
		insertKeyed(list)
		return
	case len(list) < 2*bits+bits/2: // all the bytes' counts take longer
		mergeKeyed(list, beside[:len(list)])
		return
	}
	var counts [8][256]uint32
	for _, e := range list {
		for b, k := 0, e.key; b < bits/8; b++ {
			counts[b][byte(k)]++
			k >>= 8
		}
	}
	from, to := list, beside[:len(list)]
	for b := range bits / 8 {
		count, shift := &counts[b], 8*b
		if count[byte(from[0].key>>shift)] == uint32(len(list)) {
			continue
		}
		sum := uint32(0)
		for i, n := range count {
			count[i] = sum
			sum += n
		}
		for _, e := range from {
			place := &count[byte(e.key>>shift)]
			to[*place] = e
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// insertKeyed sorts by insertion.
func insertKeyed(list []keyed) {
	for i := 1; i < len(list); i++ {
		e, j := list[i], i
		for ; j > 0 && list[j-1].key > e.key; j-- {
			list[j] = list[j-1]
		}
		list[j] = e
	}
}

// mergeKeyed sorts runs by insertion and merges them in pairs.
func mergeKeyed(list, beside []keyed) {
	const run = 12
	for i := 0; i < len(list); i += run {
		insertKeyed(list[i:min(i+run, len(list))])
	}
	from, to := list, beside
	for n := run; n < len(list); n *= 2 {
		for i := 0; i < len(from); i += 2 * n {
			merge(to[i:min(i+2*n, len(to))], from[i:min(i+n, len(from))], from[min(i+n, len(from)):min(i+2*n, len(from))])
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// merge joins two sorted lists, equal elements of the first before those of the second.
func merge(to, a, b []keyed) {
	i, j := 0, 0
	for k := 0; i < len(a) && j < len(b); k++ {
		second := 0
		if b[j].key < a[i].key {
			second = 1
		}
		to[k] = a[i]
		if second == 1 {
			to[k] = b[j]
		}
		i, j = i+1-second, j+second
	}
	copy(to[i+j:], a[i:])
	copy(to[i+j:], b[j:])
}
