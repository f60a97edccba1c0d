package tape

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Check replays the tape over the places in the arena, and over those in the scratch of each stage,
// and proves that every operand still holds what was written into its buffer when it is read, and
// every pinned buffer at the end, that nothing else is written over what is kept from run to run, that all writes stay within the arena, and that every buffer of
// it is written. It does the same for the bodies of loops. Compile runs it on each program.
func (p *Program) Check() error {
	if p == nil {
		return errNilProgram
	}
	if err := p.replayScratch(); err != nil {
		return err
	}
	return p.replayArena(p.arena, func() {})
}

// replay models a block of memory: the buffers in it that nothing has overwritten, in order of
// offset. They are disjoint.
type replay struct {
	*sequence
	size   int
	intact []int
}

func (m *replay) end(b int) int { return m.buffers[b].offset + roundUp(m.buffers[b].bytes) }

// find returns the place among the intact buffers of the first that ends after offset.
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
	k := m.find(m.buffers[b].offset)
	return k < len(m.intact) && m.intact[k] == b
}

// write replaces all buffers that b overlaps by b.
func (m *replay) write(b int) error {
	out := m.buffers[b]
	if out.offset+out.bytes > m.size {
		return fmt.Errorf("the result ends at %d, the memory at %d", out.offset+out.bytes, m.size)
	}
	from := m.find(out.offset)
	to := from
	for to < len(m.intact) && m.buffers[m.intact[to]].offset < m.end(b) {
		if other := m.intact[to]; m.buffers[other].kept && other != b {
			return fmt.Errorf("buffer %d at %d, which is kept from run to run, is overwritten", other, m.buffers[other].offset)
		}
		to++
	}
	m.intact = slices.Replace(m.intact, from, to, b)
	return nil
}

// arenaReplay replays the arena, stage by stage.
type arenaReplay struct {
	replay
	s       *stage
	touches       // of the stage
	reads   []int // results of other stages that it reads, by offset; at first no two overlap
}

// replayArena returns an error unless all values read from the arena are intact: see
// [Program.Check].
func (q *sequence) replayArena(size int, look func()) error {
	m := &arenaReplay{replay: replay{sequence: q, size: size}}
	made := make([]bool, len(q.buffers))
	for b := range q.buffers {
		if q.buffers[b].kept {
			if err := m.write(b); err != nil {
				return err
			}
		}
	}
	for i := range q.stages {
		look()
		if err := m.stage(i); err != nil {
			return fmt.Errorf("stage %d%w", i, err)
		}
		for _, b := range q.made(i) {
			made[b] = true
		}
	}
	for b := range q.buffers {
		switch buf := &q.buffers[b]; {
		case buf.home != inArena:
		case !made[b]:
			return fmt.Errorf("end: no stage makes buffer %d, of %d B", b, buf.bytes)
		case buf.stays() && !m.holds(b):
			return fmt.Errorf("end: buffer %d at %d is overwritten", b, buf.offset)
		}
	}
	return nil
}

// stage replays what stage i reads and writes.
func (m *arenaReplay) stage(i int) error {
	m.s = &m.stages[i]
	m.touches.of(m.s, len(m.buffers))
	m.reads = m.reads[:0]
	for _, b := range m.operand {
		if !m.maker.has(b) && m.buffers[b].home == inArena {
			m.reads = append(m.reads, b)
		}
	}
	slices.SortFunc(m.reads, func(a, b int) int { return cmp.Or(m.buffers[a].offset-m.buffers[b].offset, a-b) })
	for k := range m.s.steps {
		if err := m.step(k); err != nil {
			return fmt.Errorf(", step %d: %w", k, err)
		}
	}
	for _, x := range m.s.sums {
		if x.out != x.partial {
			if err := m.write(x.out); err != nil {
				return fmt.Errorf(": %w", err)
			}
		}
	}
	return nil
}

// step replays what step k of the stage reads and writes.
func (m *arenaReplay) step(k int) error {
	st := &m.s.steps[k]
	for _, r := range st.in {
		if b := &m.buffers[r.buf]; b.home == inArena && !m.holds(r.buf) {
			return fmt.Errorf("buffer %d at %d is overwritten", r.buf, b.offset)
		}
	}
	if m.buffers[st.out.buf].home == inArena {
		if err := m.result(k, st.out.buf); err != nil {
			return err
		}
	}
	if l := m.loopOf(m.s); l != nil {
		return m.loop(l)
	}
	return nil
}

// result replays that step k writes buffer b. What the stage still reads may be written over only
// if its rows are those of the result.
func (m *arenaReplay) result(k, b int) error {
	out := &m.buffers[b]
	for _, buf := range m.over(out) {
		over := &m.buffers[buf]
		if over.offset != out.offset || over.bytes != out.bytes || !m.sameRows(m.s, &m.touches, buf, k) {
			return fmt.Errorf("the result overlaps operand %d of step %d", buf, m.readers.at(buf)[0])
		}
	}
	return m.write(b)
}

// over returns the buffers that the stage reads and that overlap out.
func (m *arenaReplay) over(out *buffer) []int {
	reads := m.reads
	from := sort.Search(len(reads), func(i int) bool {
		b := &m.buffers[reads[i]]
		return b.offset+b.bytes > out.offset
	})
	to := from
	for to < len(reads) && m.buffers[reads[to]].offset < out.offset+out.bytes {
		to++
	}
	return reads[from:to]
}

// loop checks the body of a loop, and replays that its arena lies on nothing that the loop reads or
// writes.
func (m *arenaReplay) loop(l *loop) error {
	if err := l.body.Check(); err != nil || m.s.work == 0 {
		return err
	}
	if over := m.over(&m.buffers[m.s.work]); len(over) > 0 {
		return fmt.Errorf("what its steps need overlaps operand %d", over[0])
	}
	if err := m.write(m.s.work); err != nil {
		return err
	}
	if b := m.s.steps[0].out.buf; m.buffers[b].home == inArena && !m.holds(b) {
		return fmt.Errorf("what its steps need overlaps the result")
	}
	return nil
}

// scratchReplay replays the scratch of one stage, range of steps by range of steps.
type scratchReplay struct {
	replay
	s    *stage
	over byBuffer[struct{}] // buffers whose place a step of the range at hand takes
}

// replayScratch returns an error unless all values that each stage reads from the scratch are
// intact.
func (q *sequence) replayScratch() error {
	m := &scratchReplay{replay: replay{sequence: q}}
	for i := range q.stages {
		if err := m.stage(&q.stages[i]); err != nil {
			return fmt.Errorf("stage %d, %w", i, err)
		}
	}
	return nil
}

// stage replays what a stage reads and writes.
func (m *scratchReplay) stage(s *stage) error {
	m.s, m.size, m.intact = s, s.scratch, m.intact[:0]
	for _, t := range m.s.tilings {
		// Results for later ranges have their place from the first tile on.
		for k := t.from; k < t.to; k++ {
			if b := m.s.steps[k].out.buf; m.outlasts(b, t) && m.sharedBy(k) < 0 {
				_ = m.write(b) // an error comes up again when the step is replayed
			}
		}
		for k := t.from; k < t.to; k++ {
			if err := m.step(k, t); err != nil {
				return fmt.Errorf("step %d: %w", k, err)
			}
		}
		if b := m.lost(t); b >= 0 {
			return fmt.Errorf("step %d: buffer %d of the block does not outlast its tiles", t.to-1, b)
		}
	}
	return nil
}

// step replays what step k reads and writes.
func (m *scratchReplay) step(k int, t tiling) error {
	st := &m.s.steps[k]
	for _, r := range st.in {
		if b := &m.buffers[r.buf]; b.home == inScratch && !m.holds(r.buf) {
			return fmt.Errorf("buffer %d at %d of the scratch is overwritten", r.buf, b.offset)
		}
	}
	out, over := &m.buffers[st.out.buf], m.sharedBy(k)
	if out.home != inScratch {
		return nil
	}
	if m.outlasts(st.out.buf, t) && over < 0 && !m.holds(st.out.buf) {
		return fmt.Errorf("buffer %d of the block lies on what its tiles use", st.out.buf)
	}
	for _, v := range m.instrs[st.ins].in {
		if b := &m.buffers[v.buf]; b.home == inScratch && v.buf != over && b.offset < out.offset+out.bytes && out.offset < b.offset+b.bytes {
			return fmt.Errorf("the result overlaps operand %d", v.buf)
		}
	}
	return m.write(st.out.buf)
}

// sharedBy returns the operand of step k whose place in the scratch its result takes, -1 if there
// is none.
func (m *scratchReplay) sharedBy(k int) int {
	ins := &m.instrs[m.s.steps[k].ins]
	out := &m.buffers[m.s.steps[k].out.buf]
	for i, v := range ins.in {
		in := &m.buffers[v.buf]
		if out.home == inScratch && in.home == inScratch && in.offset == out.offset && in.bytes == out.bytes && in.rows == out.rows && mayShare(ins, i) {
			return v.buf
		}
	}
	return -1
}

// lost finds a buffer of the whole block that a range of steps reads or makes and that does not
// hold at its end; -1 if there is none.
func (m *scratchReplay) lost(t tiling) int {
	m.over.empty(len(m.buffers))
	for k := t.from; k < t.to; k++ {
		if b := m.sharedBy(k); b >= 0 {
			m.over.set(b, struct{}{})
		}
	}
	lost := func(b int) bool { return m.outlasts(b, t) && !m.over.has(b) && !m.holds(b) }
	for k := t.from; k < t.to; k++ {
		st := &m.s.steps[k]
		if lost(st.out.buf) {
			return st.out.buf
		}
		for i := range st.in {
			if b := st.in[i].buf; lost(b) {
				return b
			}
		}
	}
	return -1
}
