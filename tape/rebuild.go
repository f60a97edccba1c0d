package tape

import "slices"

// again says that an instruction computes again what another has computed before, to save memory in
// between.
type again struct {
	of    int  // the buffer that was made first
	after int  // a buffer: the instruction runs no earlier than what makes it
	opens bool // it begins a group, for the sake of what reads it
	saves int  // bytes that are free meanwhile; 0 if the first is gone: this one is only late
}

// rebuild returns the new list of instructions.
func (t *thinning) rebuild() *lowered {
	q := t.lowered.clone()
	r := &rebuilding{thinning: t, next: q, copies: map[int]int{}}
	from := q.instrs
	q.instrs = make([]draft, 0, len(from)+len(t.gone))
	for i := range from {
		q.how.look()
		ins := from[i]
		if t.stage[i] < 0 { // others run instead, where it is read
			q.instrs = append(q.instrs, ins)
			continue
		}
		for k := range ins.in {
			ins.in[k].buf = r.operand(ins.in[k].buf, i, 0)
		}
		r.put(ins, t.stage[i])
	}
	q.forget()
	return q
}

// rebuilding is the list of instructions as it grows.
type rebuilding struct {
	*thinning
	next   *lowered
	copies map[int]int // by buffer: what has been made anew
	begun  []int       // stages with an instruction in the list, in order
	first  []int       // by these: the buffer that the first of these instructions makes
}

// put adds an instruction that runs in a stage.
func (r *rebuilding) put(ins draft, stage int) {
	r.next.instrs = append(r.next.instrs, ins)
	if k, begun := slices.BinarySearch(r.begun, stage); !begun {
		r.begun, r.first = slices.Insert(r.begun, k, stage), slices.Insert(r.first, k, ins.out.buf)
	}
}

// operand returns the buffer that instruction i of the lowered program reads in place of b: b, or b
// computed again. saves is the number of bytes freed by the absence that makes b needed again.
func (r *rebuilding) operand(b, i, saves int) int {
	stage := r.stage[i]
	if r.there(b, stage) || r.stays(b, stage, saves == 0) {
		return b
	}
	if c, ok := r.copies[b]; ok {
		return c
	}
	ins := r.lowered.instrs[r.maker[b]]
	if _, gone := r.gone[b]; gone {
		saves = r.lowered.buffers[b].bytes
	}
	ins.in = slices.Clone(ins.in)
	for k := range ins.in {
		ins.in[k].buf = r.operand(ins.in[k].buf, i, saves)
	}
	first := b
	if ins.again != nil {
		first = ins.again.of
	}
	after, begun := slices.BinarySearch(r.begun, stage)
	ins.out.buf = len(r.next.buffers)
	ins.again, ins.extra = &again{of: first, opens: !begun, saves: saves}, r.lowered.instrs[i].extra
	if begun {
		ins.again.after = r.first[after]
	} else {
		ins.again.after = ins.out.buf
		r.begun, r.first = slices.Insert(r.begun, after, stage), slices.Insert(r.first, after, ins.out.buf)
	}
	r.next.buffers = append(r.next.buffers, buffer{bytes: r.lowered.buffers[b].bytes})
	r.next.instrs = append(r.next.instrs, ins)
	r.copies[b] = ins.out.buf
	return ins.out.buf
}

// stays reports whether what reads buffer b in a stage may do so, although b is no array in memory:
// it is an update written in place, or lives in the scratch of the stage, or, for a reader that is
// not new itself, is made there from what is in memory.
func (r *rebuilding) stays(b, stage int, old bool) bool {
	maker := r.maker[b]
	switch {
	case r.holds(b):
		return false
	case r.stage[maker] == stage || r.stage[maker] >= 0 && r.buffers[b].home == nowhere:
		return true
	case !old:
		return false
	}
	for _, v := range r.lowered.instrs[maker].in {
		if !r.there(v.buf, stage) && !r.stays(v.buf, stage, old) {
			return false
		}
	}
	return true
}

// forget leaves out the instructions whose results nothing reads any more. Of several that make the
// same value, the first that is left is no repetition then.
func (l *lowered) forget() {
	read := make([]bool, len(l.buffers))
	for _, ins := range slices.Backward(l.instrs) {
		if !read[ins.out.buf] && !l.buffers[ins.out.buf].pinned {
			continue
		}
		read[ins.out.buf] = true
		for _, v := range ins.in {
			read[v.buf] = true
		}
	}
	made := make([]bool, len(l.buffers))
	instead := make([]int, len(l.buffers)) // of a buffer that nothing reads: the one made before it
	kept, latest := make([]draft, 0, len(l.instrs)), 0
	for _, ins := range l.instrs {
		if !read[ins.out.buf] {
			instead[ins.out.buf] = latest
			l.vacate(ins.out.buf)
			continue
		}
		latest = ins.out.buf
		first := latest
		if ins.again != nil {
			a := *ins.again
			first = a.of
			if !made[first] {
				a.saves = 0
			}
			if !read[a.after] {
				a.after = instead[a.after]
			}
			ins.again = &a
		}
		made[first] = true
		kept = append(kept, ins)
	}
	l.instrs = kept
}
