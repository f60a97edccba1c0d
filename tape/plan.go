package tape

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
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

// Check replays the tape over the places in the arena, and over those in the
// scratch of each stage, and proves that every operand still holds what was
// written into its buffer when it is read, and every pinned buffer at the end,
// that all writes stay within the arena, and that every buffer of it is written.
// So it does for the bodies of loops. Compile runs it on each program.
func (p *Program) Check() error {
	if p == nil {
		return errNilProgram
	}
	arena := newReplay(p, p.arena)
	for i := range p.stage {
		p.under.look()
		s := &p.stage[i]
		scratch := newReplay(p, s.scratch)
		t := s.touches()
		reads := p.spreadOf(t)
		runs := s.runs
		if s.rows == 0 {
			runs = []tiled{{0, 1, 0}}
		}
		for k, st := range s.steps {
			if run := runs[0]; k == run.from {
				p.reserve(scratch, s, run)
			}
			when := fmt.Sprintf("stage %d, step %d", i, k)
			for _, r := range st.in {
				b := &p.buffers[r.buf]
				switch {
				case b.leaf:
				case b.scratch:
					if !scratch.holds(r.buf) {
						return fmt.Errorf("%s: buffer %d at %d of the scratch is overwritten", when, r.buf, b.offset)
					}
				case arena.holds(r.buf):
				default:
					return fmt.Errorf("%s: buffer %d at %d is overwritten", when, r.buf, b.offset)
				}
			}
			if b := st.out.buf; p.wholeBlock(b, runs[0]) && p.sharedBy(b, st) < 0 && !scratch.holds(b) {
				return fmt.Errorf("%s: buffer %d of the block lies on what its tiles use", when, b)
			}
			if err := p.write(arena, scratch, s, t, reads, st, k); err != nil {
				return fmt.Errorf("%s: %w", when, err)
			}
			if l := p.loopOf(s); l != nil {
				if err := p.checkLoop(arena, s, l, reads); err != nil {
					return fmt.Errorf("%s: %w", when, err)
				}
			}
			if k+1 == runs[0].to {
				if b := p.lost(scratch, s, runs[0]); b >= 0 {
					return fmt.Errorf("%s: buffer %d of the block does not outlast its tiles", when, b)
				}
				runs = runs[1:]
			}
		}
		for _, f := range s.folds {
			if f.out != f.partial {
				if err := arena.write(f.out); err != nil {
					return fmt.Errorf("stage %d: %w", i, err)
				}
			}
		}
	}
	made := make([]bool, len(p.buffers))
	for i := range p.stage {
		for _, b := range p.madeIn(i) {
			made[b] = true
		}
	}
	for b := range p.buffers {
		switch buf := &p.buffers[b]; {
		case buf.leaf || buf.scratch:
		case !made[b]:
			return fmt.Errorf("end: no stage makes buffer %d, of %d B", b, buf.bytes)
		case buf.pinned && !arena.holds(b):
			return fmt.Errorf("end: buffer %d at %d is overwritten", b, buf.offset)
		}
	}
	return nil
}

// reserve replays that what a run makes for later ones has its place from the first tile on, unless it shares an operand's.
func (p *Program) reserve(scratch *replay, s *stage, run tiled) {
	for k := run.from; k < run.to; k++ {
		b := s.steps[k].out.buf
		if p.wholeBlock(b, run) && p.sharedBy(b, s.steps[k]) < 0 {
			_ = scratch.write(b) // an error comes up again when the step is replayed
		}
	}
}

// lost finds a buffer of the whole block that a run reads or makes and that does not hold at the run's end; -1 if there is none.
func (p *Program) lost(scratch *replay, s *stage, run tiled) int {
	over := map[int]bool{}
	for k := run.from; k < run.to; k++ {
		over[p.sharedBy(s.steps[k].out.buf, s.steps[k])] = true
	}
	for k := run.from; k < run.to; k++ {
		for _, r := range append([]ref{s.steps[k].out}, s.steps[k].in...) {
			if p.wholeBlock(r.buf, run) && !over[r.buf] && !scratch.holds(r.buf) {
				return r.buf
			}
		}
	}
	return -1
}

// wholeBlock reports whether a buffer in scratch outlasts the tiles of a run.
func (p *Program) wholeBlock(b int, run tiled) bool {
	return p.buffers[b].scratch && p.buffers[b].rows != run.rows
}

// sharedBy is the operand of a step in scratch whose place its result b takes, -1 if there is none.
func (p *Program) sharedBy(b int, st step) int {
	out := &p.buffers[b]
	for i, v := range p.instrs[st.ins].in {
		if in := &p.buffers[v.buf]; out.scratch && in.scratch && in.offset == out.offset && in.bytes == out.bytes && in.rows == out.rows && p.mayShare(&p.instrs[st.ins], i) {
			return v.buf
		}
	}
	return -1
}

// write replays what a step writes. A buffer of the arena may be written over in a stage only if its rows are those of the result.
func (p *Program) write(arena, scratch *replay, s *stage, t touches, reads spread, st step, k int) error {
	out := &p.buffers[st.out.buf]
	switch {
	case out.leaf:
		return nil
	case out.scratch:
		over := p.sharedBy(st.out.buf, st)
		for _, v := range p.instrs[st.ins].in {
			if b := &p.buffers[v.buf]; b.scratch && v.buf != over && b.offset < out.offset+out.bytes && out.offset < b.offset+b.bytes {
				return fmt.Errorf("the result overlaps operand %d", v.buf)
			}
		}
		return scratch.write(st.out.buf)
	}
	for _, buf := range reads.over(p, out.offset, out.bytes) {
		b := &p.buffers[buf]
		if buf == st.out.buf {
			continue
		}
		if b.offset != out.offset || b.bytes != out.bytes || !p.sameRows(s, t, buf, k) {
			return fmt.Errorf("the result overlaps operand %d of step %d", buf, t.readers[buf][0])
		}
	}
	return arena.write(st.out.buf)
}

// replay is a block of memory: the buffers in it that nothing has written over, in order of offset. They are disjoint.
type replay struct {
	p      *Program
	size   int
	intact []int
}

func newReplay(p *Program, size int) *replay { return &replay{p: p, size: size} }

func (m *replay) end(b int) int { return m.p.buffers[b].offset + roundUp(m.p.buffers[b].bytes) }

// find gives the first intact buffer that ends after offset.
func (m *replay) find(offset int) int {
	k, _ := slices.BinarySearchFunc(m.intact, offset, func(b, offset int) int {
		if m.end(b) <= offset {
			return -1
		}
		return 1
	})
	return k
}

func (m *replay) holds(b int) bool {
	k := m.find(m.p.buffers[b].offset)
	return k < len(m.intact) && m.intact[k] == b
}

// write puts buffer b in place of all that it overlaps.
func (m *replay) write(b int) error {
	out := m.p.buffers[b]
	if out.offset+out.bytes > m.size {
		return fmt.Errorf("the result ends at %d, the memory at %d", out.offset+out.bytes, m.size)
	}
	from := m.find(out.offset)
	to := from
	for to < len(m.intact) && m.p.buffers[m.intact[to]].offset < m.end(b) {
		to++
	}
	m.intact = slices.Replace(m.intact, from, to, b)
	return nil
}

// spread is what a stage reads from the arena, in order of offset. Before the stage writes anything it is all intact, so no two overlap.
type spread []int

func (p *Program) spreadOf(t touches) spread {
	var s spread
	for b := range t.readers {
		if _, made := t.maker[b]; !made && !p.buffers[b].leaf && !p.buffers[b].scratch {
			s = append(s, b)
		}
	}
	slices.SortFunc(s, func(a, b int) int { return cmp.Or(p.buffers[a].offset-p.buffers[b].offset, a-b) })
	return s
}

// over gives those that overlap a part of the arena.
func (s spread) over(p *Program, offset, bytes int) []int {
	from := sort.Search(len(s), func(i int) bool { return p.buffers[s[i]].offset+p.buffers[s[i]].bytes > offset })
	to := from
	for to < len(s) && p.buffers[s[to]].offset < offset+bytes {
		to++
	}
	return s[from:to]
}
