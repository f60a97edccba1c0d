package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// worker is what one core needs to run blocks: its own scratch, and where each buffer lies for it. A call of a loop may take no more
// than some nanoseconds, so each step has its memory at hand, and only what moves is found anew.
type worker struct {
	*kernel.Worker
	mem      []kernel.Mem // by buffer
	calls    []kernel.Ctx // by step
	operands []kernel.Mem // of one step after the other
	scratch  kernel.Mem
	sum      kernel.Ctx // of partial sums
	wrong    misplaced  // the first index of the stage that is outside of its axis
}

// place numbers the steps and their operands, and finds those that move and those that are supplied: the inputs, then the exports.
func (p *Program) place() {
	number := make(map[int]int, len(p.inputs)+len(p.exports))
	for i, in := range p.inputs {
		number[in.buf] = i
	}
	for i, b := range p.exports {
		number[b] = len(p.inputs) + i
	}
	p.steps, p.operands, p.fed, p.makers = 0, 0, make([][]int, len(number)), make([][]int, len(p.exports))
	for i := range p.stage {
		for k := range p.stage[i].steps {
			st := &p.stage[i].steps[k]
			st.call, st.moves = p.steps, nil
			if st.out.moves() {
				st.moves = append(st.moves, newMove(-1, st.out))
			} else if i, supplied := number[st.out.buf]; supplied {
				p.makers[i-len(p.inputs)] = append(p.makers[i-len(p.inputs)], st.call)
			}
			for n := range st.in {
				if r := &st.in[n]; r.moves() {
					st.moves = append(st.moves, newMove(n, *r))
				} else if i, fed := number[r.buf]; fed {
					p.fed[i] = append(p.fed[i], p.operands+n)
				}
			}
			p.steps++
			p.operands += len(st.in)
		}
	}
}

// moves reports whether the memory depends on the row or on the part.
func (r *ref) moves() bool { return r.stride != 0 || r.part != 0 || r.rows != nil }

func newMove(operand int, r ref) move {
	m := move{r, operand, 0}
	if r.local {
		m.from = 1
	}
	return m
}

// run does units [lo,hi) of a stage.
func (w *worker) run(s *stage, lo, hi int) {
	switch {
	case s.rows == 0:
		st := &s.steps[0]
		st.loops[0].Run(&w.calls[st.call], lo, hi)
		if st.indices != nil {
			w.check(st.indices, 0, 0)
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

// block runs all steps on block b, adding to the given partial sums; the first block of a part begins them.
func (w *worker) block(s *stage, b, part int, begins bool) {
	first, n := s.span(b)
	for i := range s.runs {
		r := &s.runs[i]
		for row := first; row < first+n; row += r.rows {
			length := s.steps[r.from].length(min(r.rows, first+n-row))
			for k := r.from; k < r.to; k++ {
				st := &s.steps[k]
				loop := &st.loops[length]
				if begins && row == first && st.first != nil {
					loop = &st.first[length]
				}
				c := &w.calls[st.call]
				if len(st.moves) > 0 {
					w.move(c, st.moves, first, row, part)
				}
				loop.Run(c, 0, loop.Units)
				if st.indices != nil {
					w.check(st.indices, row, loop.rows)
				}
			}
		}
	}
}

// length is the number of the loops over so many rows, which is the same for all steps of a run.
func (st *step) length(rows int) int {
	for i := range st.loops {
		if st.loops[i].rows == rows {
			return i
		}
	}
	panic("tape: no loop for so many rows")
}

// move finds what moves of a call at the given row of the block that begins at first.
func (w *worker) move(c *kernel.Ctx, moves []move, first, row, part int) {
	for i := range moves {
		m := &moves[i]
		at := (row-m.from*first)*m.stride + part*m.part
		if m.rows != nil {
			at = m.rows.At(row) * m.size
		}
		if mem := w.mem[m.buf].From(at); m.operand < 0 {
			c.Out = mem
		} else {
			c.In[m.operand] = mem
		}
	}
}

// combine adds the partial sums of a fold in order, for units [lo,hi) of the result.
func (w *worker) combine(f *fold, lo, hi int) {
	w.sum.Out, w.sum.In[0] = w.mem[f.out], w.mem[f.partial]
	f.combine.Run(&w.sum, lo, hi)
}

// average divides the sum of a fold, if it is to be divided.
func (w *worker) average(f *fold) {
	if f.over <= 1 {
		return
	}
	out := w.mem[f.out].Slice(0, f.bytes)
	if f.dtype == kernel.F32 {
		divide(kernel.As[float32](out), float32(f.over))
	} else {
		divide(kernel.As[float64](out), float64(f.over))
	}
}

func divide[T float32 | float64](x []T, by T) {
	for i := range x {
		x[i] /= by
	}
}

func newWorker(p *Program, shared []kernel.Mem, k *kernel.Worker, scratch kernel.Mem) *worker {
	w := &worker{Worker: k, mem: slices.Clone(shared), scratch: scratch}
	w.calls, w.operands = apart[kernel.Ctx](p.steps), apart[kernel.Mem](p.operands)
	w.sum = kernel.Ctx{In: make([]kernel.Mem, 1), Worker: w.Worker}
	for i, b := range p.buffers {
		if b.scratch {
			w.mem[i] = scratch.Slice(b.offset, b.bytes)
		}
	}
	free := w.operands
	for i := range p.stage {
		for _, st := range p.stage[i].steps {
			n := len(st.in)
			in := free[:n:n]
			free = free[n:]
			for k, r := range st.in {
				in[k] = w.mem[r.buf]
			}
			w.calls[st.call] = kernel.Ctx{Out: w.mem[st.out.buf], In: in, Worker: w.Worker}
		}
	}
	return w
}

// apart is a slice with room around it, so that no other worker's lies on the same cache lines: both are written to all the time.
func apart[T any](n int) []T {
	const margin = 128 / 16 // processors fetch cache lines in pairs; a T has 16 bytes at least
	return make([]T, margin+n+margin)[margin:][:n:n]
}
