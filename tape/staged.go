package tape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// staged is the form in which groups are stages: the rows of a block and of its tiles are chosen,
// sums have their parts, right operands of products their panels, and results that stay within a
// stage their places in the scratch.
type staged struct {
	sequence
	how *settings
}

// stager makes the stages of groups, in order.
type stager struct {
	*staged
	from  *postponed
	uses  map[packing]int   // how often each right operand is read, but for blocks
	packs map[packing]value // those that have been packed
	lasts *lasting
	span  []int      // by buffer, in alive: one more than its number in spans, 0 for none
	spans []presence // of the last group, whose memory serves the next

	// Of the stage at hand; their memory serves the next.
	readBy  byBuffer[firstLast] // the members that read a buffer
	laid    layingBuffers
	scratch scratchBuffers
}

// Partial sums take no more than partsLimit bytes in all, unless there are few of them.
const (
	partsLimit = 4 << 20
	fewParts   = 4
)

func stageGroups(f *postponed) *staged {
	s := &stager{staged: &staged{sequence: sequence{tables: f.tables}, how: f.how}, from: f, uses: f.countUses(), packs: map[packing]value{}, lasts: newLasting(f)}
	s.instrs = make([]instr, len(f.instrs))
	for i := range f.instrs {
		s.instrs[i] = f.instrs[i].instr
		if a := f.instrs[i].again; a != nil {
			s.instrs[i].saves = a.saves
		}
	}
	outside := f.readOutside()
	for i, g := range f.groups {
		s.how.look()
		if i == f.late {
			s.late = len(s.stages)
		}
		if i > f.late {
			s.renew(f.groups[i-1])
		}
		if len(g.members) == 0 {
			continue
		}
		once := s.lasts.group(g)
		if g.rows == 0 || len(g.members) == 1 && !s.worthAlone(g) {
			s.whole(g.members[0].ins)
			s.runsOnce(once)
			continue
		}
		for _, m := range g.members {
			b := s.instrs[m.ins].out.buf
			if buf := &s.buffers[b]; m.div.Accumulate == nil && !outside[b] && !buf.pinned && buf.home == inArena {
				buf.home = inScratch
			}
		}
		s.blocked(g, once)
	}
	if f.late == len(f.groups) {
		s.late = len(s.stages)
	}
	s.unite()
	return s.staged
}

// readOutside reports, by buffer, whether another group reads it than the one that makes it.
func (f *postponed) readOutside() []bool {
	read := make([]bool, len(f.buffers))
	for i := range f.instrs {
		for _, v := range f.instrs[i].in {
			if from := f.from[v.buf]; from >= 0 && f.of[from] != f.of[i] {
				read[v.buf] = true
			}
		}
	}
	return read
}

// worthAlone reports whether a group of one instruction gains from blocks: only a large sum does.
func (s *stager) worthAlone(g *group) bool {
	m := g.members[0]
	ins := &s.instrs[m.ins]
	_, reduces := ins.kernel.(kernel.Reduce)
	return m.div.Accumulate != nil && reduces && ins.in[0].layout.Len() >= s.how.sizes.alone
}

// whole makes a stage of one instruction.
func (s *stager) whole(i int) {
	ins := &s.instrs[i]
	open := &opening{kernel: ins.kernel}
	st := step{ins: i, out: ref{buf: ins.out.buf}, open: open}
	st.in = make([]ref, len(ins.in))
	for i, v := range ins.in {
		st.in[i].buf = v.buf
	}
	if i < len(s.from.instrs) && s.from.instrs[i].checks {
		st.indices = &indices{node: ins.node}
	}
	if _, product := ins.kernel.(kernel.PackReader); product {
		out, in := open.layouts(ins, 0)
		if v, k, ok := s.packed(i, 1, out, in); ok {
			open.kernel, open.panels, st.in[1] = k, &v.layout, ref{buf: v.buf}
		}
	}
	ins = &s.instrs[i] // packing adds an instruction
	made := stage{steps: []step{st}, nanos: nanos(ins), checks: st.indices != nil}
	if l, ok := ins.kernel.(*loop); ok {
		s.workspace(&made, l)
	}
	s.stages = append(s.stages, made)
}

// workspace gives the stage of a loop the memory that its body needs.
func (s *stager) workspace(made *stage, l *loop) {
	made.nanos = float64(l.Steps) * l.body.nanos()
	if l.body.arena > 0 {
		made.work = len(s.buffers)
		s.buffers = append(s.buffers, buffer{bytes: l.body.arena})
	}
}

// runsOnce says of the last stage that it runs once, or that it does not.
func (s *stager) runsOnce(once bool) {
	made := &s.stages[len(s.stages)-1]
	made.once = once
	for k := range made.steps {
		made.steps[k].once = once
	}
}

// blocked makes a stage of a group, of which all runs once, or a part.
func (s *stager) blocked(g *group, once bool) {
	made := stage{rows: g.rows, stretch: g.stretch}
	summed := 0
	for _, m := range g.members {
		made.nanos += nanos(&s.instrs[m.ins])
		if l := s.instrs[m.ins].out.layout; m.div.Accumulate != nil {
			summed += l.Len() * l.DType.Size()
		}
	}
	members := s.lay(g)
	made.block = s.blockRows(g, members)
	if made.several = g.sums; summed > 0 {
		worth := int(min(made.nanos/s.how.sizes.part, float64(s.how.sizes.parts)))
		made.parts = g.sums * max(1, min(worth/g.sums, made.blocks()/g.sums, max(fewParts, partsLimit/summed)))
	}
	made.tilings = s.tile(&made, g, members)
	members = s.spare(&made, members)
	part := map[int]bool{}
	if !once && len(s.lasts.made) > 0 {
		part = s.part(members)
	}
	s.hold(&made, members)
	made.steps = make([]step, 0, len(members))
	for _, t := range made.tilings {
		for k := t.from; k < t.to; k++ {
			st := s.step(&made, t, members[k])
			st.once = once || part[st.ins]
			made.steps = append(made.steps, st)
		}
	}
	for _, m := range members { // what stays in scratch is not moved
		ins := &s.instrs[m.ins]
		if s.buffers[ins.out.buf].home == inScratch {
			ins.bytes -= int64(touched(ins.out.layout))
		}
		var layouts []kernel.Layout // of the operands, once one is in scratch
		for i, v := range ins.in {
			if s.buffers[v.buf].home == inScratch {
				if layouts == nil {
					layouts = layoutsOf(ins.in)
				}
				ins.bytes -= int64(reads(ins.kernel, ins.out.layout, layouts, i))
			}
		}
	}
	s.placeInScratch(&made)
	made.visit = s.revisit(&made, g, members)
	made.once = once
	s.stages = append(s.stages, made)
}

// blockRows chooses the rows of a block: as many as fit into the cache with all that is alive at
// once, or as products want.
func (s *stager) blockRows(g *group, members []laid) int {
	widest, unit, most, products := 1, 1, int64(-1), false
	for _, m := range g.members {
		ins := &s.instrs[m.ins]
		l := ins.out.layout
		products = products || isProduct(ins.kernel)
		if m.div.Accumulate == nil {
			widest = max(widest, l.Len()*l.DType.Size()/g.rows)
			if isProduct(ins.kernel) && ins.flops > most { // the largest product decides
				most, unit = ins.flops, max(1, l.Len()/l.Dims[l.Rank-1]/g.rows)
			}
			continue
		}
		for k := range ins.in {
			widest = max(widest, s.rowOf(g, m, k))
		}
	}
	z := &s.how.sizes
	if !products {
		// Blocks of a stretch get about equal sizes, so that none is much shorter than the others;
		// blocks with products keep theirs.
		n := min(s.fitting(g, members), g.stretch)
		blocks := (g.stretch + n - 1) / n
		rows := (g.stretch + blocks - 1) / blocks
		if alignable(members) && rows >= alignedRows {
			rows = min(n, (rows+lineRows-1)/lineRows*lineRows)
		}
		return rows
	}
	if most < 0 && g.sums > 1 { // the more rows are multiplied at once, the less often their sum is read
		return min(g.stretch, max(z.rows, z.live/widest))
	}
	n := max(z.product/widest, min(z.rows, (z.rows+unit-1)/unit))
	n = min(n, max(1, 2*z.rows/unit))
	if half := z.rows / 2; unit == 1 && n > half {
		n -= n % half // the products' innermost loops take that many rows
	}
	return min(max(n, 1), g.stretch)
}

// step makes the step of a member.
func (s *stager) step(made *stage, t tiling, m laid) step {
	ins := &s.instrs[m.ins]
	open := &opening{kernel: ins.kernel, rows: made.rows, div: m.div, turned: m.turned, back: m.back}
	if m.turned {
		open.kernel, _ = kernel.WithRowsLast(ins.kernel, ins.out.layout, layoutsOf(ins.in))
	}
	st := step{ins: m.ins, in: make([]ref, len(ins.in)), open: open}
	same := false // each block reads all of the second operand, or one of its matrices
	for i, v := range ins.in {
		rows, _ := m.div.Rows(v.layout, i, made.rows)
		st.in[i] = s.refTo(t, v, &rows)
		same = same || i == 1 && rows.Shared()
		if s.buffers[v.buf].turned {
			if open.lies == nil {
				open.lies = make([]bool, len(ins.in))
			}
			open.lies[i] = true
		}
	}
	if m.ins < len(s.from.instrs) && s.from.instrs[m.ins].checks {
		operand, _ := ins.node.Op().(trait.Indexing).Places(ins.node)
		rows, _ := m.div.Rows(ins.in[operand].layout, operand, made.rows)
		st.indices, made.checks = &indices{ins.node, rows}, true
	}
	if m.div.Accumulate != nil {
		open.kernel, open.first = m.div.Accumulate, m.div.First
		st.out = s.sumInto(made, m.member)
		return st
	}
	rows, _ := m.div.Rows(ins.out.layout, -1, made.rows)
	st.out = s.refTo(t, ins.out, &rows)
	if same {
		out, in := open.layouts(ins, made.block)
		if v, packed, ok := s.packed(m.ins, made.blocks(), out, in); ok {
			panels, _ := m.div.Rows(v.layout, 1, made.rows)
			one := kernel.Dense(v.layout.DType, v.layout.Dims[v.layout.Rank-1])
			open.kernel, open.panels, st.in[1] = packed, &one, ref{buf: v.buf}
			if v.layout.Rank > 1 {
				st.in[1] = s.refTo(t, v, &panels)
			}
		}
	}
	return st
}

// refTo returns where the rows of a value lie. Scratch holds the tile at hand, or the whole block.
func (s *stager) refTo(t tiling, v value, r *kernel.Rows) ref {
	size := v.layout.DType.Size()
	stride, uniform := r.Uniform()
	if b := s.buffers[v.buf]; b.home == inScratch {
		if b.rows == t.rows {
			return ref{local: true, buf: v.buf}
		}
		return ref{local: true, buf: v.buf, stride: stride * size}
	}
	if uniform {
		return ref{buf: v.buf, stride: stride * size}
	}
	rows := *r
	return ref{buf: v.buf, rows: &rows, size: size}
}

// sumInto prepares the sum over the rows of a member's contributions.
func (s *stager) sumInto(made *stage, m member) ref {
	out := s.instrs[m.ins].out
	l := out.layout
	x := sum{partial: out.buf, out: out.buf, bytes: l.Len() * l.DType.Size(), dtype: l.DType, over: m.div.Over}
	if n := made.parts / made.several; n > 1 {
		x.partial = len(s.buffers)
		s.buffers = append(s.buffers, buffer{bytes: n * x.bytes})
		x.nanos = float64((n+1)*x.bytes) * perByte
	}
	made.sums = append(made.sums, x)
	return ref{buf: x.partial, part: x.bytes / made.several}
}

// String lists the stages with their steps, and where in the scratch their results lie.
func (s *staged) String() string { return s.text("staged", false) }

// text lists the stages; with places, of arrays too.
func (q *sequence) text(form string, places bool) string {
	var b strings.Builder
	name := q.names()
	fmt.Fprintf(&b, "%s %q\n", form, q.source.Name())
	for i := range q.stages {
		s := &q.stages[i]
		fmt.Fprintf(&b, "  stage %d", i)
		if s.rows > 0 {
			fmt.Fprintf(&b, ": %s", s.text())
		}
		if i >= q.late {
			b.WriteString(", after the checks")
		}
		b.WriteString(q.only(name, ", ", s) + "\n")
		for k, st := range s.steps {
			if at := slices.IndexFunc(s.tilings, func(t tiling) bool { return t.from == k }); at >= 0 && s.tilings[at].rows != s.block {
				fmt.Fprintf(&b, "    %d at a time\n", s.tilings[at].rows)
			}
			ins := &q.instrs[st.ins]
			buf := &q.buffers[ins.out.buf]
			place, mark := "", ""
			if ins.inPlace {
				mark = ", in place"
			}
			switch {
			case buf.home == inScratch && buf.turned:
				place = fmt.Sprintf("  · ~%d…%d%s, turned", buf.offset, buf.offset+buf.bytes, mark)
			case buf.home == inScratch:
				place = fmt.Sprintf("  · ~%d…%d%s", buf.offset, buf.offset+buf.bytes, mark)
			case buf.home == inArena && places:
				place = fmt.Sprintf("  · %d…%d%s", buf.offset, buf.offset+buf.bytes, mark)
			}
			fmt.Fprintf(&b, "    %s%s\n", q.lineOf(name, &st), place)
		}
	}
	return b.String()
}

// check replays the scratch of each stage: see [sequence.replayScratch],
// [sequence.checkTurned] and [sequence.checkOnce].
func (s *staged) check() error {
	if err := s.checkTurned(); err != nil {
		return err
	}
	if err := s.replayScratch(); err != nil {
		return err
	}
	return s.checkOnce()
}
