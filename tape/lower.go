package tape

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// lowering turns the nodes of the rewritten graph into instructions.
type lowering struct {
	p      *Program
	value  map[*graph.Node]value
	dense  map[value]value // copies made of strided values
	inputs []input
	stored []stored
	rows   map[*graph.Node]*rowsOf // of loops
	loops  map[*graph.Node]*loop
	views  map[*graph.Node]viewOf // of loops
	extra  bool                   // what is lowered now is for watched values alone

	separate bool // bodies run instruction by instruction
	trusting bool // indices are not checked
}

func newLowering(p *Program) *lowering {
	return &lowering{p: p, value: map[*graph.Node]value{}, dense: map[value]value{},
		rows: map[*graph.Node]*rowsOf{}, loops: map[*graph.Node]*loop{}, views: map[*graph.Node]viewOf{}}
}

// part lowers what the roots need, and keeps some of them as results.
func (l *lowering) part(res *rewrite.Result, roots, results []*graph.Node) error {
	for _, n := range graph.Reachable(l.mapped(res, roots)...) {
		l.p.under.look()
		if err := l.lower(n); err != nil {
			return err
		}
	}
	for _, n := range results {
		if _, has := l.p.result[n]; !has {
			l.p.result[n] = l.pinned(l.value[res.Node(n)], res.Node(n))
		}
	}
	return nil
}

func (l *lowering) mapped(res *rewrite.Result, roots []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(roots))
	for i, n := range roots {
		out[i] = res.Node(n)
	}
	return out
}

// Runnable is what an operation offers to be run by a kernel.
type Runnable interface {
	Kernel(y *graph.Node) kernel.Kernel
}

// Viewed is what an operation offers that only changes strides.
type Viewed interface {
	View(y *graph.Node) kernel.View
}

// lower adds what computes n. A node that is lowered already stays as it is.
func (l *lowering) lower(n *graph.Node) error {
	if _, done := l.value[n]; done {
		return nil
	}
	dense := denseLayout(n)
	switch n.Role() {
	case graph.RoleInput:
		d, has := n.Default()
		v := l.leaf(dense)
		in := input{path: n.Path(), typ: n.Type(), buf: v.buf, hasDefault: has}
		if has {
			in.value = memOf(graph.Value{Type: n.Type(), Data: []float64{d}})
		}
		l.inputs = append(l.inputs, in)
		l.value[n] = v
		return nil
	case graph.RoleParam, graph.RoleState:
		v := l.leaf(dense)
		l.stored = append(l.stored, stored{leafOf(n), v.buf})
		l.value[n] = v
		return nil
	case graph.RoleConstant:
		v := l.leaf(dense)
		c, _ := n.Constant()
		l.p.buffers[v.buf].constant = memOf(c)
		l.value[n] = v
		return nil
	}
	if from, ok := l.views[n]; ok && from.loop != n {
		l.value[n] = l.shown(from)
		return nil
	}
	if op, ok := n.Op().(Viewed); ok {
		x := l.value[n.In(0)]
		layout, fits := op.View(n).View(x.layout)
		if !fits {
			x = l.densely(x, n.In(0))
			if layout, fits = op.View(n).View(x.layout); !fits {
				panic(fmt.Sprintf("tape: no strides for %s of %v", graph.OpText(n.Op()), x.layout))
			}
		}
		l.value[n] = value{x.buf, layout}
		return nil
	}
	var k kernel.Kernel
	switch op := n.Op().(type) {
	case graph.Looped:
		return l.loop(n, op.Loop())
	case Runnable:
		k = op.Kernel(n)
	case Runner:
		k = runner{op, n, l.trusting}
	case scalar:
		k = runner{pointwise{op}, n, true}
	default:
		return located(n, "operation %s has no Run method: see tape.Runner", n.Op().Name())
	}
	checks, err := l.checks(n)
	if err != nil {
		return err
	}
	in := make([]value, n.NumIn())
	for i := range in {
		in[i] = l.value[n.In(i)]
		if !k.Strided(i) {
			in[i] = l.densely(in[i], n.In(i))
		}
	}
	l.value[n] = l.emit(n, n.Op().Name(), k, dense, in)
	l.p.instrs[len(l.p.instrs)-1].checks = checks
	return nil
}

// emit adds an instruction and gives its result.
func (l *lowering) emit(n *graph.Node, name string, k kernel.Kernel, out kernel.Layout, in []value) value {
	y := value{len(l.p.buffers), out}
	l.p.buffers = append(l.p.buffers, buffer{bytes: out.Len() * out.DType.Size()})
	layouts := make([]kernel.Layout, len(in))
	bytes := int64(out.Len() * out.DType.Size())
	for i, v := range in {
		layouts[i] = v.layout
	}
	for i := range in {
		bytes += int64(reads(k, out, layouts, i))
	}
	l.p.instrs = append(l.p.instrs, instr{
		node: n, name: name, kernel: k, out: y, in: in, extra: l.extra,
		flops: k.Flops(out, layouts), bytes: bytes,
	})
	return y
}

// picker is a kernel that reads a part of an operand.
type picker interface {
	Reads(out kernel.Layout, in []kernel.Layout, i int) (elements int)
}

// reads is the number of bytes that a kernel reads of operand i.
func reads(k kernel.Kernel, out kernel.Layout, in []kernel.Layout, i int) int {
	if p, ok := k.(picker); ok {
		return p.Reads(out, in, i) * in[i].DType.Size()
	}
	return touched(in[i])
}

// touched is the number of bytes that a layout reads once: repeated elements
// count once.
func touched(l kernel.Layout) int {
	n := l.DType.Size()
	for a := range l.Rank {
		if l.Strides[a] != 0 {
			n *= l.Dims[a]
		}
	}
	return n
}

// densely is the value of n in row-major order without gaps, copied if it is not.
func (l *lowering) densely(v value, n *graph.Node) value {
	if v.layout.IsDense() {
		return v
	}
	if c, ok := l.dense[v]; ok {
		return c
	}
	c := l.copyOf(v, n)
	l.dense[v] = c
	return c
}

// copyOf adds an instruction that lays the value of n out densely in the arena.
func (l *lowering) copyOf(v value, n *graph.Node) value {
	y := l.emit(n, "Copy", kernel.Copy{}, denseLayout(n), []value{v})
	l.p.instrs[len(l.p.instrs)-1].copies = true
	return y
}

// pinned is a dense value in the arena that lives until the end of the run:
// results must survive the commit, and commits must not read what another one
// has already changed.
func (l *lowering) pinned(v value, n *graph.Node) value {
	if !v.layout.IsDense() {
		v = l.densely(v, n)
	}
	if l.p.buffers[v.buf].leaf {
		v = l.copyOf(v, n)
	}
	b := &l.p.buffers[v.buf]
	b.watched = l.extra && (b.watched || !b.pinned)
	b.pinned = true
	return v
}

// leaf is a value that lives outside the arena.
func (l *lowering) leaf(layout kernel.Layout) value {
	v := value{len(l.p.buffers), layout}
	l.p.buffers = append(l.p.buffers, buffer{leaf: true, bytes: layout.Len() * layout.DType.Size()})
	return v
}

func denseLayout(n *graph.Node) kernel.Layout {
	return kernel.Dense(kernel.DType(n.DType()), n.Shape().Sizes()...)
}
