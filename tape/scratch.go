package tape

// scratching places the results that only one stage reads in the scratch of a worker. A step may
// overwrite an operand that ends there. A range of steps is repeated for each tile of a block: a
// result that it makes for later ranges has its place from the first step on, and one of earlier
// ranges keeps its place to the last step.
type scratching struct {
	*staged
	s    *stage
	free gaps
	*scratchBuffers
}

// scratchBuffers is what scratching knows of buffers.
type scratchBuffers struct {
	last   byBuffer[int]      // the last step that touches it
	passed byBuffer[struct{}] // its place has gone to a result, or was given back
	placed byBuffer[struct{}] // it has its place from the first step of the range at hand on
	ended  []int              // buffers that end with the range at hand
}

// placeInScratch gives the results of a stage that stay in scratch their offsets.
func (s *stager) placeInScratch(made *stage) {
	c := &scratching{staged: s.staged, s: made, free: gaps{tooLong: s.how.tooLong}, scratchBuffers: &s.scratch}
	c.last.empty(len(s.buffers))
	c.passed.empty(len(s.buffers))
	for k := range made.steps {
		st := &made.steps[k]
		for _, r := range st.in {
			c.last.set(r.buf, k)
		}
		if !c.last.has(st.out.buf) {
			c.last.set(st.out.buf, k)
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
	c.placed.empty(len(c.buffers))
	for k := t.from; k < t.to; k++ {
		if b := c.s.steps[k].out.buf; c.outlasts(b, t) {
			c.placed.set(b, struct{}{})
			c.place(k)
		}
	}
	c.ended = c.ended[:0]
	for k := t.from; k < t.to; k++ {
		st := &c.s.steps[k]
		if b := st.out.buf; c.buffers[b].home == inScratch && !c.placed.has(b) {
			c.place(k)
		}
		c.end(k, st.out.buf, t)
		for i := range st.in {
			c.end(k, st.in[i].buf, t)
		}
	}
	for _, b := range c.ended {
		c.free.give(c.buffers[b].offset, roundUp(c.buffers[b].bytes))
	}
}

// end gives back the place of a buffer that ends in step k of a range.
func (c *scratching) end(k, buf int, t tiling) {
	b := &c.buffers[buf]
	if b.home != inScratch || c.last.at(buf) != k || c.passed.has(buf) {
		return
	}
	c.passed.set(buf, struct{}{})
	if c.outlasts(buf, t) {
		c.ended = append(c.ended, buf)
	} else {
		c.free.give(b.offset, roundUp(b.bytes))
	}
}

// place gives the result of step k the place of an operand that ends there, if it may, or one of
// its own.
func (c *scratching) place(k int) {
	ins := &c.instrs[c.s.steps[k].ins]
	out := &c.buffers[c.s.steps[k].out.buf]
	for i, v := range ins.in {
		b := &c.buffers[v.buf]
		if b.home == inScratch && !c.passed.has(v.buf) && c.last.at(v.buf) == k && b.bytes == out.bytes && b.rows == out.rows && mayShare(ins, i) {
			out.offset = b.offset
			c.passed.set(v.buf, struct{}{})
			ins.inPlace = true
			return
		}
	}
	out.offset = c.free.take(roundUp(out.bytes))
}

// outlasts reports whether a buffer is in scratch and outlasts the tiles of a range of steps.
func (q *sequence) outlasts(b int, t tiling) bool {
	return q.buffers[b].home == inScratch && q.buffers[b].rows != t.rows
}
