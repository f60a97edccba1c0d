package tape

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// opening is a step whose kernel is still to be bound to the layouts of the rows that it meets.
type opening struct {
	kernel  kernel.Kernel
	first   kernel.Kernel // of a sum over the rows: for the first rows of a part
	out     kernel.Layout // of the whole result
	in      []kernel.Layout
	rows    []kernel.Rows  // of the operands, where the step runs in blocks
	outRows *kernel.Rows   // of the result, unless it is a sum over the rows
	panels  *kernel.Layout // of the right operand, if it is packed
	turned  bool           // it computes along the rows
	lies    []bool         // by operand: whether its rows lie turned
}

// layouts returns the layouts of n rows.
func (o *opening) layouts(n int) (out kernel.Layout, in []kernel.Layout) {
	if o.rows == nil {
		return o.out, o.in
	}
	if o.turned {
		return o.along(n)
	}
	in = make([]kernel.Layout, len(o.rows))
	for i := range o.rows {
		if in[i] = o.rows[i].Layout(n); o.lies[i] {
			in[i], _ = o.rows[i].Along(n)
		}
	}
	if o.panels != nil {
		in[1] = *o.panels
	}
	if o.outRows == nil {
		return o.out, in
	}
	l := o.outRows.Layout(n)
	return kernel.Dense(l.DType, l.Dims[:l.Rank]...), in
}

// along returns the layouts of n rows for a step that computes along them.
func (o *opening) along(n int) (out kernel.Layout, in []kernel.Layout) {
	l, _ := o.outRows.Apart(n)
	out = kernel.Dense(l.DType, l.Dims[:l.Rank]...)
	for i := range o.rows {
		if o.lies[i] {
			l, _ = o.rows[i].Turned(n)
		} else {
			l, _ = o.rows[i].Apart(n)
		}
		in = append(in, l.Raised(out.Rank))
	}
	return out, in
}

// call is a step as a VM runs it.
type call struct {
	number int     // among all calls of the program
	bound  []sized // by number of rows
	first  []sized // of a sum over the rows: for the first rows of a part
	moves  []move
	once   bool // see [Once]

	indices *indices // to be checked; nil for none
}

// sized is a kernel bound to a number of rows.
type sized struct {
	kernel.Bound
	rows int
}

// move is an operand of a call, or the result (-1), whose memory differs from block to block, and
// where that is.
type move struct {
	ref
	operand int
	from    int // 1: rows are counted from the first of the block
}

func newMove(operand int, r ref) move {
	m := move{r, operand, 0}
	if r.local {
		m.from = 1
	}
	return m
}

// binding is the program that is being made, with the number of each input, then export, by its
// buffer.
type binding struct {
	*Program
	supplied map[int]int
}

// bind binds the kernels, numbers the calls and their operands, and finds the operands that move
// and those that are supplied: the inputs, then the exports.
func bind(g *guarded) *Program {
	b := binding{&Program{sequence: g.sequence, arena: g.arena, scratch: g.scratchBytes(), sizes: g.how.sizes}, map[int]int{}}
	for i, in := range b.inputs {
		b.supplied[in.buf] = i
	}
	for i, buf := range b.exports {
		b.supplied[buf] = len(b.inputs) + i
	}
	b.fed, b.makers = make([][]int, len(b.supplied)), make([][]int, len(b.exports))
	for i := range b.stages {
		s := &b.stages[i]
		for k := range s.sums {
			s.sums[k].bind(s.parts)
		}
		s.calls = make([]call, len(s.steps))
		for k := range s.steps {
			s.calls[k] = s.bind(k)
			b.number(&s.calls[k], &s.steps[k])
			s.steps[k].open = nil
		}
	}
	return b.Program
}

// bind binds step k to each number of rows that it meets.
func (s *stage) bind(k int) call {
	st := &s.steps[k]
	c, lengths := call{indices: st.indices, once: st.once}, []int{0}
	for _, t := range s.tilings {
		if t.from <= k && k < t.to {
			lengths = s.lengths(t)
		}
	}
	for _, n := range lengths {
		out, in := st.open.layouts(n)
		c.bound = append(c.bound, sized{st.open.kernel.Bind(out, in), n})
		if st.open.first != nil {
			c.first = append(c.first, sized{st.open.first.Bind(out, in), n})
		}
	}
	return c
}

// bind binds the kernel that adds up the parts of a sum.
func (x *sum) bind(parts int) {
	if x.partial == x.out {
		return
	}
	n := x.bytes / x.dtype.Size()
	add := kernel.Reduce{Op: kernel.ReduceSum, Axes: 1}
	x.combine = add.Bind(kernel.Dense(x.dtype, n), []kernel.Layout{kernel.Dense(x.dtype, parts, n)})
}

// number gives a call its number and those of its operands.
func (b *binding) number(c *call, st *step) {
	c.number = b.calls
	if st.out.moves() {
		c.moves = append(c.moves, newMove(-1, st.out))
	} else if i, ok := b.supplied[st.out.buf]; ok {
		export := i - len(b.inputs)
		b.makers[export] = append(b.makers[export], c.number)
	}
	for n, r := range st.in {
		if r.moves() {
			c.moves = append(c.moves, newMove(n, r))
		} else if i, ok := b.supplied[r.buf]; ok {
			b.fed[i] = append(b.fed[i], b.operands+n)
		}
	}
	b.calls++
	b.operands += len(st.in)
}

// check returns an error unless every step has a call for each number of rows that its stage asks
// for, and the plan holds (see [Program.Check]).
func (p *Program) check() error {
	for i := range p.stages {
		s := &p.stages[i]
		if len(s.calls) != len(s.steps) {
			return fmt.Errorf("stage %d has %d calls for %d steps", i, len(s.calls), len(s.steps))
		}
		for k := range s.calls {
			if c := &s.calls[k]; len(c.bound) == 0 || c.bound[0].Run == nil || s.steps[k].open != nil {
				return fmt.Errorf("stage %d, step %d is not bound", i, k)
			}
		}
	}
	return p.Check()
}
