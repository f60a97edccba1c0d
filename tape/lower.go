package tape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// lowered is the first form: one instruction for each node that computes something, in the order of
// the graph, reading operands through strides. Nothing is grouped and nothing has a place.
type lowered struct {
	tables
	how     *settings
	instrs  []draft
	watched map[int]bool // pinned buffers, by number, that only watched values need
}

// draft is an instruction with properties that only the phases use.
type draft struct {
	instr
	extra  bool   // it is there for watched values alone
	checks bool   // an index outside of its axis fails the run
	again  *again // it makes anew what another has made before
}

// clone returns a copy that the phases may change.
func (l *lowered) clone() *lowered {
	c := *l
	c.instrs, c.buffers, c.commits = slices.Clone(l.instrs), slices.Clone(l.buffers), slices.Clone(l.commits)
	for i := range c.instrs {
		c.instrs[i].in = slices.Clone(c.instrs[i].in)
	}
	return &c
}

// vacate says that no instruction makes buffer b any more.
func (l *lowered) vacate(b int) { l.buffers[b] = buffer{home: nowhere} }

// wanted reports whether a buffer is a result or the source of a commit, and not only watched.
func (l *lowered) wanted(b int) bool { return l.buffers[b].pinned && !l.watched[b] }

// String lists the instructions, and what is committed.
func (l *lowered) String() string {
	var b strings.Builder
	name := l.names()
	fmt.Fprintf(&b, "lowered %q\n", l.source.Name())
	for i := range l.instrs {
		if ins := &l.instrs[i]; l.buffers[ins.out.buf].home != nowhere {
			b.WriteString("  " + name.lineOf(&ins.instr))
			if ins.extra {
				b.WriteString("  · watched only")
			}
			if ins.again != nil && ins.again.saves > 0 {
				b.WriteString("  · again")
			}
			b.WriteString("\n")
		}
	}
	return b.String() + l.commitsText()
}

// check returns an error unless each instruction reads results of earlier ones, or values from
// outside, and every wanted value is made.
func (l *lowered) check() error {
	made := make([]bool, len(l.buffers))
	for i := range l.instrs {
		ins := &l.instrs[i]
		for k, v := range ins.in {
			if b := &l.buffers[v.buf]; b.home != outside && !made[v.buf] {
				return fmt.Errorf("instruction %d, %s, reads buffer %d before it is made", i, ins.name, v.buf)
			} else if !ins.kernel.Strided(k) && !v.layout.IsDense() && !kernel.ReadsThrough(ins.kernel, k, ins.out.layout, layoutsOf(ins.in)) {
				return fmt.Errorf("instruction %d, %s, cannot read operand %d through strides", i, ins.name, k)
			}
		}
		if l.buffers[ins.out.buf].home != inArena || made[ins.out.buf] {
			return fmt.Errorf("instruction %d, %s, writes buffer %d, which is not its own", i, ins.name, ins.out.buf)
		}
		made[ins.out.buf] = true
	}
	for b := range l.buffers {
		if l.buffers[b].pinned && !made[b] {
			return fmt.Errorf("no instruction makes buffer %d, which is kept to the end", b)
		}
	}
	return nil
}

// lowering turns the nodes of the rewritten graph into instructions.
type lowering struct {
	*lowered
	value map[*graph.Node]value
	dense map[value]value         // copies made of strided values
	wider map[value]value         // values of types for storage as the kernels take them
	rows  map[*graph.Node]*rowsOf // of loops
	loops map[*graph.Node]*loop
	views map[*graph.Node]viewOf // of loops
	known map[*graph.Node]int    // indices that are checked, and for what size
	sums  int                    // over lanes, so far
	extra bool                   // what is lowered now is for watched values alone

	layouts []kernel.Layout // of the operands of the instruction at hand
}

func newLowering(u *unit, how *settings) *lowering {
	return &lowering{
		lowered: &lowered{tables: tables{unit: u}, how: how, watched: map[int]bool{}},
		value:   map[*graph.Node]value{}, dense: map[value]value{}, wider: map[value]value{},
		rows: map[*graph.Node]*rowsOf{}, loops: map[*graph.Node]*loop{}, views: map[*graph.Node]viewOf{},
		known: map[*graph.Node]int{},
	}
}

// lower turns the part of the rewritten graph that a request wants into instructions.
func lower(g *graph.Graph, res *rewrite.Result, r *request) (*lowered, error) {
	l := newLowering(&unit{source: g, graph: res.Graph, rewritten: res, result: map[*graph.Node]value{}}, &r.settings)
	wanted := mapped(res, slices.Concat(r.roots(false), r.roots(true)))
	l.findRows(graph.Reachable(wanted...), wanted)
	// Nodes that are there only to be watched come last and stay apart, so that they change no bit
	// of the rest.
	if err := l.part(res, r.roots(false), r.fetch); err != nil {
		return nil, err
	}
	for _, n := range r.finite {
		l.finite = append(l.finite, check{n.String(), l.result[n]})
	}
	for _, u := range r.steps {
		t, v := res.Node(u.Target), res.Node(u.Value)
		l.commits = append(l.commits, commit{path: t.Path(), to: l.value[t], from: l.pinned(l.value[v], v)})
	}
	l.extra = true
	if err := l.part(res, r.roots(true), r.wanted); err != nil {
		return nil, err
	}
	l.how.verify("lower", l.lowered, false)
	return l.lowered, nil
}

// part lowers what the roots need, and keeps some of them as results.
func (l *lowering) part(res *rewrite.Result, roots, results []*graph.Node) error {
	nodes := graph.Reachable(mapped(res, roots)...)
	l.grow(len(nodes))
	for _, n := range nodes {
		l.how.look()
		if err := l.lower(n); err != nil {
			return err
		}
	}
	for _, n := range results {
		if _, has := l.result[n]; !has {
			l.result[n] = l.pinned(l.value[res.Node(n)], res.Node(n))
		}
	}
	return nil
}

// grow makes room for the first nodes, so many, each of which becomes an instruction or a view.
func (l *lowering) grow(nodes int) {
	if len(l.value) == 0 {
		l.instrs, l.buffers, l.value = make([]draft, 0, nodes), make([]buffer, 0, nodes), make(map[*graph.Node]value, nodes)
	}
}

func mapped(res *rewrite.Result, roots []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(roots))
	for i, n := range roots {
		out[i] = res.Node(n)
	}
	return out
}

// Runnable is implemented by operations that a kernel runs.
type Runnable interface {
	Kernel(y *graph.Node) kernel.Kernel
}

// Viewed is implemented by operations that only change strides.
type Viewed interface {
	View(y *graph.Node) kernel.View
}

// lower adds the instruction or view for n, unless n is lowered already.
func (l *lowering) lower(n *graph.Node) error {
	if _, done := l.value[n]; done {
		return nil
	}
	dense := denseLayout(n)
	switch n.Role() {
	case graph.RoleInput:
		d, has := n.Default()
		v := l.outside(dense)
		in := input{path: n.Path(), typ: n.Type(), buf: v.buf, hasDefault: has}
		if has {
			in.value = memOf(graph.Value{Type: n.Type(), Data: []float64{d}})
		}
		l.inputs = append(l.inputs, in)
		l.value[n] = v
		return nil
	case graph.RoleParam, graph.RoleState:
		v := l.outside(dense)
		l.stored = append(l.stored, stored{leafOf(n), v.buf})
		l.value[n] = v
		return nil
	case graph.RoleConstant:
		v := l.outside(dense)
		c, _ := n.Constant()
		l.buffers[v.buf].constant = memOf(c)
		l.value[n] = v
		return nil
	}
	if dense.Len() == 0 { // there is nothing to compute
		l.value[n] = l.outside(dense)
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
	case trait.Looped:
		return l.loop(n, op.Loop())
	case Runnable:
		k = op.Kernel(n)
		if sum, ok := k.(kernel.SumRanks); ok {
			if l.rewritten == nil {
				return located(n, "%v sums over lanes in the body of a loop, a branch or a checkpoint, "+
					"to which lanes need not come equally often: sum outside of it", n)
			}
			k = summing{sum, l.sums}
			l.sums++
		}
	case CustomOp:
		k = runner{op, n, l.how.trusting}
	case trait.Elementwise:
		k = runner{pointwise{op}, n, true}
	default:
		return located(n, "operation %s has no Run method: see tape.CustomOp", n.Op().Name())
	}
	checks, err := l.checks(n)
	if err != nil {
		return err
	}
	k = l.how.mix(n, k)
	in, out, hollow := make([]value, n.NumIn()), dense, false
	if !kernel.TakesNarrow(k) {
		out.DType = dense.DType.Wide()
	}
	for i := range in {
		if in[i] = l.value[n.In(i)]; !kernel.TakesNarrow(k) {
			in[i] = l.wide(in[i], n.In(i))
		}
		hollow = hollow || in[i].layout.Len() == 0
	}
	if hollow {
		k = kernel.Hollow(k)
	} else {
		k = l.placed(k, n)
	}
	for i := range in {
		if !k.Strided(i) && !kernel.ReadsThrough(k, i, out, layoutsOf(in)) {
			in[i] = l.densely(in[i], n.In(i))
		}
	}
	y := l.emit(n, nameOf(n.Op().Name(), k), k, out, in)
	l.instrs[len(l.instrs)-1].checks = checks
	l.value[n] = l.narrow(y, n)
	return nil
}

// emit adds an instruction and returns its result.
func (l *lowering) emit(n *graph.Node, name string, k kernel.Kernel, out kernel.Layout, in []value) value {
	y := value{len(l.buffers), out}
	l.buffers = append(l.buffers, buffer{bytes: out.Len() * out.DType.Size()})
	layouts, bytes := l.layouts[:0], int64(out.Len()*out.DType.Size())
	for i := range in {
		layouts = append(layouts, in[i].layout)
	}
	l.layouts = layouts
	for i := range in {
		bytes += int64(reads(k, out, layouts, i))
	}
	l.instrs = append(l.instrs, draft{extra: l.extra, instr: instr{
		node: n, name: name, kernel: k, out: y, in: in, flops: k.Flops(out, layouts), bytes: bytes,
	}})
	return y
}

// picker is a kernel that reads a part of an operand.
type picker interface {
	Reads(out kernel.Layout, in []kernel.Layout, i int) (elements int)
}

// reads returns the number of bytes that a kernel reads of operand i.
func reads(k kernel.Kernel, out kernel.Layout, in []kernel.Layout, i int) int {
	if p, ok := k.(picker); ok {
		return p.Reads(out, in, i) * in[i].DType.Size()
	}
	return touched(in[i])
}

// touches counts what is moved where the result lies on the first operand, for a kernel that leaves most
// of that as it is.
func (ins *instr) touches() {
	if k, ok := ins.kernel.(interface{ Touches([]kernel.Layout) int }); ok {
		ins.bytes -= int64(touched(ins.out.layout) + touched(ins.in[0].layout))
		ins.bytes += int64(k.Touches(layoutsOf(ins.in)) * ins.out.layout.DType.Size())
	}
}

// touched returns the number of bytes that a layout reads once: repeated elements count once.
func touched(l kernel.Layout) int {
	n := l.DType.Size()
	for a := range l.Rank {
		if l.Strides[a] != 0 {
			n *= l.Dims[a]
		}
	}
	return n
}

// densely returns the value of n in row-major order without gaps, copied if it is not.
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
	out := denseLayout(n)
	out.DType = v.layout.DType
	y := l.emit(n, "Copy", kernel.Copy{}, out, []value{v})
	l.instrs[len(l.instrs)-1].does = copies
	return y
}

// pinned returns the value of n, dense and in the arena until the end of the run: results must
// survive the commit, and commits must not read what another one has already changed.
func (l *lowering) pinned(v value, n *graph.Node) value {
	if v.layout.Len() == 0 {
		return v
	}
	if !v.layout.IsDense() {
		v = l.densely(v, n)
	}
	if l.buffers[v.buf].home == outside {
		v = l.copyOf(v, n)
	}
	b := &l.buffers[v.buf]
	if !l.extra {
		delete(l.watched, v.buf)
	} else if !b.pinned {
		l.watched[v.buf] = true
	}
	b.pinned = true
	return v
}

// outside returns a new value that lives outside the arena.
func (l *lowering) outside(layout kernel.Layout) value {
	v := value{len(l.buffers), layout}
	l.buffers = append(l.buffers, buffer{home: outside, bytes: layout.Len() * layout.DType.Size()})
	return v
}

func denseLayout(n *graph.Node) kernel.Layout {
	return kernel.Dense(kernel.DType(n.DType()), n.Shape().Sizes()...)
}
