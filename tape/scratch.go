package tape

// scratching places the results that only one stage reads in the scratch of a worker. A step may
// overwrite an operand that ends there. A range of steps is repeated for each tile of a block: a
// result that it makes for later ranges has its place from the first step on, and one of earlier
// ranges keeps its place to the last step.
type scratching struct {
	*staged
	s      *stage
	free   gaps
	last   map[int]int  // by buffer: the last step that touches it
	passed map[int]bool // buffers whose place has gone to a result, or was given back
}

// placeInScratch gives the results of a stage that stay in scratch their offsets.
func (s *staged) placeInScratch(made *stage) {
	c := &scratching{staged: s, s: made, free: gaps{tooLong: s.how.tooLong}, last: map[int]int{}, passed: map[int]bool{}}
	for k, st := range made.steps {
		for _, r := range st.in {
			c.last[r.buf] = k
		}
		if _, used := c.last[st.out.buf]; !used {
			c.last[st.out.buf] = k
		}
	}
	for _, t := range made.tilings {
		c.tiling(t)
	}
	made.scratch = c.free.length()
}

// tiling places the results of a range of steps, and gives back the places of buffers that end in
// it.
func (c *scratching) tiling(t tiling) {
	placed := map[int]bool{}
	for k := t.from; k < t.to; k++ {
		if b := c.s.steps[k].out.buf; c.outlasts(b, t) {
			placed[b] = true
			c.place(k)
		}
	}
	var ended []int
	for k := t.from; k < t.to; k++ {
		st := &c.s.steps[k]
		if b := st.out.buf; c.buffers[b].home == inScratch && !placed[b] {
			c.place(k)
		}
		for _, r := range append([]ref{st.out}, st.in...) {
			b := &c.buffers[r.buf]
			if b.home != inScratch || c.last[r.buf] != k || c.passed[r.buf] {
				continue
			}
			c.passed[r.buf] = true
			if c.outlasts(r.buf, t) {
				ended = append(ended, r.buf)
			} else {
				c.free.give(b.offset, roundUp(b.bytes))
			}
		}
	}
	for _, b := range ended {
		c.free.give(c.buffers[b].offset, roundUp(c.buffers[b].bytes))
	}
}

// place gives the result of step k the place of an operand that ends there, if it may, or one of
// its own.
func (c *scratching) place(k int) {
	ins := &c.instrs[c.s.steps[k].ins]
	out := &c.buffers[c.s.steps[k].out.buf]
	for i, v := range ins.in {
		b := &c.buffers[v.buf]
		if b.home == inScratch && !c.passed[v.buf] && c.last[v.buf] == k && b.bytes == out.bytes && b.rows == out.rows && mayShare(ins, i) {
			out.offset = b.offset
			c.passed[v.buf], ins.inPlace = true, true
			return
		}
	}
	out.offset = c.free.take(roundUp(out.bytes))
}

// outlasts reports whether a buffer is in scratch and outlasts the tiles of a range of steps.
func (q *sequence) outlasts(b int, t tiling) bool {
	return q.buffers[b].home == inScratch && q.buffers[b].rows != t.rows
}
