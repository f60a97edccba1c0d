package kernel

import "unsafe"

// A relay copies parts of a few elements from one array to another. The parts lie wherever strides
// lead, the axes are short, and going from part to part costs more than the copy: so a table says
// where the parts of the inner axes are, and a loop goes through it.
type relay struct {
	rank     int // of the outer axes
	dims     [MaxRank]int
	to, from [MaxRank]int // strides of the outer axes, in bytes

	per                int // parts of an index of the last outer axis
	toParts, fromParts []int
	copies             partCopy
}

// mostParts is about the number of parts in a relay's table.
const mostParts = 256

// newRelay takes axes, with strides in bytes, of which the first so many are outer ones. Elements
// have the given size.
func newRelay(dims, to, from []int, outer, size int) *relay {
	r := &relay{rank: outer, per: 1}
	copy(r.dims[:], dims[:outer])
	copy(r.to[:], to[:outer])
	copy(r.from[:], from[:outer])
	if last := len(dims) - 1; last >= outer && to[last] == size && from[last] == size {
		size *= dims[last]
		dims = dims[:last]
	}
	for _, d := range dims[outer:] {
		r.per *= d
	}
	toParts, fromParts := make([]int, r.per), make([]int, r.per)
	for i := range r.per {
		for a, left := len(dims)-1, i; a >= outer; a-- {
			toParts[i], fromParts[i], left = toParts[i]+left%dims[a]*to[a], fromParts[i]+left%dims[a]*from[a], left/dims[a]
		}
	}
	return r.with(toParts, fromParts, size)
}

// with sets the parts of an index of the outer axes, of so many bytes each.
func (r *relay) with(to, from []int, size int) *relay {
	last := r.rank - 1
	r.per, r.copies = len(to), partCopyOf(size)
	for i := range min(max(1, mostParts/r.per), r.dims[last]) {
		for p := range to {
			r.toParts = append(r.toParts, to[p]+i*r.to[last])
			r.fromParts = append(r.fromParts, from[p]+i*r.from[last])
		}
	}
	return r
}

// run copies the parts of n indices of the outer axes, in row-major order, from the given one on.
// dst and src are where the parts of the first index of all are, or so many bytes from there.
func (r *relay) run(dst, src *byte, first, n, beyondTo, beyondFrom int) {
	last := r.rank - 1
	many := len(r.toParts) / r.per
	for n > 0 {
		t, f, left := -beyondTo, -beyondFrom, first
		for a := last; a > 0; a-- {
			q := left / r.dims[a]
			i := left - q*r.dims[a]
			t, f, left = t+i*r.to[a], f+i*r.from[a], q
		}
		t, f = t+left*r.to[0], f+left*r.from[0]
		end := min(n, r.dims[last]-first%r.dims[last])
		for i := 0; i < end; i += many {
			m := min(many, end-i) * r.per
			r.copies(move(dst, t+i*r.to[last]), move(src, f+i*r.from[last]), r.toParts[:m], r.fromParts[:m])
		}
		first, n = first+end, n-end
	}
}

// A partCopy copies parts of one size, from and to where the offsets say, in bytes.
type partCopy func(dst, src *byte, to, from []int)

// partCopyOf returns the loop for parts of so many bytes. A call of a function for each costs more
// than copying a few bytes.
func partCopyOf(bytes int) partCopy {
	switch bytes {
	case 1:
		return copyParts[uint8]
	case 2:
		return copyParts[uint16]
	case 4:
		return copyParts[uint32]
	case 8:
		return copyParts[uint64]
	case 12:
		return copyParts[[3]uint32]
	case 16:
		return copyParts[[2]uint64]
	case 20:
		return copyParts[[5]uint32]
	case 24:
		return copyParts[[3]uint64]
	case 32:
		return copyParts[[4]uint64]
	case 40:
		return copyParts[[5]uint64]
	case 48:
		return copyParts[[6]uint64]
	case 64:
		return copyParts[[8]uint64]
	}
	return func(dst, src *byte, to, from []int) {
		from = from[:len(to)]
		for i, t := range to {
			copy(unsafe.Slice(move(dst, t), bytes), unsafe.Slice(move(src, from[i]), bytes))
		}
	}
}

func copyParts[R any](dst, src *byte, to, from []int) {
	d, s := unsafe.Pointer(dst), unsafe.Pointer(src)
	from = from[:len(to)]
	for i, t := range to {
		*(*R)(unsafe.Add(d, t)) = *(*R)(unsafe.Add(s, from[i]))
	}
}
