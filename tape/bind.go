package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// opening is a step whose kernel is still to be bound to the layouts of the rows that it meets.
type opening struct {
	kernel kernel.Kernel
	first  kernel.Kernel   // of a sum over the rows: for the first rows of a part
	rows   int             // of the stage, where the step runs in blocks of them; otherwise 0
	div    kernel.Division // into these
	panels *kernel.Layout  // of the right operand, if it is packed
	turned bool            // it computes along the rows
	back   bool            // its result lies as rows do in memory, not along them
	lies   []bool          // by operand: whether its rows lie turned; nil if none does
}

// lie reports whether the rows of operand i lie turned.
func (o *opening) lie(i int) bool { return o.lies != nil && o.lies[i] }

// layouts returns the layouts that the step's instruction has for n rows.
func (o *opening) layouts(ins *instr, n int) (out kernel.Layout, in []kernel.Layout) {
	switch {
	case o.rows == 0:
		out, in = ins.out.layout, layoutsOf(ins.in)
	case o.turned:
		return o.along(ins, n)
	default:
		in = make([]kernel.Layout, len(ins.in))
		for i := range in {
			rows, _ := o.div.Rows(ins.in[i].layout, i, o.rows)
			if in[i] = rows.Layout(n); o.lie(i) {
				in[i], _ = rows.Along(n)
			}
		}
		if out = ins.out.layout; o.div.Accumulate == nil {
			rows, _ := o.div.Rows(out, -1, o.rows)
			l := rows.Layout(n)
			out = kernel.Dense(l.DType, l.Dims[:l.Rank]...)
		} else {
			out = o.div.Sum(out)
		}
	}
	if o.panels != nil {
		in[1] = *o.panels
	}
	return out, in
}

// along returns the layouts of n rows for a step that computes along them.
func (o *opening) along(ins *instr, n int) (out kernel.Layout, in []kernel.Layout) {
	rows, _ := o.div.Rows(ins.out.layout, -1, o.rows)
	if out, _ = rows.Apart(n); !o.back {
		out = kernel.Dense(out.DType, out.Dims[:out.Rank]...)
	}
	in = make([]kernel.Layout, len(ins.in))
	for i := range in {
		rows, _ := o.div.Rows(ins.in[i].layout, i, o.rows)
		if in[i], _ = rows.Apart(n); o.lie(i) {
			in[i], _ = rows.Turned(n)
		}
		in[i] = in[i].Raised(out.Rank)
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

// sized is a kernel bound to a number of rows, with what is fetched before it runs.
type sized struct {
	kernel.Straight
	rows  int
	ahead []ahead
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
			s.sums[k].bind(s.parts, s.several)
		}
		s.calls = make([]call, len(s.steps))
		for k := range s.steps {
			s.calls[k] = s.bind(k, &b.instrs[s.steps[k].ins])
			b.number(&s.calls[k], &s.steps[k], s.atOnce(k))
			s.steps[k].open = nil
		}
		b.fetchAhead(s)
		s.straighten()
	}
	return b.Program
}

// bind binds step k, which is an instruction, to each number of rows that it meets.
func (s *stage) bind(k int, ins *instr) call {
	st, atOnce := &s.steps[k], s.rows > 0 && s.atOnce(k)
	c, lengths := call{indices: st.indices, once: st.once}, []int{0}
	for _, t := range s.tilings {
		if t.from <= k && k < t.to {
			lengths = s.lengths(t)
		}
	}
	for _, n := range lengths {
		out, in := st.open.layouts(ins, n)
		bind := func(k kernel.Kernel) sized {
			b := sized{Straight: kernel.Straight{Bound: k.Bind(out, in)}, rows: n}
			if atOnce {
				b.Straight = kernel.NewStraight(k, out, in, b.Bound)
			}
			return b
		}
		c.bound = append(c.bound, bind(st.open.kernel))
		if st.open.first != nil {
			c.first = append(c.first, bind(st.open.first))
		}
	}
	return c
}

// atOnce reports whether step k does all rows of the stage in one call, so that nothing moves.
func (s *stage) atOnce(k int) bool {
	for _, t := range s.tilings {
		if t.from <= k && k < t.to {
			return t.rows >= s.rows && s.block >= s.rows
		}
	}
	return true
}

// bind binds the kernel that adds up the parts of several sums.
func (x *sum) bind(parts, several int) {
	if x.partial == x.out {
		return
	}
	n := x.bytes / x.dtype.Size() / several
	add := kernel.Reduce{Op: kernel.ReduceSum, Axes: 1 << 1}
	x.combine = add.Bind(kernel.Dense(x.dtype, several, n), []kernel.Layout{kernel.Dense(x.dtype, several, parts/several, n)})
}

// number gives a call its number and those of its operands. At once, none of them moves.
func (b *binding) number(c *call, st *step, atOnce bool) {
	c.number = b.calls
	if st.out.moves() && !atOnce {
		c.moves = append(c.moves, newMove(-1, st.out))
	} else if i, ok := b.supplied[st.out.buf]; ok {
		export := i - len(b.inputs)
		b.makers[export] = append(b.makers[export], c.number)
	}
	for n, r := range st.in {
		if r.moves() && !atOnce {
			c.moves = append(c.moves, newMove(n, r))
		} else if i, ok := b.supplied[r.buf]; ok {
			b.fed[i] = append(b.fed[i], b.operands+n)
		}
	}
	b.calls++
	b.operands += len(st.in)
}

// length is a number of rows that the calls of a tiling are bound to.
type length struct {
	rows     int
	number   int               // in call.bound
	straight []kernel.Straight // of all calls, if there is nothing to be done but to run them; otherwise nil
}

// straighten finds the numbers of rows of the tilings, and the calls that run straight one after
// the other. It is to be called again when kernels are exchanged.
func (s *stage) straighten() {
	for i := range s.tilings {
		t := &s.tilings[i]
		t.lengths = nil
		calls := s.calls[t.from:t.to]
		bent := slices.ContainsFunc(calls, func(c call) bool {
			return c.once || c.first != nil || len(c.moves) > 0 || c.indices != nil
		})
		for n, b := range calls[0].bound {
			x := length{rows: b.rows, number: n}
			for k := 0; k < len(calls) && !bent; k++ {
				x.straight = append(x.straight, calls[k].bound[n].Straight)
			}
			t.lengths = append(t.lengths, x)
		}
	}
}

// length returns what the calls are bound to for so many rows.
func (t *tiling) length(rows int) *length {
	for i := range t.lengths {
		if t.lengths[i].rows == rows {
			return &t.lengths[i]
		}
	}
	panic("tape: nothing is bound to so many rows")
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
