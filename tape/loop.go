package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A loop is one instruction. Its body is a program of its own; a VM runs all its stages once for
// each step, on its workers. The program's inputs and exports are in the arrays of the loop: a step
// reads the carries from the previous row of the trace and the elements of the sequences in place,
// and writes its results to their rows; sums are added up in place. The body's arena is a buffer of
// the outer one, taken while the loop runs.

// loop is the kernel of a loop over steps.
type loop struct {
	trait.Loop
	rings []ring   // by result
	keeps []string // what is kept, of the results of which not all is
	body  *Program
	reads []feeding   // by operand
	flops int64       // of all steps
	dtype graph.DType // of the arrays that the steps write
	gate  graph.DType // of the gate, if there is one
}

// feeding says where the element of an operand for the time t begins: at the operand's memory plus
// t·stride bytes, or t counted from the last time where the sequence runs backwards in memory.
type feeding struct {
	stride int
	back   bool
}

// Bind leaves everything to the body's program.
func (*loop) Bind(kernel.Layout, []kernel.Layout) kernel.Bound {
	return kernel.Bound{Units: 1, Run: func(c *kernel.Ctx, lo, hi int) {
		if lo < hi {
			c.Inner.Run(c)
		}
	}}
}

func (l *loop) Flops(kernel.Layout, []kernel.Layout) int64 { return l.flops }
func (*loop) InPlace(int) bool                             { return false }

// Strided reports true for all but the initial carries, which are copied into the trace, and the
// gate.
func (l *loop) Strided(i int) bool { return i >= l.Carries && i != l.Gate-1 }

// loop lowers a loop and compiles its body.
func (l *lowering) loop(n *graph.Node, of trait.Loop) error {
	body := n.Body()
	k := &loop{Loop: of, dtype: n.DType().Wide()} // wide, so that sums are rounded once
	if gate, ok := of.Gated(); ok {
		k.gate = n.In(gate).DType().Wide()
	}
	length := k.lay(body, l.rows[n])
	in := make([]value, n.NumIn())
	b := newLowering(&unit{source: body.Graph(), graph: body.Graph(), result: map[*graph.Node]value{}}, l.how)
	for i, x := range body.In() {
		in[i] = l.value[n.In(i)]
		if !k.Strided(i) {
			in[i] = l.densely(l.wide(in[i], n.In(i)), n.In(i))
		}
		layout, feed := denseLayout(x), feeding{}
		switch {
		case i < k.Carries:
			layout.DType = layout.DType.Wide()
		case i < k.Carries+k.Sequences:
			layout, feed = rowOf(in[i].layout)
		default:
			layout = in[i].layout
		}
		v := b.outside(layout)
		b.inputs = append(b.inputs, input{path: x.Path(), typ: x.Type(), buf: v.buf})
		b.value[x] = b.narrow(v, x)
		k.reads = append(k.reads, feed)
	}
	if err := b.body(body.Out(), k.Carries+k.Outs); err != nil {
		return err
	}
	k.body = advance[*Program](b.lowered, l.how)
	k.flops = int64(k.Steps) * k.body.FLOPs()
	l.loops[n] = k
	whole := l.emit(n, k.Made, k, kernel.Dense(kernel.DType(k.dtype), length), in)
	l.instrs[len(l.instrs)-1].bytes = int64(k.Steps) * k.body.Traffic()
	l.value[n] = value{l.narrow(whole, n).buf, denseLayout(n)}
	return nil
}

// body lowers the results of a loop's body: the first so many are exported, the others added up.
func (l *lowering) body(out []*graph.Node, exported int) error {
	inside := graph.Reachable(out...)
	l.findRows(inside, out)
	for _, n := range inside {
		if err := l.lower(n); err != nil {
			return err
		}
	}
	for i, n := range out {
		v := l.wide(l.value[n], n)
		if i < exported {
			l.exports = append(l.exports, l.exported(v, n))
			continue
		}
		// The sum including this step's term overwrites the sum so far.
		all := denseLayout(n)
		all.DType = all.DType.Wide()
		total := l.outside(all)
		l.inputs = append(l.inputs, input{path: fmt.Sprint("sum ", i), typ: n.Type(), buf: total.buf})
		if all.Len() == 0 {
			l.exports = append(l.exports, l.outside(all).buf)
			continue
		}
		sum := l.emit(n, "Accumulate", kernel.Add, all, []value{total, l.densely(v, n)})
		l.instrs[len(l.instrs)-1].does = adds
		l.buffers[sum.buf].pinned = true
		l.exports = append(l.exports, sum.buf)
	}
	l.how.verify("lower", l.lowered, false)
	return nil
}

// rowOf returns the layout of an element along the first axis, and where it begins.
func rowOf(l kernel.Layout) (row kernel.Layout, f feeding) {
	row = kernel.Layout{DType: l.DType, Rank: l.Rank - 1, Offset: l.Offset}
	copy(row.Dims[:], l.Dims[1:l.Rank])
	copy(row.Strides[:], l.Strides[1:l.Rank])
	f.stride = l.Strides[0] * l.DType.Size()
	if f.stride < 0 {
		f.stride, f.back = -f.stride, true
		row.Offset += (l.Dims[0] - 1) * l.Strides[0]
	}
	return row, f
}

// exported returns a buffer that holds exactly the value of n and is no other export's.
func (l *lowering) exported(v value, n *graph.Node) int {
	if v.layout.Len() == 0 {
		return l.outside(v.layout).buf
	}
	b := &l.buffers[v.buf]
	own := v.layout.IsDense() && b.home == inArena && b.bytes == v.layout.Len()*v.layout.DType.Size()
	if !own || slices.Contains(l.exports, v.buf) {
		v = l.copyOf(v, n)
		b = &l.buffers[v.buf]
	}
	b.pinned = true
	return v.buf
}
