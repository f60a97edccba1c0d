package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// stage is what runs at once: one instruction as a whole, split over workers by the units of its loop, or a group block by block.
type stage struct {
	steps   []step
	runs    []tiled
	rows    int // 0: one instruction as a whole
	block   int // rows in a block
	limit   int // a block straddles no multiple of it
	parts   int // partial sums of every fold, 0 without folds
	folds   []fold
	scratch int // bytes that each worker needs
	work    int // of a loop: the buffer that is its body's arena; 0 for none
	nanos   float64

	checks      bool // a step may find an index outside of its axis
	conditional bool
	mask        int // the buffer of its condition
}

// step is an instruction of a stage, bound to each number of rows that it meets.
type step struct {
	ins   int
	loops []bound
	first []bound // of a sum over the rows: for the first rows of a part, which nothing has been added up before
	out   ref
	in    []ref
	call  int    // its number among all steps
	moves []move // what lies elsewhere from block to block

	indices *indices // to be checked; nil for none
}

// move is an operand of a step, or -1 for the result, and where it lies.
type move struct {
	ref
	operand int
	from    int // 1: rows are counted from the first of the block
}

// bound is a loop bound to a number of rows.
type bound struct {
	kernel.Bound
	rows int
}

// ref says where the memory of a block begins: in buffer buf, at + stride·row + part·(number of the partial sum) bytes, or where
// rows says.
type ref struct {
	local             bool // in scratch: counted from the first row of the block
	buf, stride, part int
	rows              *kernel.Rows
	size              int // bytes of an element
}

// fold is a sum over the rows. Each part of the blocks has its own sum; they are added in order at the end.
type fold struct {
	partial, out int // buffers; the same if there is one part
	bytes        int
	combine      kernel.Bound // partial → out
	nanos        float64      // that takes
	dtype        kernel.DType
	over         int // what out is divided by, if it is more than 1
}

// sizes decide how work is cut. They depend on no machine, so that results do not either.
type sizes struct {
	tile    int     // bytes of the longest result in a block of elementwise work: several of them stay in the L1 cache
	product int     // the same where there are products, which want more rows
	rows    int     // rows of a product in a block, at least, if they can be had
	part    float64 // nanoseconds of work worth a partial sum of its own
	parts   int     // partial sums at most
	alone   int     // elements whose sum is worth parts if nothing else is done with them
	wake    float64 // nanoseconds of work worth waking another worker; this and the next two decide who computes, not what
	split   float64 // the same for one that is awake, as all are between the stages of a run: a fork takes half a microsecond
	grain   float64 // nanoseconds of work that a worker takes at least
}

// Partial sums take no more than partsLimit bytes in all, unless there are few of them.
const (
	partsLimit = 4 << 20
	fewParts   = 4
)

var standard = sizes{tile: 4 << 10, product: 8 << 10, rows: 28, part: 50e3, parts: 16, alone: 32 << 10, wake: 40e3, split: 10e3, grain: 4e3}

// stages binds the groups. It sets where each result lives.
func (p *Program) stages(f *fusion) {
	p.packs, p.uses = map[packing]value{}, p.countUses()
	outside := make([]bool, len(p.buffers)) // read by another group
	for i := range p.instrs {
		for _, v := range p.instrs[i].in {
			if from := f.from[v.buf]; from >= 0 && f.of[from] != f.of[i] {
				outside[v.buf] = true
			}
		}
	}
	for i, g := range f.groups {
		p.under.look()
		if i == f.late {
			p.late = len(p.stage)
		}
		if i > f.late {
			p.renew(f.groups[i-1])
		}
		if len(g.members) == 0 {
			continue
		}
		if g.rows == 0 || len(g.members) == 1 && !worthAlone(p, g) {
			p.whole(g.members[0].ins)
			continue
		}
		for _, m := range g.members {
			b := p.instrs[m.ins].out.buf
			p.buffers[b].scratch = m.div.Accumulate == nil && !outside[b] && !p.buffers[b].pinned && !p.buffers[b].leaf
		}
		p.blocked(g)
	}
	if f.late == len(f.groups) {
		p.late = len(p.stage)
	}
}

// worthAlone reports whether a group of one instruction gains from blocks: only a large sum does.
func worthAlone(p *Program, g *group) bool {
	m := g.members[0]
	return m.div.Accumulate != nil && isReduce(p.instrs[m.ins].kernel) && p.instrs[m.ins].in[0].layout.Len() >= p.sizes.alone
}

func isReduce(k kernel.Kernel) bool {
	_, ok := k.(kernel.Reduce)
	return ok
}

// whole makes a stage of one instruction.
func (p *Program) whole(i int) {
	k, in := p.instrs[i].kernel, slices.Clone(p.instrs[i].in)
	if v, packed, ok := p.packed(i, 1, p.instrs[i].out.layout, layoutsOf(in)); ok {
		k, in[1] = packed, v
	}
	ins := &p.instrs[i]
	st := step{ins: i, loops: []bound{bind(k, 0, ins.out.layout, layoutsOf(in))}, out: ref{buf: ins.out.buf}}
	for _, v := range in {
		st.in = append(st.in, ref{buf: v.buf})
	}
	if ins.checks {
		st.indices = &indices{node: ins.node}
	}
	s := stage{steps: []step{st}, nanos: nanos(ins), checks: ins.checks}
	if l, ok := k.(*loop); ok {
		p.workspace(&s, l)
	}
	p.stage = append(p.stage, s)
}

func bind(k kernel.Kernel, rows int, out kernel.Layout, in []kernel.Layout) bound {
	return bound{k.Bind(out, in), rows}
}

// blocked makes a stage of a group.
func (p *Program) blocked(g *group) {
	s := stage{rows: g.rows, limit: g.limit}
	for _, m := range g.members {
		s.nanos += nanos(&p.instrs[m.ins])
	}
	s.block = blockRows(p, g)
	folded := 0
	for _, m := range g.members {
		if l := p.instrs[m.ins].out.layout; m.div.Accumulate != nil {
			folded += l.Len() * l.DType.Size()
		}
	}
	if folded > 0 {
		s.parts = max(1, min(int(min(s.nanos/p.sizes.part, float64(p.sizes.parts))), s.blocks(), max(fewParts, partsLimit/folded)))
	}
	s.runs = p.tiles(&s, g)
	p.settle(&s, g)
	for _, r := range s.runs {
		for k := r.from; k < r.to; k++ {
			s.steps = append(s.steps, p.bind(&s, r, g.members[k]))
		}
	}
	for _, m := range g.members { // what stays in scratch is not moved
		ins := &p.instrs[m.ins]
		if p.buffers[ins.out.buf].scratch {
			ins.bytes -= int64(touched(ins.out.layout))
		}
		for i, v := range ins.in {
			if p.buffers[v.buf].scratch {
				ins.bytes -= int64(reads(ins.kernel, ins.out.layout, layoutsOf(ins.in), i))
			}
		}
	}
	p.stage = append(p.stage, s)
	p.scratchPlan(&p.stage[len(p.stage)-1])
}

// blocks is the number of blocks.
func (s *stage) blocks() int { return s.rows / s.limit * s.blocksPerRun() }

func (s *stage) blocksPerRun() int { return (s.limit + s.block - 1) / s.block }

// span gives the rows of block b.
func (s *stage) span(b int) (row, n int) {
	per := s.blocksPerRun()
	run, k := b/per, b%per
	return run*s.limit + k*s.block, min(s.block, s.limit-k*s.block)
}

// units is how many parts of the work may run at once, in any order.
func (s *stage) units() int {
	switch {
	case s.rows == 0:
		return s.steps[0].loops[0].Units
	case s.parts > 0:
		return s.parts
	}
	return s.blocks()
}

// blockRows chooses the rows of a block.
func blockRows(p *Program, g *group) int {
	widest, unit, products := 1, 1, false
	for _, m := range g.members {
		ins := &p.instrs[m.ins]
		l := ins.out.layout
		if m.div.Accumulate == nil {
			widest = max(widest, l.Len()*l.DType.Size()/g.rows)
			if isProduct(ins.kernel) {
				products = true
				unit = max(unit, l.Len()/l.Dims[l.Rank-1]/g.rows)
			}
		} else {
			for k, v := range ins.in {
				if r, ok := m.div.Rows(v.layout, k, g.rows); ok {
					if s, uniform := r.Uniform(); !uniform || s > 0 {
						widest = max(widest, r.Layout(1).Len()*v.layout.DType.Size())
					}
				}
			}
		}
	}
	n := p.sizes.tile / widest
	if products {
		n = max(p.sizes.product/widest, min(p.sizes.rows, (p.sizes.rows+unit-1)/unit))
		n = min(n, max(1, 2*p.sizes.rows/unit))
		if half := p.sizes.rows / 2; unit == 1 && n > half {
			n -= n % half // the products' innermost loops take that many rows
		}
	}
	n = min(max(n, 1), g.limit)
	// Blocks of a run are made alike, so that none is much shorter than the others; products keep theirs.
	if runs := (g.limit + n - 1) / n; !products {
		n = (g.limit + runs - 1) / runs
	}
	return n
}

func isProduct(k kernel.Kernel) bool {
	switch k.(type) {
	case kernel.MatMul, kernel.SqDist, kernel.WeightedDiff, kernel.DiffDot:
		return true
	}
	return false
}

// bind makes the step of a member.
func (p *Program) bind(s *stage, run tiled, m member) step {
	ins := p.instrs[m.ins]
	st := step{ins: m.ins, in: make([]ref, len(ins.in))}
	k := ins.kernel
	rows := make([]kernel.Rows, len(ins.in))
	for i, v := range ins.in {
		rows[i], _ = m.div.Rows(v.layout, i, s.rows)
		st.in[i] = p.refTo(run, v, &rows[i])
	}
	if ins.checks {
		operand, _ := ins.node.Op().(graph.Indexing).Places(ins.node)
		st.indices, s.checks = &indices{ins.node, rows[operand]}, true
	}
	outRows, _ := m.div.Rows(ins.out.layout, -1, s.rows)
	if m.div.Accumulate != nil {
		k = m.div.Accumulate
		st.out = p.foldInto(s, m)
	} else {
		st.out = p.refTo(run, ins.out, &outRows)
	}
	layouts := func(n int) (out kernel.Layout, in []kernel.Layout) {
		in = make([]kernel.Layout, len(rows))
		for i := range rows {
			in[i] = rows[i].Layout(n)
		}
		out = ins.out.layout
		if m.div.Accumulate == nil {
			l := outRows.Layout(n)
			out = kernel.Dense(l.DType, l.Dims[:l.Rank]...)
		}
		return out, in
	}
	var panels *value
	if m.div.Accumulate == nil && len(rows) > 1 && rows[1].Same() {
		out, in := layouts(s.block)
		if v, packed, ok := p.packed(m.ins, s.blocks(), out, in); ok {
			k, panels, st.in[1] = packed, &v, ref{buf: v.buf}
		}
	}
	for _, n := range s.spans(run) {
		out, in := layouts(n)
		if panels != nil {
			in[1] = panels.layout
		}
		st.loops = append(st.loops, bind(k, n, out, in))
		if m.div.Accumulate != nil {
			st.first = append(st.first, bind(m.div.First, n, out, in))
		}
	}
	return st
}

// refTo is where the rows of a value lie. Scratch holds the tile at hand, or the whole block.
func (p *Program) refTo(run tiled, v value, r *kernel.Rows) ref {
	size := v.layout.DType.Size()
	if b := p.buffers[v.buf]; b.scratch {
		if b.rows == run.rows {
			return ref{local: true, buf: v.buf}
		}
		stride, _ := r.Uniform()
		return ref{local: true, buf: v.buf, stride: stride * size}
	}
	if stride, uniform := r.Uniform(); uniform {
		return ref{buf: v.buf, stride: stride * size}
	}
	return ref{buf: v.buf, rows: r, size: size}
}

// foldInto prepares the sum over the rows of a member's contributions.
func (p *Program) foldInto(s *stage, m member) ref {
	ins := &p.instrs[m.ins]
	l := ins.out.layout
	fo := fold{partial: ins.out.buf, out: ins.out.buf, bytes: l.Len() * l.DType.Size(), dtype: l.DType, over: m.div.Over}
	flat := kernel.Dense(l.DType, l.Len())
	if s.parts > 1 {
		fo.partial = len(p.buffers)
		p.buffers = append(p.buffers, buffer{bytes: s.parts * fo.bytes})
		fo.combine = kernel.Reduce{Op: kernel.ReduceSum, Axes: 1}.Bind(flat, []kernel.Layout{kernel.Dense(l.DType, s.parts, l.Len())})
		fo.nanos = float64((s.parts+1)*fo.bytes) * perByte
	}
	s.folds = append(s.folds, fo)
	return ref{buf: fo.partial, part: fo.bytes}
}

// What nanos counts for an operation, one of a product, and a byte.
const perFlop, perProduct, perByte = 0.15, 0.02, 0.03

// nanos estimates the time of an instruction on one core: it decides what is worth splitting, from shapes alone.
func nanos(ins *instr) float64 {
	if isProduct(ins.kernel) {
		wide := float64(ins.out.layout.DType.Size()) / 4
		return float64(ins.flops)*perProduct*wide + float64(ins.bytes)*perByte/4
	}
	return float64(ins.flops)*perFlop + float64(ins.bytes)*perByte
}

// scratchPlan places the results that only this stage reads in the scratch of a worker. A step may write over an operand that ends
// there. A run goes through its steps again and again: what it makes for later runs has its place from the beginning, and what it
// reads from earlier ones keeps it to the end.
func (p *Program) scratchPlan(s *stage) {
	last := map[int]int{}
	for k, st := range s.steps {
		for _, r := range st.in {
			last[r.buf] = k
		}
		if _, used := last[st.out.buf]; !used {
			last[st.out.buf] = k
		}
	}
	free := gaps{tooLong: p.tooLong}
	passed := map[int]bool{}
	place := func(b int) {
		buf := &p.buffers[b]
		buf.place = roundUp(buf.bytes)
		buf.offset = free.take(buf.place)
	}
	placed := map[int]bool{}
	for _, run := range s.runs {
		whole := func(b int) bool { return p.buffers[b].scratch && p.buffers[b].rows != run.rows }
		for k := run.from; k < run.to; k++ {
			if b := s.steps[k].out.buf; whole(b) {
				placed[b] = true
				if !p.shares(s, k, last, passed) {
					place(b)
				}
			}
		}
		var ended []int
		for k := run.from; k < run.to; k++ {
			st := s.steps[k]
			if b := st.out.buf; p.buffers[b].scratch && !placed[b] && !p.shares(s, k, last, passed) {
				place(b)
			}
			for _, r := range append([]ref{st.out}, st.in...) {
				b := &p.buffers[r.buf]
				if !b.scratch || last[r.buf] != k || passed[r.buf] {
					continue
				}
				passed[r.buf] = true
				if whole(r.buf) {
					ended = append(ended, r.buf)
				} else {
					free.give(b.offset, b.place)
				}
			}
		}
		for _, b := range ended {
			free.give(p.buffers[b].offset, p.buffers[b].place)
		}
	}
	s.scratch = free.length()
	p.scratch = max(p.scratch, s.scratch)
}

// shares lets the result of step k take the place of an operand in scratch that ends there, if it can.
func (p *Program) shares(s *stage, k int, last map[int]int, passed map[int]bool) bool {
	ins := &p.instrs[s.steps[k].ins]
	out := &p.buffers[s.steps[k].out.buf]
	for i, v := range ins.in {
		b := &p.buffers[v.buf]
		if b.scratch && b.place > 0 && !passed[v.buf] && last[v.buf] == k && b.bytes == out.bytes && b.rows == out.rows && p.mayShare(ins, i) {
			out.offset, out.place = b.offset, b.place
			passed[v.buf], ins.inPlace = true, true
			return true
		}
	}
	return false
}

// mayShare reports whether the result of an instruction may take the place of operand i, as far as the kernel and the layouts go.
func (p *Program) mayShare(ins *instr, i int) bool {
	v := ins.in[i]
	return ins.kernel.InPlace(i) && v.layout.IsDense() && v.layout.DType.Size() == ins.out.layout.DType.Size() && v.layout.Len() == ins.out.layout.Len() &&
		!slices.ContainsFunc(ins.in, func(w value) bool { return w.buf == v.buf && w.layout != v.layout })
}
