package tape

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

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
