package graph

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// BodyID is the handle of a [Body] in the graph that holds it, an attribute of the
// operation that runs it. 0 is no body.
type BodyID int

// Body is a sealed graph with an order of its inputs and results, which an operation such as a loop
// runs again and again. It has no parameters, states or updates, and no inputs but those listed. Bodies
// that compute the same are equal, whatever their nodes are called and wherever they were written; a
// graph holds equal bodies once, as the first was written.
type Body struct {
	graph   *Graph
	in, out []*Node
	form    string
}

// Graph returns the body's graph. It must not be added to.
func (b *Body) Graph() *Graph { return b.graph }

// In returns the inputs in order, as a new slice.
func (b *Body) In() []*Node { return slices.Clone(b.in) }

// Out returns the results in order, as a new slice. A node may be several results.
func (b *Body) Out() []*Node { return slices.Clone(b.out) }

// BodyOp is an operation that runs a body. How it runs it is up to the operation: see trait.Looped.
type BodyOp interface {
	Op
	BodyID() BodyID
	// WithBody returns the same operation over another body.
	WithBody(BodyID) Op
}

// BodyGraph returns a new graph in which to build a body for an operation of g, with inputs of the
// given names and types. Names that are taken get a number. Nodes that are built there stand in g's
// open scopes. Operands, if given, are nodes of g, one for each input, that the inputs see in a
// step, nil for a carry; see [Node.Outer]. Until [Graph.Seal] makes the body, nodes of g may be
// used in it: see [Join].
func (g *Graph) BodyGraph(name string, names []string, types []Type, operands ...*Node) (b *Graph, in []*Node) {
	b = New(name, g.DType())
	b.outer, g.open = g, b
	if g.ctx.fixed {
		b.ctx = context{fixed: true, scope: g.ctx.scope, pos: g.ctx.pos}
	}
	for i, typ := range types {
		x := b.Input(b.free(names[i]), typ.DType, typ.Shape.Axes()...)
		if in = append(in, x); i < len(operands) {
			b.sees(x, operands[i])
		}
	}
	b.scopes = slices.Clone(g.scopes)
	return b, in
}

// Outer returns, for an input of a body that is being built, the node of the graph around it that
// the input sees: of a sequence, the element of its time. It is nil for a carry, which differs from
// step to step. For other nodes, and those of a sealed body, ok is false.
func (n *Node) Outer() (outer *Node, ok bool) {
	if n == nil || n.g == nil {
		return nil, false
	}
	outer, ok = n.g.outerNodes[n]
	return outer, ok
}

// Seal makes a body with the given inputs and results of b, which [Graph.BodyGraph] of g returned,
// and returns its handle. Nodes of g that the results need, or are, become further inputs of the
// body, behind the others; captured are these nodes, which the operation takes as further operands.
// Mistakes made in building b become those of g: bad is then an invalid node of g, and nil
// otherwise. The string what is the name of the operation.
func (g *Graph) Seal(what string, b *Graph, in, out []*Node) (id BodyID, captured []*Node, bad *Node) {
	body, captured, bad := g.Sealed(what, b, in, out)
	return g.AddBody(body), captured, bad
}

// Sealed is [Graph.Seal], but that it returns the body without adding it to g: for an operation that
// makes its body from that of its user.
func (g *Graph) Sealed(what string, b *Graph, in, out []*Node) (body *Body, captured []*Node, bad *Node) {
	if b == nil {
		return nil, nil, g.Fail(what, errNoGraph)
	}
	defer g.Abandon(b)
	if len(b.errs) > 0 {
		g.adopt(b)
		return nil, nil, g.invalid()
	}
	results := make([]*Node, len(out))
	for i, n := range out {
		if results[i] = b.Within(n); n == nil {
			return nil, nil, g.Fail(what, fmt.Errorf("result %d of the body is nil", i))
		} else if !n.IsValid() || results[i].g != b {
			return nil, nil, g.Fail(what, stranger(fmt.Sprintf("result %d of the body", i), n, b), n)
		}
	}
	cone, _ := b.cone(results)
	for _, x := range b.captures {
		if slices.Contains(cone, x) {
			in, captured = append(in[:len(in):len(in)], x), append(captured, b.outerNodes[x])
		}
	}
	body, err := NewBody(b, in, results)
	if err != nil {
		return nil, nil, g.Fail(what, err)
	}
	return body, captured, nil
}

// NewBody returns a body with the given inputs and results of b, of which it copies the nodes that
// they need. It is an error if b has mistakes, updates or no results, or if the results need a
// parameter, a state or an input that is not listed.
func NewBody(b *Graph, in, out []*Node) (*Body, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	to := New(b.name)
	to.ctx.fixed = true // its nodes get the occurrences of those that they copy
	cone, kept := b.cone(slices.Concat(in, out))
	copied := make([]*Node, len(b.nodes))
	for _, n := range cone {
		args := make([]*Node, len(n.in))
		for i, x := range n.in {
			args[i] = copied[x.id]
		}
		copied[n.id] = to.Copy(n, args)
	}
	for _, n := range cone {
		y := copied[n.id]
		y.occurs = nil
		for _, o := range n.occurs {
			if o.Origin.Was = nil; o.Origin.Kind != FromUser {
				o.Origin.Of, o.Origin.Loss = copied[o.Origin.Of.id], copied[o.Origin.Loss.id]
				if o.Origin.Of == nil || o.Origin.Loss == nil {
					o.Origin.Of, o.Origin.Loss, o.Origin.Kind = nil, nil, FromUser
				}
			}
			y.occurs = append(y.occurs, o)
		}
	}
	for _, d := range kept {
		first := 0
		for _, n := range cone {
			if n.id < d.First {
				first++
			}
		}
		to.derived = append(to.derived, Derivation{copied[d.Loss.id], copied[d.Wrt.id], copied[d.Grad.id], first})
	}
	of := func(nodes []*Node) []*Node {
		list := make([]*Node, len(nodes))
		for i, n := range nodes {
			list[i] = copied[n.id]
		}
		return list
	}
	if len(b.updates) > 0 {
		return nil, &Mistake{fmt.Sprintf("the body updates %s", b.updates[0].Target.Label()), "make a value that changes from step to step a carry"}
	}
	body := &Body{graph: to, in: of(in), out: of(out)}
	if err := body.check(); err != nil {
		return nil, err
	}
	body.form = body.content()
	return body, nil
}

// cone returns the nodes that the roots need, those included of which a gradient among them is
// derived again, and these gradients.
func (b *Graph) cone(roots []*Node) (cone []*Node, kept []Derivation) {
	live := make([]bool, len(b.nodes))
	mark := func() {
		cone = Reachable(roots...)
		for _, n := range cone {
			live[n.id] = true
		}
	}
	mark()
	for _, d := range b.derived { // a gradient is derived again of its loss
		if live[d.Grad.id] {
			kept = append(kept, d)
			roots = append(roots[:len(roots):len(roots)], d.Loss, d.Wrt)
		}
	}
	mark()
	return cone, kept
}

// check refuses leaves that are not fed, and nodes listed as inputs that are not.
func (b *Body) check() error {
	inputs := map[*Node]bool{}
	for _, n := range b.in {
		if _, number := n.Default(); n.Role() != RoleInput || number || inputs[n] {
			return fmt.Errorf("%v is not an input of the body, or is listed twice", n)
		}
		inputs[n] = true
	}
	for _, n := range b.graph.Leaves(RoleInput, RoleParam, RoleState) {
		if !inputs[n] {
			return &Mistake{fmt.Sprintf("%v %q is made inside the body", n.Role(), n.Path()), beforeLoop}
		}
	}
	if len(b.out) == 0 {
		return fmt.Errorf("the body has no results")
	}
	return nil
}

// dump returns the text form: that of the graph, then the inputs and the results.
func (b *Body) dump() string {
	var s strings.Builder
	b.graph.Dump(&s)
	for _, list := range []struct {
		word  string
		nodes []*Node
	}{{"in", b.in}, {"out", b.out}} {
		s.WriteString(list.word)
		for _, n := range list.nodes {
			fmt.Fprintf(&s, " %%%d", n.id)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// Form returns the text form without names and positions, for comparison: bodies of different forms
// are different.
func (b *Body) Form() string { return b.form }

func (b *Body) content() string {
	var s strings.Builder
	for i, inner := range b.graph.bodies {
		fmt.Fprintf(&s, "body %d\n%send\n", i+1, inner.form)
	}
	for _, n := range b.graph.nodes {
		if _, fed := n.op.(leaf); fed {
			fmt.Fprintf(&s, "%%%d : %v\n", n.id, n.typ)
		} else {
			s.WriteString(n.line() + "\n")
		}
	}
	for _, list := range [][]*Node{b.in, b.out} {
		for _, n := range list {
			fmt.Fprintf(&s, " %%%d", n.id)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// AddBody adds a body to g, and returns its handle, or that of an equal body that is there. For nil
// it returns 0.
func (g *Graph) AddBody(b *Body) BodyID {
	if b == nil {
		return 0
	}
	if id := g.held(b); id != 0 {
		return id
	}
	if g.bodyIDs == nil {
		g.bodyIDs = map[string][]BodyID{}
	}
	g.bodies = append(g.bodies, b)
	id := BodyID(len(g.bodies))
	g.bodyIDs[b.form] = append(g.bodyIDs[b.form], id)
	return id
}

// held returns the handle of a body equal to b, 0 if g holds none.
func (g *Graph) held(b *Body) BodyID {
	for _, id := range g.bodyIDs[b.form] {
		if g.bodies[id-1].sameOps(b) {
			return id
		}
	}
	return 0
}

// sameOps reports whether bodies of one form consist of the same operations, not only of operations
// with the same names.
func (b *Body) sameOps(other *Body) bool {
	for i, n := range b.graph.nodes {
		if reflect.TypeOf(n.op) != reflect.TypeOf(other.graph.nodes[i].op) {
			return false
		}
	}
	for i, inner := range b.graph.bodies {
		if !inner.sameOps(other.graph.bodies[i]) {
			return false
		}
	}
	return true
}

// Body returns the body with the given handle, nil if there is none.
func (g *Graph) Body(id BodyID) *Body {
	if id < 1 || int(id) > len(g.bodies) {
		return nil
	}
	return g.bodies[id-1]
}

// Body returns the body that the node's operation runs, nil for other operations.
func (n *Node) Body() *Body {
	if l, ok := n.Op().(BodyOp); ok {
		return n.g.Body(l.BodyID())
	}
	return nil
}

// carried returns the operation of a node for use in graph g, where its body has a handle of its
// own.
func (g *Graph) carried(n *Node) Op {
	if b := n.Body(); b != nil && n.g != g {
		return n.op.(BodyOp).WithBody(g.AddBody(b))
	}
	return n.op
}
