package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// worker is what one core needs to run blocks: its own scratch, and where each buffer lies for it.
type worker struct {
	ctx *kernel.Ctx
	mem []kernel.Mem // by buffer
	in  []kernel.Mem // of the step at hand
}

// memory is where a row of a buffer begins. first is the first row of the block.
func (w *worker) memory(r *ref, first, row, part int) kernel.Mem {
	m := w.mem[r.buf]
	switch {
	case r.local:
		return m.From((row - first) * r.stride)
	case r.rows != nil:
		return m.From(r.rows.At(row) * r.size)
	}
	return m.From(row*r.stride + part*r.part)
}

// run does units [lo,hi) of a stage.
func (w *worker) run(s *stage, lo, hi int) {
	switch {
	case s.rows == 0:
		st := &s.steps[0]
		w.step(st, &st.loops[0], 0, 0, 0, lo, hi)
	case s.parts == 0:
		for b := lo; b < hi; b++ {
			w.block(s, b, 0)
		}
	default:
		n := s.blocks()
		for part := lo; part < hi; part++ {
			for i := range s.folds {
				f := &s.folds[i]
				w.mem[f.partial].Slice(part*f.bytes, f.bytes).Clear()
			}
			for b := part * n / s.parts; b < (part+1)*n/s.parts; b++ {
				w.block(s, b, part)
			}
		}
	}
}

// block runs all steps on block b, adding to the given partial sums.
func (w *worker) block(s *stage, b, part int) {
	first, n := s.span(b)
	for i := range s.runs {
		r := &s.runs[i]
		for row := first; row < first+n; row += r.rows {
			rows := min(r.rows, first+n-row)
			for k := r.from; k < r.to; k++ {
				st := &s.steps[k]
				loop := st.loop(rows)
				w.step(st, loop, first, row, part, 0, loop.Units)
			}
		}
	}
}

// loop is the step's loop over so many rows.
func (st *step) loop(rows int) *bound {
	for i := range st.loops {
		if st.loops[i].rows == rows {
			return &st.loops[i]
		}
	}
	panic("tape: no loop for so many rows")
}

// step runs units [lo,hi) of a loop of a step, at the given row of the block that begins at first.
func (w *worker) step(st *step, loop *bound, first, row, part, lo, hi int) {
	c := w.ctx
	c.Out = w.memory(&st.out, first, row, part).First(loop.bytes)
	in := w.in[:len(st.in)]
	for k := range in {
		in[k] = w.memory(&st.in[k], first, row, 0)
	}
	c.In = in
	loop.Run(c, lo, hi)
}

// combine adds the partial sums of a stage in order.
func (w *worker) combine(s *stage) {
	for i := range s.folds {
		f := &s.folds[i]
		if f.partial != f.out {
			w.ctx.Out = w.mem[f.out]
			w.in[0] = w.mem[f.partial]
			w.ctx.In = w.in[:1]
			f.combine.Run(w.ctx, 0, f.combine.Units)
		}
		if f.over > 1 {
			out := w.mem[f.out].Slice(0, f.bytes)
			if f.dtype == kernel.F32 {
				divide(kernel.As[float32](out), float32(f.over))
			} else {
				divide(kernel.As[float64](out), float64(f.over))
			}
		}
	}
}

func divide[T float32 | float64](x []T, by T) {
	for i := range x {
		x[i] /= by
	}
}

func newWorker(p *Program, shared []kernel.Mem) *worker {
	w := &worker{ctx: kernel.NewCtx(), mem: slices.Clone(shared)}
	scratch := kernel.Alloc(p.scratch)
	for i, b := range p.buffers {
		if b.scratch {
			w.mem[i] = scratch.Slice(b.offset, b.bytes)
		}
	}
	operands := 1
	for _, ins := range p.instrs {
		operands = max(operands, len(ins.in))
	}
	w.in = make([]kernel.Mem, operands)
	return w
}
