package kernel

import "slices"

// Where the inner axes of a nest are so short that a call of a loop would do a few elements only,
// operands that do not lie as the result does are laid out in scratch first, by a [relay], and a
// call does a whole tile.
type shortAxes struct {
	axis   int // the first inner one
	inner  int // elements of an index of the outer axes
	outer  int // indices of these
	per    int // of a unit
	tile   int // of a call
	units  int
	relays [maxHands]*relay // nil for an array that lies as the result does
	still  [maxHands]bool   // arrays that are the same for every index of the outer axes
}

// shortInner is the number of elements of the two innermost axes below which they are short, and
// shortMost that of all axes that a relay takes for inner ones.
const (
	shortInner = 96
	shortMost  = 256
)

// newShortAxes returns nil where the inner axes are not short. The result is dense.
func (n *nest) newShortAxes() *shortAxes {
	rows, cols := n.inner()
	if n.rank < 3 || rows*cols >= shortInner {
		return nil
	}
	s := &shortAxes{axis: n.rank, inner: 1, outer: 1}
	for s.axis > 1 && s.inner*n.dims[s.axis-1] <= shortMost {
		s.axis--
		s.inner *= n.dims[s.axis]
	}
	for _, d := range n.dims[:s.axis] {
		s.outer *= d
	}
	s.tile = tileLen / s.inner
	s.per = max(1, unitLen/(s.tile*s.inner)) * s.tile
	s.units = blocks(s.outer, s.per)
	var dense [MaxRank]int
	for i := range n.hands {
		stride := n.size[i]
		for a := n.rank - 1; a >= 0; a-- {
			dense[a] = stride
			stride *= n.dims[a]
		}
		if dense != n.strides[i] {
			s.relays[i] = newRelay(n.dims[:n.rank], dense[:n.rank], n.strides[i][:n.rank], s.axis, n.size[i])
			s.still[i] = !slices.ContainsFunc(n.strides[i][:s.axis], func(stride int) bool { return stride != 0 })
		}
	}
	return s
}

// byShortAxes divides the work by short axes, and reports whether it could. The call then gets one
// row of many elements.
func (n *nest) byShortAxes() bool {
	s := n.newShortAxes()
	if s == nil || s.relays[0] != nil {
		return false
	}
	n.short = s
	return true
}

// copyShortAxes is like byShortAxes for a nest that copies: there is no call.
func (n *nest) copyShortAxes() bool {
	s := n.newShortAxes()
	if s == nil {
		return false
	}
	s.relays[0] = newRelay(n.dims[:n.rank], n.strides[0][:n.rank], n.strides[1][:n.rank], s.axis, n.size[1])
	n.short = s
	return true
}

// run does units [lo,hi).
func (s *shortAxes) run(n *nest, c *Ctx, lo, hi int, call rowCall) {
	end := min(hi*s.per, s.outer)
	if copies := s.relays[0]; copies != nil {
		copies.run(at(n.mem(c, 0), n.offset[0]), at(n.mem(c, 1), n.offset[1]), lo*s.per, end-lo*s.per, 0, 0)
		return
	}
	var a arrays
	for i := lo * s.per; i < end; i += s.tile {
		m := min(s.tile, end-i)
		for k := range n.hands {
			src, bytes := at(n.mem(c, k), n.offset[k]), s.inner*n.size[k]
			switch r := s.relays[k]; {
			case r == nil:
				a.at[k] = move(src, i*bytes)
			case !s.still[k]:
				a.at[k] = hand(c, k-1)
				r.run(a.at[k], src, i, m, i*bytes, 0)
			case a.at[k] == nil: // what the first tile has, which is the longest, the others have too
				a.at[k] = hand(c, k-1)
				r.run(a.at[k], src, 0, 1, 0, 0)
				repeatPart(a.at[k], bytes, m)
			}
		}
		call(a, 1, m*s.inner)
	}
}

// repeatPart writes the first so many bytes n times, one after the other.
func repeatPart(dst *byte, bytes, n int) {
	all := sliceAt[byte](dst, n*bytes)
	for done := bytes; done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
}
