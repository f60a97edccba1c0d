package tape

import (
	"fmt"
	"math"
	"slices"
)

// An array needs its place from the stage that makes it to the last one that reads it. For example,
// for
//
//	lowered "four"
//	  a[i=64] = Sin x[i=64]
//	  c[i=64] = Cos x[i=64]
//	  b[i=64] = Tanh a[i=64]
//	  bc[i=64] = Mul b[i=64], c[i=64]
//	  d[] = Sum bc[i=64]
//
// the arena holds two arrays at a time: b takes the place of a, which it is computed from element
// by element, bc that of b, and d the gap that c leaves. Places are [from…to) in bytes:
//
//	planned "four"
//	  stage 0
//	    a[i=64] = Sin x[i=64]  · 0…256
//	  stage 1
//	    c[i=64] = Cos x[i=64]  · 256…512
//	  stage 2
//	    b[i=64] = Tanh a[i=64]  · 0…256, in place
//	  stage 3
//	    bc[i=64] = Mul b[i=64], c[i=64]  · 0…256, in place
//	  stage 4
//	    d[] = Sum bc[i=64]  · 256…260
//	  arena of 512 B

// arenaAlign is the alignment of every buffer in the arena: a cache line, and the widest vector.
const arenaAlign = 64

// tooLong is a length of an arena that no machine has: in a shorter one, every offset fits into an
// int, even rounded up.
const tooLong = math.MaxInt / arenaAlign * arenaAlign

// planned is the form in which the stages have their order and every array has its place in the
// arena.
type planned struct {
	sequence
	how   *settings
	arena int // bytes
}

// plan gives every buffer of the arena its place, for each of the orders, and keeps the plan with
// the smallest arena. Where more is live at a time than an arena can hold, the arena has the length
// tooLong, and the offsets mean nothing.
func plan(o *ordered) *planned {
	best := newPlanning(o, o.orders[0])
	for _, order := range o.orders[1:] {
		if next := newPlanning(o, order); next.arena() < best.arena() {
			best = next
		}
	}
	p := &planned{sequence: best.sequence, how: o.how, arena: best.arena()}
	for b, offset := range best.offset {
		if p.buffers[b].home == inArena {
			p.buffers[b].offset = offset
		}
	}
	for i, inPlace := range best.inPlace {
		if ins := &p.instrs[i]; inPlace && !ins.inPlace {
			ins.inPlace = true
			ins.touches()
		}
	}
	return p
}

// planning walks the stages in an order once: a result takes the place of an operand that ends
// there, if the kernels can work in place, or else the smallest gap that fits; then the places of
// buffers that end there are given back. Pinned buffers are never given back, and those that are kept
// from run to run come first.
type planning struct {
	sequence
	free    gaps
	last    []int  // by buffer: the last stage that touches it
	offset  []int  // by buffer
	passed  []bool // by buffer: its place went to a result, or was given back
	inPlace []bool // by instruction
	touches        // of the stage at hand
}

func newPlanning(o *ordered, order []int) *planning {
	p := &planning{sequence: o.sequence, free: gaps{tooLong: o.how.tooLong}, last: make([]int, len(o.buffers)),
		offset: make([]int, len(o.buffers)), passed: make([]bool, len(o.buffers)), inPlace: make([]bool, len(o.instrs))}
	p.stages = make([]stage, len(order))
	for i, from := range order {
		p.stages[i] = o.stages[from]
	}
	for i := range p.stages {
		for _, b := range p.made(i) {
			p.last[b] = i
		}
		for _, b := range p.read(i) {
			p.last[b] = i
		}
	}
	for b := range p.buffers { // what is kept has its place before all stages, and for itself
		if p.buffers[b].kept {
			p.offset[b] = p.free.take(roundUp(p.buffers[b].bytes))
		}
	}
	for i := range p.stages {
		o.how.look()
		p.stage(i)
	}
	return p
}

func (p *planning) arena() int { return p.free.length() }

// stage places the results of stage i, and gives back the places of buffers that end there.
func (p *planning) stage(i int) {
	made, read := p.made(i), p.read(i)
	p.touches.of(&p.stages[i], len(p.buffers))
	ending := p.ending(read, i)
	for _, b := range made {
		if p.buffers[b].kept {
			continue
		}
		if from := p.replaced(i, b, ending); from >= 0 {
			p.offset[b], p.passed[from] = p.offset[from], true
		} else {
			p.offset[b] = p.free.take(roundUp(p.buffers[b].bytes))
		}
	}
	for _, buffers := range [][]int{made, read} {
		for _, b := range buffers {
			if p.ends(b, i) {
				p.free.give(p.offset[b], roundUp(p.buffers[b].bytes))
				p.passed[b] = true // given back once
			}
		}
	}
}

// ends reports whether stage i is the last that touches buffer b, and its place is still its own.
func (p *planning) ends(b, i int) bool {
	return p.last[b] == i && p.buffers[b].home == inArena && !p.buffers[b].stays() && !p.passed[b]
}

// maxEnding limits the buffers that end in a stage and are tried for each of its results.
const maxEnding = 16

// ending lists some buffers that stage i, which reads the given ones, is the last to read.
func (p *planning) ending(read []int, i int) (out []int) {
	for _, b := range read {
		if len(out) < maxEnding && p.ends(b, i) && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}

// replaced finds a buffer that ends in stage i and whose place result b of the stage may take, -1
// if there is none: every reader in the stage comes no later than the step that writes b, and
// reads, block by block, only the rows that are written. The operands of that step are tried first,
// then other buffers that end here.
func (p *planning) replaced(i, b int, ending []int) int {
	s := &p.stages[i]
	at, ok := p.maker.get(b)
	if !ok || slices.ContainsFunc(s.sums, func(x sum) bool { return x.partial == b || x.out == b }) {
		return -1
	}
	fits := func(from int) bool {
		return !p.maker.has(from) && p.ends(from, i) && p.buffers[from].bytes == p.buffers[b].bytes && p.sameRows(s, &p.touches, from, at)
	}
	ins := s.steps[at].ins
	for n, r := range s.steps[at].in {
		if mayShare(&p.instrs[ins], n) && fits(r.buf) {
			p.inPlace[ins] = true
			return r.buf
		}
	}
	if s.rows == 0 {
		return -1
	}
	for _, from := range ending {
		if r := p.readers.at(from); r[len(r)-1] < at && fits(from) {
			p.inPlace[ins] = true
			return from
		}
	}
	return -1
}

// tooLarge reports whether no machine has the memory that the program needs.
func (p *planned) tooLarge() bool { return max(p.arena, p.scratchBytes()) >= p.how.tooLong }

// String lists the stages with their steps, and where in the arena or the scratch their results
// lie.
func (p *planned) String() string {
	return p.text("planned", true) + fmt.Sprintf("  arena of %d B\n", p.arena)
}

// check replays the arena: see [sequence.replayArena].
func (p *planned) check() error {
	if p.tooLarge() { // the places mean nothing
		return nil
	}
	return p.replayArena(p.arena, p.how.look)
}

// touches lists the steps of a stage that write and read each buffer.
type touches struct {
	maker   byBuffer[int]   // the step that writes it
	readers byBuffer[[]int] // the steps that read it, in order
	operand []int           // the buffers that are read, each once
}

// of finds the steps of a stage; there are so many buffers.
func (t *touches) of(s *stage, buffers int) {
	t.maker.empty(buffers)
	t.readers.empty(buffers)
	t.operand = t.operand[:0]
	for k := range s.steps {
		st := &s.steps[k]
		t.maker.set(st.out.buf, k)
		for i := range st.in {
			b := st.in[i].buf
			if l := t.readers.at(b); len(l) == 0 {
				t.operand = append(t.operand, b)
			} else if l[len(l)-1] == k {
				continue
			}
			push(&t.readers, b, k)
		}
	}
}

// sameRows reports whether each step that reads buf is at or before the given one and reads only
// the rows of its block, in order.
func (q *sequence) sameRows(s *stage, t *touches, buf, at int) bool {
	bytes := q.buffers[buf].bytes
	for _, k := range t.readers.at(buf) {
		st := &s.steps[k]
		ins := &q.instrs[st.ins]
		for n, r := range st.in {
			if r.buf != buf {
				continue
			}
			l := ins.in[n].layout
			switch {
			case k > at || !l.IsDense() || l.Len()*l.DType.Size() != bytes:
				return false
			case k == at && !ins.kernel.InPlace(n):
				return false
			case s.rows > 0 && r.stride*s.rows != bytes:
				return false
			}
		}
	}
	return true
}

func roundUp(n int) int { return (n + arenaAlign - 1) / arenaAlign * arenaAlign }

// gaps are the free parts of a memory below top, in order of offset.
type gaps struct {
	list    []gap
	top     int
	tooLong int  // top stays below it
	full    bool // something was to be taken that has no place
}

type gap struct{ offset, size int }

// length returns the length of the memory.
func (f *gaps) length() int {
	if f.full {
		return f.tooLong
	}
	return f.top
}

// take returns the smallest gap that holds size bytes, or grows the memory. It returns 0 once that
// would become too long.
func (f *gaps) take(size int) int {
	if f.full {
		return 0
	}
	best := -1
	for i, g := range f.list {
		if g.size >= size && (best < 0 || g.size < f.list[best].size) {
			best = i
		}
	}
	if best < 0 {
		off := f.top
		// A gap at the end is part of what grows.
		if n := len(f.list); n > 0 && f.list[n-1].offset+f.list[n-1].size == f.top {
			off = f.list[n-1].offset
			f.list = f.list[:n-1]
		}
		if size >= f.tooLong-off {
			f.full = true
			return 0
		}
		f.top = off + size
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

// give makes a part a gap again, joined with the gaps beside it.
func (f *gaps) give(offset, size int) {
	if f.full {
		return
	}
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
