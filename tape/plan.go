package tape

import (
	"fmt"
	"slices"
)

// arenaAlign is the alignment of every buffer in the arena: a cache line, and
// the widest vector.
const arenaAlign = 64

// plan gives every buffer its place in the arena. It walks the tape once: a
// result takes the place of an operand that ends there if its kernel can work
// in place, or else the smallest gap that fits; then the operands that end
// there are freed. Pinned buffers are never freed.
func (p *Program) plan() {
	last := p.lastUses()
	var free gaps
	for i := range p.instrs {
		ins := &p.instrs[i]
		out := &p.buffers[ins.out.buf]
		if k := p.inPlace(i, last); k >= 0 {
			out.offset, out.place = p.buffers[ins.in[k].buf].offset, p.buffers[ins.in[k].buf].place
			ins.inPlace = true
			p.buffers[ins.in[k].buf].passed = true
		} else {
			out.place = roundUp(out.bytes)
			out.offset = free.take(out.place)
		}
		for _, b := range p.buffersOf(*ins) {
			if last[b] == i && !p.buffers[b].pinned && !p.buffers[b].passed && !p.buffers[b].leaf {
				free.give(p.buffers[b].offset, p.buffers[b].place)
			}
		}
	}
	p.arena = free.top
}

// buffersOf lists an instruction's buffers, each once.
func (p *Program) buffersOf(ins instr) []int {
	out := []int{ins.out.buf}
	for _, v := range ins.in {
		if !slices.Contains(out, v.buf) {
			out = append(out, v.buf)
		}
	}
	return out
}

// lastUses gives, for each buffer, the last instruction that touches it.
func (p *Program) lastUses() []int {
	last := make([]int, len(p.buffers))
	for i, ins := range p.instrs {
		for _, b := range p.buffersOf(ins) {
			last[b] = i
		}
	}
	return last
}

// inPlace finds an operand whose place the result may take: it ends here, lies
// dense in the arena, is as large, and no other operand reads it in another
// order. -1 if there is none.
func (p *Program) inPlace(i int, last []int) int {
	ins := p.instrs[i]
	for k, v := range ins.in {
		b := p.buffers[v.buf]
		if !ins.kernel.InPlace(k) || b.leaf || b.pinned || b.passed || last[v.buf] != i ||
			!v.layout.IsDense() || v.layout.DType.Size() != ins.out.layout.DType.Size() || v.layout.Len() != ins.out.layout.Len() || b.bytes != p.buffers[ins.out.buf].bytes {
			continue
		}
		other := slices.ContainsFunc(ins.in, func(w value) bool { return w.buf == v.buf && w.layout != v.layout })
		if !other {
			return k
		}
	}
	return -1
}

func roundUp(n int) int { return (n + arenaAlign - 1) / arenaAlign * arenaAlign }

// gaps are the free parts of the arena below top, in order of offset.
type gaps struct {
	list []gap
	top  int
}

type gap struct{ offset, size int }

// take gives the smallest gap that holds size bytes, or grows the arena.
func (f *gaps) take(size int) int {
	best := -1
	for i, g := range f.list {
		if g.size >= size && (best < 0 || g.size < f.list[best].size) {
			best = i
		}
	}
	if best < 0 {
		// A gap at the end is part of what grows.
		if n := len(f.list); n > 0 && f.list[n-1].offset+f.list[n-1].size == f.top {
			off := f.list[n-1].offset
			f.list = f.list[:n-1]
			f.top = off + size
			return off
		}
		off := f.top
		f.top += size
		return off
	}
	g := &f.list[best]
	off := g.offset
	g.offset += size
	g.size -= size
	if g.size == 0 {
		f.list = slices.Delete(f.list, best, best+1)
	}
	return off
}

// give returns a part, joined with the gaps beside it.
func (f *gaps) give(offset, size int) {
	i, _ := slices.BinarySearchFunc(f.list, offset, func(g gap, o int) int { return g.offset - o })
	f.list = slices.Insert(f.list, i, gap{offset, size})
	if i+1 < len(f.list) && offset+size == f.list[i+1].offset {
		f.list[i].size += f.list[i+1].size
		f.list = slices.Delete(f.list, i+1, i+2)
	}
	if i > 0 && f.list[i-1].offset+f.list[i-1].size == offset {
		f.list[i-1].size += f.list[i].size
		f.list = slices.Delete(f.list, i, i+1)
	}
}

// Check replays the tape over the places in the arena and proves that every
// operand still holds what was written into its buffer, and every pinned buffer
// at the end. Compile runs it on each program.
func (p *Program) Check() error {
	var intact []int // buffers that nothing has written over, in order of offset: they are disjoint
	end := func(b int) int { return p.buffers[b].offset + roundUp(p.buffers[b].bytes) }
	after := func(b, offset int) int { // orders buffers by where they end
		if end(b) <= offset {
			return -1
		}
		return 1
	}
	holds := func(buf int, when string) error {
		b := p.buffers[buf]
		if b.leaf {
			return nil
		}
		if k, _ := slices.BinarySearchFunc(intact, b.offset, after); k == len(intact) || intact[k] != buf {
			return fmt.Errorf("%s: buffer %d at %d is overwritten", when, buf, b.offset)
		}
		return nil
	}
	for i, ins := range p.instrs {
		for _, v := range ins.in {
			if err := holds(v.buf, fmt.Sprintf("instruction %d", i)); err != nil {
				return err
			}
		}
		out := p.buffers[ins.out.buf]
		if out.offset+out.bytes > p.arena {
			return fmt.Errorf("instruction %d: its result ends at %d, the arena at %d", i, out.offset+out.bytes, p.arena)
		}
		if !ins.inPlace {
			for _, v := range ins.in {
				if b := p.buffers[v.buf]; !b.leaf && out.offset < end(v.buf) && b.offset < end(ins.out.buf) {
					return fmt.Errorf("instruction %d: its result overlaps an operand", i)
				}
			}
		}
		from, _ := slices.BinarySearchFunc(intact, out.offset, after)
		to := from
		for to < len(intact) && p.buffers[intact[to]].offset < end(ins.out.buf) {
			to++
		}
		intact = slices.Replace(intact, from, to, ins.out.buf)
	}
	for b := range p.buffers {
		if p.buffers[b].pinned {
			if err := holds(b, "end"); err != nil {
				return err
			}
		}
	}
	return nil
}
