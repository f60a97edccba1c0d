package tape

import (
	"math"
	"slices"
)

// arenaAlign is the alignment of every buffer in the arena: a cache line, and
// the widest vector.
const arenaAlign = 64

// tooLong is a length of an arena that no machine has: what lies in a shorter one has an offset that
// an int holds, rounded up and all.
const tooLong = math.MaxInt / arenaAlign * arenaAlign

// plan gives every buffer of the arena its place. It walks the stages once: a
// result takes the place of an operand that ends there, if the kernels can work
// in place, or else the smallest gap that fits; then what ends there is freed.
// Pinned buffers are never freed. Where there are more of them at a time than an arena
// can hold, it has the length p.tooLong, and the places mean nothing.
func (p *Program) plan() {
	p.unplan()
	last := p.lastUses()
	free := gaps{tooLong: p.tooLong}
	for i := range p.stage {
		p.under.look()
		made, t := p.madeIn(i), p.stage[i].touches()
		ending := p.endingIn(i, last)
		for _, b := range made {
			out := &p.buffers[b]
			if from := p.inPlace(i, b, last, t, ending); from >= 0 {
				out.offset, out.place = p.buffers[from].offset, p.buffers[from].place
				p.buffers[from].passed = true
				continue
			}
			out.place = roundUp(out.bytes)
			out.offset = free.take(out.place)
		}
		for _, b := range slices.Concat(made, p.readIn(i)) {
			if buf := &p.buffers[b]; last[b] == i && !buf.pinned && !buf.passed && !buf.leaf && !buf.scratch {
				free.give(buf.offset, buf.place)
				buf.passed = true // given back once
			}
		}
	}
	p.arena = free.length()
}

// tooLarge reports whether no machine has the memory that the program needs.
func (p *Program) tooLarge() bool { return max(p.arena, p.scratch) >= p.tooLong }

// unplan forgets the places in the arena.
func (p *Program) unplan() {
	for i := range p.buffers {
		if b := &p.buffers[i]; !b.scratch {
			b.offset, b.place, b.passed = 0, 0, false
		}
	}
	for i := range p.instrs {
		if ins := &p.instrs[i]; !p.buffers[ins.out.buf].scratch {
			ins.inPlace = false
		}
	}
}

// madeIn lists the buffers of the arena that a stage writes, each once.
func (p *Program) madeIn(i int) []int {
	var out []int
	s := &p.stage[i]
	for k := range s.steps {
		if b := s.steps[k].out.buf; !p.buffers[b].scratch && !p.buffers[b].leaf {
			out = append(out, b)
		}
	}
	for _, f := range s.folds {
		if f.out != f.partial {
			out = append(out, f.out)
		}
	}
	if s.work != 0 {
		out = append(out, s.work)
	}
	return out
}

// maxEnding is how many buffers that end in a stage may be tried for each of its results.
const maxEnding = 16

// endingIn lists some buffers of the arena that a stage is the last to read.
func (p *Program) endingIn(i int, last []int) []int {
	var out []int
	for _, b := range p.readIn(i) {
		if buf := &p.buffers[b]; last[b] == i && !buf.leaf && !buf.scratch && !buf.pinned && len(out) < maxEnding && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}

// readIn lists the buffers that a stage reads, some more than once.
func (p *Program) readIn(i int) []int {
	var out []int
	for _, st := range p.stage[i].steps {
		for _, r := range st.in {
			out = append(out, r.buf)
		}
	}
	return out
}

// lastUses gives, for each buffer, the last stage that touches it.
func (p *Program) lastUses() []int {
	last := make([]int, len(p.buffers))
	for i := range p.stage {
		for _, b := range slices.Concat(p.madeIn(i), p.readIn(i)) {
			last[b] = i
		}
	}
	return last
}

// touches lists what a stage does with each buffer.
type touches struct {
	maker   map[int]int   // the step that writes it
	readers map[int][]int // the steps that read it, in order
}

func (s *stage) touches() touches {
	t := touches{make(map[int]int, len(s.steps)), make(map[int][]int, len(s.steps))}
	for k := range s.steps {
		st := &s.steps[k]
		t.maker[st.out.buf] = k
		for _, r := range st.in {
			if l := t.readers[r.buf]; len(l) == 0 || l[len(l)-1] != k {
				t.readers[r.buf] = append(l, k)
			}
		}
	}
	return t
}

// inPlace finds a buffer that ends in stage i and whose place result b of the
// stage may take: every reader in the stage comes no later than what writes b
// and reads, block by block, just the rows that are written. -1 if there is none.
// The operands of what writes b are tried first, then others that end here.
func (p *Program) inPlace(i, b int, last []int, t touches, ending []int) int {
	s := &p.stage[i]
	at, ok := t.maker[b]
	if !ok || slices.ContainsFunc(s.folds, func(f fold) bool { return f.partial == b || f.out == b }) {
		return -1
	}
	ins := &p.instrs[s.steps[at].ins]
	fits := func(buf int) bool {
		own := &p.buffers[buf]
		_, made := t.maker[buf]
		return !made && !own.leaf && !own.scratch && !own.pinned && !own.passed && last[buf] == i && own.bytes == p.buffers[b].bytes && p.sameRows(s, t, buf, at)
	}
	for n, r := range s.steps[at].in {
		if p.mayShare(ins, n) && fits(r.buf) {
			ins.inPlace = true
			return r.buf
		}
	}
	if s.rows == 0 {
		return -1
	}
	for _, buf := range ending {
		if r := t.readers[buf]; r[len(r)-1] < at && fits(buf) {
			ins.inPlace = true
			return buf
		}
	}
	return -1
}

// sameRows reports whether each step that reads buf is at or before the given one and reads only the rows of its block, in order.
func (p *Program) sameRows(s *stage, t touches, buf, at int) bool {
	for _, k := range t.readers[buf] {
		st := &s.steps[k]
		for n, r := range st.in {
			if r.buf != buf {
				continue
			}
			ins := &p.instrs[st.ins]
			l := ins.in[n].layout
			if k > at || !l.IsDense() || l.Len()*l.DType.Size() != p.buffers[buf].bytes {
				return false
			}
			if k == at && !ins.kernel.InPlace(n) {
				return false
			}
			if s.rows > 0 && r.stride*s.rows != p.buffers[buf].bytes {
				return false
			}
		}
	}
	return true
}

func roundUp(n int) int { return (n + arenaAlign - 1) / arenaAlign * arenaAlign }

// gaps are the free parts of the arena below top, in order of offset.
type gaps struct {
	list    []gap
	top     int
	tooLong int  // top stays below it
	full    bool // something was to be taken that has no place
}

type gap struct{ offset, size int }

// length is that of the arena.
func (f *gaps) length() int {
	if f.full {
		return f.tooLong
	}
	return f.top
}

// take gives the smallest gap that holds size bytes, or grows the arena. It gives 0 once that
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
		if n := len(f.list); n > 0 && f.list[n-1].offset+f.list[n-1].size == f.top { // a gap at the end is part of what grows
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

// give returns a part, joined with the gaps beside it.
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
