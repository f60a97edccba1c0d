package kernel

import "slices"

// Rearranged is a [Binary] some of whose operands are read in another order along an axis, span by
// span: as it computes of what a Concat makes of parts of them, without that being made.
type Rearranged struct {
	Binary
	Axis  int // counted from the last, which is 0
	spans *[]span
}

// A span is neighbouring indices of the axis, and the first of them in each operand.
type span struct {
	from, n int
	in      [2]int
}

// Rearrange returns the kernel that reads operand i along an axis, counted from the last, in the
// given order. ok is false where k is no kernel that can, or the spans would be so many that laying
// out the operand takes less time.
func Rearrange(k Kernel, i, axis int, order []int) (y Rearranged, ok bool) {
	switch k := k.(type) {
	case Binary:
		y = Rearranged{Binary: k, Axis: axis, spans: &[]span{{n: len(order)}}}
	case Rearranged:
		y = k
	default:
		return y, false
	}
	if y.Axis != axis {
		return y, false
	}
	var cut []span
	for _, p := range *y.spans {
		for q := range p.n {
			at := p.in
			for h := range at {
				at[h] += q
			}
			at[i] = order[at[i]]
			if last := len(cut) - 1; last >= 0 && q > 0 && at[i] == cut[last].in[i]+cut[last].n {
				cut[last].n++
			} else {
				cut = append(cut, span{p.from + q, 1, at})
			}
		}
	}
	y.spans = &cut
	return y, len(cut) <= mostSpans
}

// mostSpans is the greatest number of spans: each is a call.
const mostSpans = 4

// InPlace is false: a span may be read after another was written over it.
func (Rearranged) InPlace(int) bool { return false }

// Bind takes operands that along the axis have the size of the result, or are repeated.
func (k Rearranged) Bind(out Layout, in []Layout) Bound {
	axis := out.Rank - 1 - k.Axis
	type part struct {
		Bound
		at int // bytes
	}
	var parts []part
	for _, p := range *k.spans {
		to, from := out, slices.Clone(in)
		to.Dims[axis] = p.n
		for i := range from {
			l := &from[i]
			if a := l.Rank - 1 - k.Axis; a >= 0 && l.Dims[a] > 1 {
				l.Dims[a] = p.n
				l.Offset += p.in[i] * l.Strides[a]
			}
		}
		if p.n*out.count(axis+1, out.Rank) > 1 {
			parts = append(parts, part{k.Binary.Bind(to, from), p.from * out.Strides[axis] * out.DType.Size()})
			continue
		}
		// A loop writes neighbours, and these have none.
		elements := make([]*walk, len(in))
		for i, l := range from {
			elements[i] = walkOver(to, l)
		}
		one := Dense(out.DType, 1)
		for e := range to.Len() {
			for i := range from {
				from[i] = Layout{DType: in[i].DType, Rank: 1, Offset: elements[i].at(e)}
				from[i].Dims[0] = 1
			}
			at := p.from*out.Strides[axis] + walkOf(to, allAxes, 0).at(e)
			parts = append(parts, part{k.Binary.Bind(one, from), at * out.DType.Size()})
		}
	}
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		whole := c.Out
		for i := range parts {
			p := &parts[i]
			c.Out = whole.From(p.at)
			p.Run(c, 0, p.Units)
		}
		c.Out = whole
	}}
}
