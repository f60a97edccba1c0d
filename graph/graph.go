package graph

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Graph owns nodes and interns equal ones. It is built by one goroutine and may
// then be read by many.
type Graph struct {
	name       string
	dtype      DType // of scalars that are given none
	nodes      []*Node
	interned   interning
	byPath     map[string]*Node // inputs, parameters, states
	constants  []Value
	constIDs   map[uint64][]int
	bodies     []*Body
	bodyIDs    map[string][]BodyID // by form
	outer      *Graph              // of a body that is being built: the graph it is for
	outerNodes map[*Node]*Node     // likewise, by input: see Node.Outer
	captured   map[*Node]*Node     // likewise, by node of outer: the input that captures it
	captures   []*Node             // likewise: these inputs
	copied     map[*Node]bool      // scalar constants of which a body has a copy: see Node.Copied
	sealed     bool                // the body is no longer being built
	open       *Graph              // the body that is being built for this graph
	encloses   bool                // of a body that is being built: see Enclose
	time       *Node               // of a body that is being built: the input that is the time of a step
	memo       map[any]any
	updates    []Update
	derived    []Derivation
	errs       Errors
	opErrs     map[reflect.Type]error // results of checkOp
	draws      map[string]int         // random draws made so far, by scope and name
	scopes     []string
	ctx        context
	call       *call             // of a function that combines operations, while it does
	root       string            // the library's own sources
	files      map[string]string // positions: file names as printed
	lines      map[calls]Pos     // positions: the user's line by the calls that lead to it

	copying     *Graph  // the graph of the last node that was copied to this one
	copiedKinds []int32 // the numbers of its operations here, by those there: see kindCopied

	newNodes  slab[Node]
	newInputs slab[*Node]
	newOccurs slab[Occurrence]
}

// New returns an empty graph. The name is the title of its drawings. The element type, f32 unless
// one is given, is that of [Graph.Scalar], and what [Graph.DType] returns; one that is no float is a
// mistake. Other leaves and constants have the types that they are made with, whatever it is.
func New(name string, dt ...DType) *Graph {
	g := &Graph{
		name: name, dtype: F32, byPath: map[string]*Node{}, constIDs: map[uint64][]int{},
		opErrs: map[reflect.Type]error{}, draws: map[string]int{}, root: libraryRoot(), files: map[string]string{}, lines: map[calls]Pos{},
	}
	if len(dt) > 0 {
		if g.dtype = dt[0]; !g.dtype.IsFloat() {
			g.Fail("graph", &Mistake{fmt.Sprintf("%q has elements of type %v by default", name, g.dtype), "use f32 or f64; each leaf may have its own type"})
			g.dtype = F32
		}
	}
	return g
}

// DType returns the element type given to [New], f32 if none was.
func (g *Graph) DType() DType {
	if g == nil {
		return F32
	}
	return g.dtype
}

// Grow makes room for n more nodes. It is for those who know how many will come, and only saves
// time.
func (g *Graph) Grow(n int) {
	g.nodes = slices.Grow(g.nodes, n)
	g.interned.grow(n)
}

// Name returns the name given to [New].
func (g *Graph) Name() string { return g.name }

// Nodes returns all nodes in order of creation, inputs before their users, as a new slice.
func (g *Graph) Nodes() []*Node { return slices.Clone(g.nodes) }

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Lookup returns the input, parameter or state with the given path, or else the first node with the
// given name; nil if there is none.
func (g *Graph) Lookup(name string) *Node {
	if n := g.byPath[name]; n != nil {
		return n
	}
	for _, n := range g.nodes {
		for _, o := range n.occurs {
			if o.Name == name {
				return n
			}
		}
	}
	return nil
}

// Leaves returns the nodes of the given roles, such as [RoleParam], in order of creation.
func (g *Graph) Leaves(roles ...Role) []*Node {
	var out []*Node
	for _, n := range g.nodes {
		if slices.Contains(roles, n.Role()) {
			out = append(out, n)
		}
	}
	return out
}

// Params returns the parameters in order of creation.
func (g *Graph) Params() []*Node { return g.Leaves(RoleParam) }

// States returns the states in order of creation.
func (g *Graph) States() []*Node { return g.Leaves(RoleState) }

// Inputs returns the inputs in order of creation, those with a default among them.
func (g *Graph) Inputs() []*Node { return g.Leaves(RoleInput) }

// Apply adds the node op(in...), or returns the equal node that is there. It is a mistake if an
// operand is nil or of another graph, or if the operation refuses the operands: the graph records
// it, and Apply returns an invalid node. For an invalid operand it returns an invalid node
// silently.
func (g *Graph) Apply(op Op, in ...*Node) *Node {
	if g == nil {
		g = Of(in...)
	}
	g = g.here()
	if op == nil {
		return g.fail(missingOp{}, in, fmt.Errorf("no operation"))
	}
	t := reflect.TypeOf(op)
	bad, seen := g.opErrs[t]
	if !seen {
		bad = checkOp(op)
		g.opErrs[t] = bad
	}
	if bad != nil {
		if !isName(op.Name()) {
			op = missingOp{}
		}
		return g.fail(op, in, bad)
	}
	for i, x := range in {
		switch {
		case x == nil:
			return g.fail(op, in, fmt.Errorf("operand %d is nil", i))
		case x.g == nil:
			return g.fail(op, in, fmt.Errorf("operand %d is a zero Node, which no call returned", i))
		case x.g != g && !x.IsValid():
			g.adopt(x.g)
			return g.invalid()
		case x.g != g && x.g.inside(g):
			return x.g.Apply(op, in...)
		case x.g != g:
			here := g.Within(x)
			if here.g != g {
				return g.fail(op, in, stranger(fmt.Sprintf("operand %d", i), x, g))
			}
			in = slices.Clone(in)
			in[i] = here
		}
	}
	for _, x := range in {
		if !x.IsValid() {
			return g.invalid()
		}
	}
	kind := g.kindOf(op)
	n, hash := g.find(kind, in)
	if n != nil {
		n.occur(g.occurrence())
		return n
	}
	typ, err := op.Infer(in)
	if err == nil && typ.DType == InvalidDType {
		err = fmt.Errorf("its Infer returns neither a type nor an error")
	}
	if err != nil {
		return g.fail(op, in, err)
	}
	return g.add(op, kind, hash, in, typ)
}

// adopt takes over the mistakes of a graph that only an invalid node leads to, such as that of a
// call without any operand: else nobody would see them.
func (g *Graph) adopt(from *Graph) {
	for _, e := range from.errs {
		if !slices.Contains(g.errs, e) {
			g.errs = append(g.errs, e)
		}
	}
}

// missingOp names a nil operation in errors.
type missingOp struct{}

func (missingOp) Name() string                { return "Apply" }
func (missingOp) Infer([]*Node) (Type, error) { return Type{}, nil }

// intern is Apply for an operation with a number, and a known type.
func (g *Graph) intern(op Op, kind int32, in []*Node, typ Type) *Node {
	n, hash := g.find(kind, in)
	if n != nil {
		n.occur(g.occurrence())
		return n
	}
	return g.add(op, kind, hash, in, typ)
}

// add makes a node that is not there yet.
func (g *Graph) add(op Op, kind int32, hash uint32, in []*Node, typ Type) *Node {
	n := &g.newNodes.take(1)[0]
	n.g, n.id, n.op, n.kind, n.typ = g, len(g.nodes), op, kind, typ
	if len(in) > 0 {
		n.in = g.newInputs.take(len(in))
	}
	for i, x := range in {
		n.in[i], x.used = x, true
	}
	g.nodes = append(g.nodes, n)
	g.found(n, hash)
	if l, ok := op.(leaf); ok {
		g.byPath[l.Path] = n
	}
	n.occurs = g.newOccurs.take(1)
	n.occurs[0] = g.occurrence()
	return n
}

func (g *Graph) invalid() *Node { return &Node{g: g, id: -1} }

// DrawKey returns the key of the next random draw with a name in the open scopes: their path, the
// name and its ordinal among the draws of that name there, "encoder/noise#0". Equal keys in two
// graphs share their noise, in runs of the same seed, step and count; see package tape, "Random
// numbers".
func (g *Graph) DrawKey(name string) string {
	p, draws := g.path(name), g.outermost().draws // loops of one scope draw different numbers
	k := draws[p]
	draws[p]++
	return fmt.Sprintf("%s#%d", p, k)
}

// DrawsAgain returns a function after whose call the next draws get the keys that those made since
// DrawsAgain have got. It is for a step that is built twice.
func (g *Graph) DrawsAgain() (again func()) {
	if g == nil {
		return func() {}
	}
	draws := maps.Clone(g.outermost().draws)
	return func() { g.outermost().draws = draws }
}

// path returns the path of a name in the open scopes.
func (g *Graph) path(name string) string {
	if s := g.scope(); s != "" {
		return s + "/" + name
	}
	return name
}

func (g *Graph) scope() string {
	switch {
	case g == nil:
		return ""
	case g.ctx.fixed:
		return g.ctx.scope
	}
	return strings.Join(g.scopes, "/")
}

// Scope opens a named part of the model, and returns the function that closes it:
//
//	defer g.Scope("encoder")()
//
// Scopes nest: they prefix the paths of leaves, group nodes in drawings and stand in errors. A
// slash in a name becomes an underscore.
func (g *Graph) Scope(name string) (end func()) {
	if g == nil {
		return func() {}
	}
	g = g.here()
	depth := len(g.scopes)
	g.scopes = append(g.scopes, strings.ReplaceAll(name, "/", "_"))
	return func() { g.scopes = g.scopes[:min(depth, len(g.scopes))] }
}

// Apply adds op(in...) to the graph of the operands, as [Graph.Apply] does. If no operand has a
// graph, it returns an invalid node, and the mistake is recorded when that is used together with
// nodes of a graph.
func Apply(op Op, in ...*Node) *Node { return Of(in...).Apply(op, in...) }

// Of returns the graph of the first valid node, or else of the first node that has a graph; a new
// empty graph if none has. Where some of the nodes belong to a body that is being built for that
// graph, or the body encloses all operations, it is the graph of the body; see [Join] and
// [Graph.Enclose].
func Of(nodes ...*Node) *Graph { return graphOf(nodes).here() }

func graphOf(nodes []*Node) *Graph {
	i := slices.IndexFunc(nodes, (*Node).IsValid)
	if i < 0 {
		i = slices.IndexFunc(nodes, func(n *Node) bool { return n.Graph() != nil })
	}
	if i < 0 {
		return New("")
	}
	g := nodes[i].g
	for _, n := range nodes[i+1:] {
		if n.IsValid() && n.g != g && n.g.inside(g) {
			g = n.g
		}
	}
	return g
}

// Copy adds a node with the operation of n, which may belong to another graph, over inputs of this
// one. Leaves keep their paths, whatever scope is open. Mistakes are those of [Graph.Apply].
func (g *Graph) Copy(n *Node, in []*Node) *Node {
	if n == nil {
		return g.Fail("copy", errors.New("the node is nil"))
	}
	if v, ok := n.Constant(); ok {
		return g.ConstantValue(v)
	}
	same := n.IsValid() && len(in) == len(n.in)
	for i := 0; same && i < len(in); i++ {
		same = in[i].IsValid() && in[i].g == g && in[i].typ == n.in[i].typ
	}
	switch {
	case !n.IsValid():
		return g.Apply(n.op, in...)
	case !same:
		return g.Apply(g.carried(n), in...)
	case n.Body() != nil:
		op := g.carried(n)
		return g.intern(op, g.kindOf(op), in, n.typ)
	}
	return g.intern(n.op, g.kindCopied(n), in, n.typ)
}

// Find returns the node op(in...) if it is there, and else nil. It adds nothing.
func (g *Graph) Find(op Op, in ...*Node) *Node {
	if op == nil || !reflect.ValueOf(op).Comparable() || slices.ContainsFunc(in, func(x *Node) bool { return !x.IsValid() || x.g != g }) {
		return nil
	}
	return g.known(op, in)
}

// Memo returns the result of make, which it calls once for each key. It is for rules that would
// build the same nodes each time they are called.
func (g *Graph) Memo(key any, make func() any) any {
	if make == nil {
		return nil
	}
	v, known := g.memo[key]
	if !known {
		v = make()
		if g.memo == nil {
			g.memo = map[any]any{}
		}
		g.memo[key] = v
	}
	return v
}
