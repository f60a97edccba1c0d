package tape

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Option says what a program is for; see [Fetch], [Watch], [Do], [Passes], [CheckFinite].
type Option func(*request)

type request struct {
	wanted []*graph.Node // fetched and watched
	steps  []graph.Update
	passes []rewrite.Pass
	finite []*graph.Node
}

// Fetch names results: they can be read after each run.
func Fetch(nodes ...*graph.Node) Option {
	return func(r *request) { r.wanted = append(r.wanted, nodes...) }
}

// Watch names intermediate values that can be read after each run, as Fetch
// does for results. Each is materialised as the graph has it, also where the
// passes go another way; nothing else changes by a bit.
func Watch(nodes ...*graph.Node) Option { return Fetch(nodes...) }

// Do adds the updates of steps, which the commit of each run applies.
func Do(steps ...graph.Step) Option {
	return func(r *request) { r.steps = append(r.steps, slices.Concat(steps...)...) }
}

// Passes replaces the list of rewrite passes; without arguments the graph is
// compiled as written.
func Passes(passes ...rewrite.Pass) Option {
	return func(r *request) { r.passes = passes }
}

// CheckFinite makes a run fail, before anything is committed, when one of the
// float scalars is NaN or infinite. They can be read after each run too.
func CheckFinite(scalars ...*graph.Node) Option {
	return func(r *request) {
		r.finite = append(r.finite, scalars...)
		r.wanted = append(r.wanted, scalars...)
	}
}

// Compile makes the program that computes what the options ask for. Every
// mistake made while building the graph is returned, whether the wanted nodes
// depend on it or not. To ask for nothing is a mistake too.
func Compile(g *graph.Graph, options ...Option) (*Program, error) {
	if g == nil {
		return nil, errors.New("compile: the graph is nil")
	}
	r := request{passes: rewrite.Passes()}
	for _, o := range options {
		if o != nil {
			o(&r)
		}
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	if err := r.check(g); err != nil {
		return nil, err
	}
	roots := slices.Clone(r.wanted)
	for _, u := range r.steps {
		roots = append(roots, u.Target, u.Value)
	}
	res, err := rewrite.Run(g, roots, r.passes...)
	if err != nil {
		return nil, err
	}
	p := &Program{source: g, graph: res.Graph, log: res.Log, result: map[*graph.Node]value{}}
	l := newLowering(p)
	for _, n := range graph.Reachable(l.mapped(res, roots)...) {
		if err := l.lower(n); err != nil {
			return nil, err
		}
	}
	for _, n := range r.wanted {
		p.result[n] = l.pinned(l.value[res.Node(n)], res.Node(n))
	}
	for _, n := range r.finite {
		p.finite = append(p.finite, check{n.String(), p.result[n]})
	}
	for _, u := range r.steps {
		t, v := res.Node(u.Target), res.Node(u.Value)
		p.commits = append(p.commits, commit{t.Path(), l.value[t], l.pinned(l.value[v], v)})
	}
	p.inputs, p.stored = l.inputs, l.stored
	p.plan()
	if err := p.Check(); err != nil {
		panic(fmt.Sprintf("tape: the plan is wrong: %v\n%v", err, p))
	}
	return p, nil
}

// check refuses nodes that cannot be wanted, and two updates of one leaf.
func (r *request) check(g *graph.Graph) error {
	var errs []error
	if len(r.wanted)+len(r.steps) == 0 {
		errs = append(errs, errors.New("compile: nothing to compute: name results with tape.Fetch or updates with tape.Do"))
	}
	for _, n := range r.wanted {
		if n != nil && !n.IsValid() && n.Graph().Err() != nil { // g has no mistakes: it is of another graph
			errs = append(errs, n.Graph().Err())
		} else if n == nil || n.Graph() != g || !n.IsValid() {
			errs = append(errs, fmt.Errorf("fetch: %v is no node of graph %q", n, g.Name()))
		}
	}
	for _, n := range r.finite {
		if n.IsValid() && (n.Rank() != 0 || !n.DType().IsFloat()) {
			errs = append(errs, located(n, "check finite: %v is no float scalar", n))
		}
	}
	seen := map[*graph.Node]bool{}
	for _, u := range r.steps {
		switch {
		case u.Target == nil || u.Value == nil || u.Target.Graph() != g || u.Value.Graph() != g || !u.Target.IsValid() || !u.Value.IsValid():
			errs = append(errs, fmt.Errorf("do: an update of graph %q has no target or value there", g.Name()))
		case u.Err() != nil:
			errs = append(errs, located(u.Value, "do: %w", u.Err()))
		case seen[u.Target]:
			errs = append(errs, located(u.Value, "do: %s is updated twice in one program: compile one for each step", u.Target.Path()))
		}
		seen[u.Target] = true
	}
	return errors.Join(errs...)
}

// located is an error at the line where a node was made.
func located(n *graph.Node, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at := n.First().Pos; at != (graph.Pos{}) {
		return fmt.Errorf("%v: %w", at, err)
	}
	return err
}

// lowering turns the nodes of the rewritten graph into instructions.
type lowering struct {
	p      *Program
	value  map[*graph.Node]value
	dense  map[value]value // copies made of strided values
	inputs []input
	stored []stored
}

func newLowering(p *Program) *lowering {
	return &lowering{p: p, value: map[*graph.Node]value{}, dense: map[value]value{}}
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

func (l *lowering) lower(n *graph.Node) error {
	dense := denseLayout(n)
	switch n.Role() {
	case graph.RoleInput:
		d, has := n.Default()
		v := l.leaf(dense)
		l.inputs = append(l.inputs, input{n.Path(), n.Type(), v.buf, d, has})
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
	case Runnable:
		k = op.Kernel(n)
	case Runner:
		k = runner{op, n}
	default:
		return located(n, "operation %s has no Run method: see tape.Runner", n.Op().Name())
	}
	in := make([]value, n.NumIn())
	for i := range in {
		in[i] = l.value[n.In(i)]
		if !k.Strided(i) {
			in[i] = l.densely(in[i], n.In(i))
		}
	}
	l.value[n] = l.emit(n, n.Op().Name(), k, dense, in)
	return nil
}

// emit adds an instruction and gives its result.
func (l *lowering) emit(n *graph.Node, name string, k kernel.Kernel, out kernel.Layout, in []value) value {
	y := value{len(l.p.buffers), out}
	l.p.buffers = append(l.p.buffers, buffer{bytes: out.Len() * out.DType.Size()})
	layouts := make([]kernel.Layout, len(in))
	bytes := out.Len() * out.DType.Size()
	for i, v := range in {
		layouts[i] = v.layout
		bytes += touched(v.layout)
	}
	l.p.instrs = append(l.p.instrs, instr{
		node: n, name: name, kernel: k, loop: k.Bind(out, layouts), out: y, in: in,
		flops: k.Flops(out, layouts), bytes: int64(bytes),
	})
	return y
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
	l.p.buffers[v.buf].pinned = true
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
