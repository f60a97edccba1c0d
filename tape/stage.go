package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// stage is a part of the program that runs at once: one instruction as a whole, split over workers
// by the units of its kernel, or a group block by block.
type stage struct {
	steps   []step
	calls   []call // of the steps, once they are bound
	tilings []tiling
	rows    int // 0: one instruction as a whole
	block   int // rows in a block
	stretch int // no block crosses a multiple of it
	visit   int // blocks that are done in all stretches before the next ones; 0: all of a stretch
	parts   int // partial sums of every result that rows are added up to, 0 without one
	several int // sums in such a result, of as many neighbouring rows each; a part belongs to one of them
	sums    []sum
	scratch int // bytes that each worker needs
	work    int // of a loop: the buffer that is its body's arena; 0 for none
	nanos   float64

	checks      bool // a step may find an index outside of its axis
	once        bool // all steps run in the first run, and again when a value that the lot reads has changed
	lot         int  // of the steps that do
	conditional bool
	mask        int // the buffer of its condition
}

// step is an instruction of a stage, and where its operands and its result are.
type step struct {
	ins  int
	out  ref
	in   []ref
	open *opening // until it is bound
	once bool     // see [Once]

	indices *indices // to be checked; nil for none
}

// ref says where the memory of a block begins: stride·row + part·(number of the partial sum) bytes
// after the beginning of buffer buf, or as rows says.
type ref struct {
	local             bool // in scratch: counted from the first row of the block
	buf, stride, part int
	rows              *kernel.Rows
	size              int // bytes of an element
}

// moves reports whether the memory depends on the row or on the part.
func (r *ref) moves() bool { return r.stride != 0 || r.part != 0 || r.rows != nil }

// sum is a sum over the rows. Each part of the blocks has its own; they are added in order at the
// end.
type sum struct {
	partial, out int          // buffers; the same if there is one part, or there are several sums
	bytes        int          // of out
	combine      kernel.Bound // partial → out, once it is bound
	nanos        float64      // that takes
	dtype        kernel.DType
	over         int // what out is divided by, if it is more than 1
}

// sizes decides how work is cut. The sizes depend on no machine, so results do not either.
type sizes struct {
	live    int     // bytes that are alive at once in a tile, or in a block without products
	product int     // bytes of the longest result in a block with products, which want more rows
	rows    int     // rows of a product in a block, at least, if they can be had
	turn    int     // rows at a time, at least, for which they are turned
	turned  int     // what live is where rows are turned: the more rows, the longer are all loops
	part    float64 // nanoseconds of work worth a partial sum of its own
	parts   int     // partial sums at most
	alone   int     // elements whose sum is worth parts if nothing else is done with them

	// These decide who computes, not what. Between the stages of a run all workers are awake, and a
	// fork takes half a microsecond.
	wake  float64 // nanoseconds of work worth waking another worker
	split float64 // the same for one that is awake
	grain float64 // nanoseconds of work that a worker takes at least
}

var standard = sizes{live: 32 << 10, product: 8 << 10, rows: 28, turn: 16, turned: 128 << 10, part: 50e3, parts: 16, alone: 32 << 10, wake: 40e3, split: 10e3, grain: 4e3}

// blocks returns the number of blocks.
func (s *stage) blocks() int { return s.rows / s.stretch * s.blocksPerStretch() }

func (s *stage) blocksPerStretch() int { return (s.stretch + s.block - 1) / s.block }

// span returns the first row of the block that is done as the b-th, and the number of its rows.
func (s *stage) span(b int) (row, n int) {
	per := s.blocksPerStretch()
	stretch, k := b/per, b%per
	if s.visit > 0 {
		stretches := s.rows / s.stretch
		first := b / (s.visit * stretches) * s.visit
		b -= first * stretches
		n := min(s.visit, per-first)
		stretch, k = b/n, first+b%n
	}
	return stretch*s.stretch + k*s.block, min(s.block, s.stretch-k*s.block)
}

// units returns how many parts of the work may run at once, in any order.
func (s *stage) units() int {
	switch {
	case s.rows == 0:
		return s.calls[0].bound[0].Units
	case s.parts > 0:
		return s.parts
	}
	return s.blocks()
}

// made lists the buffers of the arena that stage i writes, each once.
func (q *sequence) made(i int) []int {
	var out []int
	s := &q.stages[i]
	for k := range s.steps {
		if b := s.steps[k].out.buf; q.buffers[b].home == inArena {
			out = append(out, b)
		}
	}
	for _, x := range s.sums {
		if x.out != x.partial {
			out = append(out, x.out)
		}
	}
	if s.work != 0 {
		out = append(out, s.work)
	}
	return out
}

// read lists the buffers that stage i reads, some more than once.
func (q *sequence) read(i int) []int {
	n := 0
	for k := range q.stages[i].steps {
		n += len(q.stages[i].steps[k].in)
	}
	out := make([]int, 0, n)
	for k := range q.stages[i].steps {
		for _, r := range q.stages[i].steps[k].in {
			out = append(out, r.buf)
		}
	}
	return out
}

// loopOf returns the loop that a stage runs, nil for another stage.
func (q *sequence) loopOf(s *stage) *loop {
	if s.rows > 0 {
		return nil
	}
	l, _ := q.instrs[s.steps[0].ins].kernel.(*loop)
	return l
}

// nanos estimates the time of a run on one core, but for stages that run once.
func (q *sequence) nanos() (t float64) {
	for _, s := range q.stages {
		if !s.once {
			t += s.nanos
		}
	}
	return t
}

// scratchBytes returns the bytes of scratch that each worker needs.
func (q *sequence) scratchBytes() (n int) {
	for i := range q.stages {
		n = max(n, q.stages[i].scratch)
		if l := q.loopOf(&q.stages[i]); l != nil {
			n = max(n, l.body.scratch)
		}
	}
	return n
}

// workBytes returns the bytes of their own that the kernels of a worker work in.
func (q *sequence) workBytes() (n int) {
	for i := range q.instrs {
		ins := &q.instrs[i]
		switch k := ins.kernel.(type) {
		case kernel.Working:
			in := make([]kernel.Layout, len(ins.in))
			for j, v := range ins.in {
				in[j] = v.layout
			}
			n = max(n, k.Work(ins.out.layout, in))
		case *loop:
			n = max(n, k.body.workBytes())
		}
	}
	return n
}

// The nanoseconds that nanos counts for an operation, for one of a product, and for a byte.
const perFlop, perProduct, perByte = 0.15, 0.02, 0.03

// nanos estimates the time of an instruction on one core: it decides what is worth splitting, from
// shapes alone.
func nanos(ins *instr) float64 {
	if isProduct(ins.kernel) {
		wide := float64(ins.out.layout.DType.Size()) / 4
		return float64(ins.flops)*perProduct*wide + float64(ins.bytes)*perByte/4
	}
	return float64(ins.flops)*perFlop + float64(ins.bytes)*perByte
}

func isProduct(k kernel.Kernel) bool {
	_, ok := k.(kernel.Product)
	return ok
}

// mayShare reports whether the result of an instruction may take the place of operand i, as far as
// the kernel and the layouts go.
func mayShare(ins *instr, i int) bool {
	v, out := ins.in[i], ins.out.layout
	if !ins.kernel.InPlace(i) || !v.layout.IsDense() || v.layout.DType.Size() != out.DType.Size() || v.layout.Len() != out.Len() {
		return false
	}
	for _, w := range ins.in {
		if w.buf == v.buf && w.layout != v.layout {
			return false
		}
	}
	return true
}
