package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// What a kernel writes to the scratch and another one reads takes a pass over the memory each.
// Among turned members two passes can be spared where the columns need not be written: what joins
// parts of the rows of one array in another order, as the elements of a vector in a circle, is read
// where the parts lie; and products of which a few are added up at once are added as they are made.
// The values stay the same to the bit, and so do the blocks, which are chosen before: so a member
// is there when its result is watched.

// mostRearranged is the greatest number of members that read an array in parts: each takes a little
// longer for it.
const mostRearranged = 3

// sparing takes members out of the ranges of a stage.
type sparing struct {
	*stager
	made    *stage
	members []laid
	t       tiling
	spared  []bool // by member
	readers *byBuffer[[]int]
	at      *byBuffer[int] // the member that makes a buffer
}

// spare returns the members that are left, and adapts the ranges.
func (s *stager) spare(made *stage, members []laid) []laid {
	if len(s.lasts.made) > 0 || !slices.ContainsFunc(members, func(m laid) bool { return m.turned }) {
		return members // what is made once has a place of its own
	}
	p := &sparing{stager: s, made: made, members: members, spared: make([]bool, len(members)), readers: &s.laid.readers, at: &s.laid.at}
	p.readers.empty(len(s.buffers))
	p.at.empty(len(s.buffers))
	for k, m := range members {
		ins := &s.instrs[m.ins]
		for _, v := range ins.in {
			push(p.readers, v.buf, k)
		}
		p.at.set(ins.out.buf, k)
	}
	var left []laid
	for i := range made.tilings {
		t := &made.tilings[i]
		p.t = *t
		for k := t.from; k < t.to; k++ {
			if members[k].turned && !members[k].back {
				switch s.instrs[members[k].ins].kernel.(type) {
				case kernel.Concat:
					p.readInParts(k)
				case kernel.Reduce:
					p.addProducts(k)
				}
			}
		}
		from := len(left)
		for k := t.from; k < t.to; k++ {
			if !p.spared[k] {
				left = append(left, members[k])
			}
		}
		t.from, t.to = from, len(left)
	}
	return left
}

// spares takes a member out whose result nothing reads any more.
func (p *sparing) spares(k int) {
	p.spared[k] = true
	p.buffers[p.instrs[p.members[k].ins].out.buf].home = nowhere
}

// own reports whether the turned result of member k is for turned members of the range alone.
func (p *sparing) own(k int) bool {
	b := p.instrs[p.members[k].ins].out.buf
	return p.buffers[b].home == inScratch && p.buffers[b].turned && !slices.ContainsFunc(p.readers.at(b), func(r int) bool {
		return r < p.t.from || r >= p.t.to || !p.members[r].turned || p.members[r].back
	})
}

// readInParts has the readers of a Concat read the array that it joins parts of.
func (p *sparing) readInParts(k int) {
	from := p.instrs[p.members[k].ins].out.buf
	src, order, ok := p.parts(k)
	readers := p.readers.at(from)
	if !ok || !p.own(k) || len(readers) > mostRearranged {
		return
	}
	kernels := make([]kernel.Kernel, len(readers))
	for n, r := range readers {
		if kernels[n], ok = p.rearranged(r, from, order); !ok {
			return
		}
	}
	for n, r := range readers {
		ins := &p.instrs[p.members[r].ins]
		ins.kernel, ins.in = kernels[n], slices.Clone(ins.in)
		for i := range ins.in {
			if ins.in[i].buf == from {
				ins.in[i].buf = src
			}
		}
		push(p.readers, src, r)
	}
	p.spares(k)
}

// parts returns the turned buffer of which member k, a Concat, joins parts, along the last axis, to
// rows that are as long, and which place there each of their elements has.
func (p *sparing) parts(k int) (src int, order []int, ok bool) {
	ins := &p.instrs[p.members[k].ins]
	out := ins.out.layout
	last, axis := out.Rank-1, ins.kernel.(kernel.Concat).Axis
	src = ins.in[0].buf
	if axis != last && axis != -1 || out.Dims[last] < 2 || !p.buffers[src].turned || p.buffers[src].bytes != p.buffers[ins.out.buf].bytes {
		return 0, nil, false
	}
	for _, v := range ins.in {
		part := v.layout
		if v.buf != src || part.Rank != out.Rank || part.DType != out.DType || part.Offset < 0 || part.Offset+part.Dims[last] > out.Dims[last] {
			return 0, nil, false
		}
		for a := range part.Rank {
			if part.Dims[a] > 1 && part.Strides[a] != out.Strides[a] {
				return 0, nil, false
			}
		}
		for e := range part.Dims[last] {
			order = append(order, part.Offset+e)
		}
	}
	return src, order, true
}

// rearranged returns the kernel of member r that reads in the given order, along the last axis,
// what it reads from a buffer.
func (p *sparing) rearranged(r, buf int, order []int) (y kernel.Kernel, ok bool) {
	ins := &p.instrs[p.members[r].ins]
	y = ins.kernel
	for i, v := range ins.in {
		if v.buf != buf {
			continue
		}
		axis := -1
		for a := range v.layout.Rank {
			switch n, stride := v.layout.Dims[a], v.layout.Strides[a]; {
			case n == 1 || stride%len(order) == 0:
			case stride == 1 && n == len(order) && axis < 0:
				axis = a
			default:
				return nil, false
			}
		}
		if axis < 0 || v.layout.Offset != 0 {
			return nil, false
		}
		if y, ok = kernel.Rearrange(y, i, v.layout.Rank-1-axis, order); !ok {
			return nil, false
		}
	}
	return y, true
}

// addProducts has a Sum make the products that it adds up.
func (p *sparing) addProducts(r int) {
	m := &p.members[r]
	sum := &p.instrs[m.ins]
	b := sum.in[0].buf
	k, has := p.at.get(b)
	if !has || len(p.readers.at(b)) != 1 || !p.own(k) {
		return
	}
	product := &p.instrs[p.members[k].ins]
	rows := m.div.Dims
	if d := p.members[k].div.Dims; len(d) < len(rows) || !slices.Equal(d[:len(rows)], rows) {
		return
	}
	y, ok := kernel.SumProducts(sum.kernel, product.kernel, product.out.layout)
	if !ok || sum.does != computes || product.does != computes || sum.in[0].layout != product.out.layout {
		return
	}
	in, axes := slices.Clone(product.in), p.members[k].div.Axes
	if len(in) == 1 { // a square
		in, axes = append(in, in[0]), [][]int{axes[0], axes[0]}
	}
	for _, v := range in {
		if v.layout.Rank != product.out.layout.Rank {
			return
		}
	}
	for _, n := range p.made.lengths(p.t) {
		if !y.Fits(n, sum.out.layout.Len()/p.made.rows) {
			return
		}
	}
	sum.bytes += product.bytes - int64(2*touched(product.out.layout))
	sum.flops += product.flops
	sum.kernel, sum.in, sum.name, sum.reads = y, in, "MulSum", product.node
	m.div.Axes = nil
	for _, a := range axes {
		m.div.Axes = append(m.div.Axes, a[:len(rows)])
	}
	for _, v := range sum.in {
		push(p.readers, v.buf, r)
	}
	p.spares(k)
}
