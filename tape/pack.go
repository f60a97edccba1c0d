package tape

import (
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A product reads its right operand in panels. Where several products of a step read the same one
// (every block of a group does), it is laid out in panels once, by an instruction of its own. So
// are the matrices of a batch, if each is read by many blocks.

// packing is a right operand as the matrix that is packed, or the matrices of a batch.
type packing struct {
	from  value
	by    kernel.Pack
	again *again // an instruction that runs a second time has panels of its own, lest they be kept
	extra bool   // for watched values alone
}

// right returns the right operand of a product that can read it packed.
func right(ins *draft) (p packing, ok bool) {
	k, ok := ins.kernel.(kernel.PackReader)
	if !ok || len(ins.in) == 0 { // or nothing makes its result any more
		return packing{}, false
	}
	l, ok := k.PackOperand(layoutsOf(ins.in))
	_, by := k.WithPacked()
	return packing{value{ins.in[1].buf, l}, by, ins.again, ins.extra}, ok
}

// countUses counts how often each right operand is read in a run, but for blocks.
func (f *postponed) countUses() map[packing]int {
	uses := map[packing]int{}
	for i := range f.instrs {
		if r, ok := right(&f.instrs[i]); ok {
			uses[r]++
		}
	}
	return uses
}

// ownBlocks is the number of blocks that repay packing a matrix which is read by them alone.
const ownBlocks = 16

// packed returns the packed right operand of instruction i, which runs in so many blocks, of which
// in and out are the layouts, and the kernel that reads it, if packing pays.
func (s *stager) packed(i, blocks int, out kernel.Layout, in []kernel.Layout) (v value, k kernel.Kernel, ok bool) {
	if i >= len(s.from.instrs) { // it packs
		return value{}, nil, false
	}
	ins := &s.from.instrs[i]
	r, ok := right(ins)
	if !ok {
		return value{}, nil, false
	}
	times, stays := s.uses[r]*blocks, s.lasts.made[r.from.buf]
	if n := r.matrices(); n > 1 {
		if stays = false; blocks < ownBlocks*n {
			return value{}, nil, false
		}
		times /= n
	}
	if times < 2 && !stays { // once, a product packs for itself
		return value{}, nil, false
	}
	reader := ins.kernel.(kernel.PackReader)
	if !reader.PackPays(out, in, times) && !(stays && reader.PackPays(out, in, kernel.EveryRun)) {
		return value{}, nil, false
	}
	k, _ = reader.WithPacked()
	return s.pack(i, r), k, true
}

// matrices returns the number of matrices that are packed.
func (r packing) matrices() int {
	n := 1
	if l := r.from.layout; r.by.Taps == 0 {
		for _, d := range l.Dims[:l.Rank-2] {
			n *= d
		}
	}
	return n
}

// pack adds the instruction that packs r, and its stage, unless they are there.
func (s *stager) pack(i int, r packing) value {
	if v, ok := s.packs[r]; ok {
		return v
	}
	l := r.from.layout
	y := value{len(s.buffers), kernel.Dense(l.DType, r.by.Len(l.DType, l.Dims[l.Rank-2], l.Dims[l.Rank-1]))}
	if l.Rank > 2 { // the panels of a matrix are a row
		dims := append(slices.Clone(l.Dims[:l.Rank-2]), 1, y.layout.Len())
		y.layout = kernel.Dense(l.DType, dims...)
	}
	s.buffers = append(s.buffers, buffer{bytes: y.layout.Len() * l.DType.Size()})
	s.instrs = append(s.instrs, instr{node: s.instrs[i].node.In(1), name: "Pack", kernel: r.by, does: packs, out: y,
		in: []value{r.from}, bytes: int64(touched(l) + y.layout.Len()*l.DType.Size())})
	s.whole(len(s.instrs) - 1)
	s.runsOnce(s.lasts.made[r.from.buf])
	s.packs[r] = y
	return y
}

// renew forgets the panels of what a group writes to the store: later readers want the new values.
func (s *stager) renew(g *group) {
	for _, m := range g.members {
		if b := s.instrs[m.ins].out.buf; s.buffers[b].home == outside {
			maps.DeleteFunc(s.packs, func(r packing, _ value) bool { return r.from.buf == b })
		}
	}
}
