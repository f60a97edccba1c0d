package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// worker holds all that one core needs to run blocks: its own scratch, and the memory of each
// buffer. A call of a kernel may take only some nanoseconds, so the memory of all operands is
// looked up beforehand, except for operands that move from block to block.
type worker struct {
	*kernel.Worker
	mem      []kernel.Mem // by buffer
	calls    []kernel.Ctx // by number of the call
	operands []kernel.Mem // of one call after the other
	scratch  kernel.Mem
	sum      kernel.Ctx // of partial sums
	rests    bool       // what runs once has run before the run under way
	wrong    misplaced  // the first index of the stage that is outside of its axis
}

// run does units [lo,hi) of a stage.
func (w *worker) run(s *stage, lo, hi int) {
	switch {
	case s.rows == 0:
		c := &s.calls[0]
		w.Row = 0
		c.bound[0].Run(&w.calls[c.number], lo, hi)
		if c.indices != nil {
			w.check(c.indices, 0, 0)
		}
	case s.parts == 0:
		for b := lo; b < hi; b++ {
			w.block(s, b, 0, false)
		}
	default:
		n := s.blocks()
		for part := lo; part < hi; part++ {
			first, end := part*n/s.parts, (part+1)*n/s.parts
			for b := first; b < end; b++ {
				w.block(s, b, part, b == first)
			}
		}
	}
}

// block runs all calls on block b, adding to the given partial sums; the first block of a part
// begins them.
func (w *worker) block(s *stage, b, part int, begins bool) {
	first, n := s.span(b)
	for i := range s.tilings {
		t := &s.tilings[i]
		for row := first; row < first+n; row += t.rows {
			w.tile(s.calls[t.from:t.to], t.length(min(t.rows, first+n-row)), place{first, row, part, s.rows}, begins && row == first)
		}
	}
}

// place says which rows a call does: those from a row on, of the block that begins at first, adding
// to the given partial sums. The rows of the stage end at end.
type place struct{ first, row, part, end int }

// tile runs the calls of a tiling on a number of rows.
func (w *worker) tile(calls []call, x *length, at place, begins bool) {
	running := w.calls[calls[0].number:][:len(calls)]
	w.Row = at.row
	if x.straight != nil {
		kernel.RunStraight(x.straight, running)
		return
	}
	for k := range calls {
		c := &calls[k]
		if c.once && w.rests {
			continue
		}
		bound := &c.bound[x.number]
		if begins && c.first != nil {
			bound = &c.first[x.number]
		}
		if len(c.moves) > 0 {
			w.move(&running[k], c.moves, at)
		}
		if len(bound.ahead) > 0 {
			w.fetch(bound.ahead, at.row, at.end)
		}
		bound.Run(&running[k], 0, bound.Units)
		if c.indices != nil {
			w.check(c.indices, at.row, bound.rows)
		}
	}
}

// move sets the operands of a call that move.
func (w *worker) move(c *kernel.Ctx, moves []move, to place) {
	for i := range moves {
		m := &moves[i]
		at := (to.row-m.from*to.first)*m.stride + to.part*m.part
		if m.rows != nil {
			at = m.rows.At(to.row) * m.size
		}
		if mem := w.mem[m.buf].From(at); m.operand < 0 {
			c.Out = mem
		} else {
			c.In[m.operand] = mem
		}
	}
}

// combine adds partial sums in order, for units [lo,hi) of the result.
func (w *worker) combine(x *sum, lo, hi int) {
	w.sum.Out, w.sum.In[0] = w.mem[x.out], w.mem[x.partial]
	x.combine.Run(&w.sum, lo, hi)
}

// average divides a sum, if it is to be divided.
func (w *worker) average(x *sum) {
	if x.over <= 1 {
		return
	}
	out := w.mem[x.out].Slice(0, x.bytes)
	if x.dtype == kernel.F32 {
		divide(kernel.As[float32](out), float32(x.over))
	} else {
		divide(kernel.As[float64](out), float64(x.over))
	}
}

func divide[T float32 | float64](x []T, by T) {
	for i := range x {
		x[i] /= by
	}
}

func newWorker(p *Program, shared []kernel.Mem, k *kernel.Worker, scratch kernel.Mem) *worker {
	w := &worker{Worker: k, mem: slices.Clone(shared), scratch: scratch}
	w.calls, w.operands = apart[kernel.Ctx](p.calls), apart[kernel.Mem](p.operands)
	w.sum = kernel.Ctx{In: make([]kernel.Mem, 1), Worker: w.Worker}
	for i, b := range p.buffers {
		if b.home == inScratch {
			w.mem[i] = scratch.Slice(b.offset, b.bytes)
		}
	}
	free := w.operands
	for i := range p.stages {
		for k, st := range p.stages[i].steps {
			number, n := p.stages[i].calls[k].number, len(st.in)
			in := free[:n:n]
			free = free[n:]
			for k, r := range st.in {
				in[k] = w.mem[r.buf]
			}
			w.calls[number] = kernel.Ctx{Out: w.mem[st.out.buf], In: in, Worker: w.Worker}
		}
	}
	return w
}

// apart returns a slice with room around it, so that it shares no cache line with another worker's:
// both are written to all the time.
func apart[T any](n int) []T {
	const margin = 128 / 16 // processors fetch cache lines in pairs; a T has 16 bytes at least
	return make([]T, margin+n+margin)[margin:][:n:n]
}
