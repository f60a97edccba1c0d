package graph

import (
	"fmt"
	"slices"
)

// Join returns the graph in which an operation on the nodes stands, and the nodes in that graph. It
// is the graph of the first valid node, or else that of any node. Where some nodes belong to a body
// that is being built, it is the graph of the body, and a node of a graph around it is captured: it
// becomes a further input of the body and, when [Graph.Seal] makes the body, a further operand of
// the operation that runs it, once however often it is used. A scalar constant without a name
// becomes a constant of the body. [Graph.Apply] does the same; Join is for functions that look at their operands
// before.
func Join(nodes ...*Node) (g *Graph, same []*Node) {
	g = Of(nodes...)
	for i, n := range nodes {
		if here := g.Within(n); here != n {
			if same == nil {
				same = slices.Clone(nodes)
			}
			same[i] = here
		}
	}
	if same == nil {
		return g, nodes
	}
	return g, same
}

// Within returns the node of g that stands for n: n itself or, if g is the graph of a body that is
// being built and n is a node of a graph around it, the input that captures n; see [Join]. Any
// other node it returns as it is.
func (g *Graph) Within(n *Node) *Node {
	if g == nil || !n.IsValid() || n.g == g || !g.inside(n.g) {
		return n
	}
	n = g.outer.Within(n)
	if x := g.captured[n]; x != nil {
		return x
	}
	if v, ok := n.Constant(); ok && n.Rank() == 0 && n.Name() == "" { // a named one may be differentiated by
		if n.g.copied == nil {
			n.g.copied = map[*Node]bool{}
		}
		n.g.copied[n] = true
		return g.ConstantValue(v)
	}
	name := n.Name()
	if name == "" {
		name = fmt.Sprint("w", len(g.captures))
	}
	scopes, open := g.scopes, g.open
	g.scopes, g.open = nil, nil // as the other inputs, also while a body in this one is built
	x := g.Input(g.free(name), n.DType(), n.Shape().Axes()...)
	g.scopes, g.open = scopes, open
	if x.IsValid() {
		if g.captured == nil {
			g.captured = map[*Node]*Node{}
		}
		g.captured[n] = x
		g.captures = append(g.captures, x)
		g.sees(x, n)
	}
	return x
}

// Copied reports whether n is a scalar constant of which a body has a copy, because it had no name when
// the body used it; see [Join]. What the body computes is no function of n.
func (n *Node) Copied() bool { return n.IsValid() && n.g.copied[n] }

// Open returns the innermost body of g that is being built, g itself if there is none. What a step
// draws is added there, whatever graph it is asked of.
func (g *Graph) Open() *Graph {
	for g != nil && g.open != nil {
		g = g.open
	}
	return g
}

// Enclose makes g, a body that is being built, take all operations until end is called, also those
// whose operands are all nodes of the graphs around it, which are added to the graph of the operands
// otherwise. So a function that is run once is built, or not at all; what a step of a loop computes
// from such nodes alone is better computed once.
func (g *Graph) Enclose() (end func()) {
	if g == nil || g.outer == nil {
		return func() {}
	}
	g.encloses = true
	return func() { g.encloses = false }
}

// Beside makes operations on the nodes stand in the graph of the nodes until end is called, though a
// body for that graph encloses all operations; see [Graph.Enclose]. It is for derivatives and
// batches: what is made of a part of a graph stands beside it.
func Beside(nodes ...*Node) (end func()) {
	var enclosed []*Graph
	for b := graphOf(nodes).open; b != nil; b = b.open {
		if b.encloses {
			b.encloses, enclosed = false, append(enclosed, b)
		}
	}
	return func() {
		for _, b := range enclosed {
			b.encloses = true
		}
	}
}

// here returns the innermost body of g that encloses all operations, g itself if there is none.
func (g *Graph) here() *Graph {
	if g == nil {
		return nil
	}
	h := g
	for b := g.open; b != nil; b = b.open {
		if b.encloses {
			h = b
		}
	}
	return h
}

// Abandon ends the building of a body of g that is not sealed.
func (g *Graph) Abandon(b *Graph) {
	if g == nil || b == nil || b.outer != g {
		return
	}
	if b.sealed = true; g.open == b {
		g.open = nil
	}
}

// SetTime says which input of a body that is being built is the time of a step; see [Graph.Times].
func (g *Graph) SetTime(x *Node) {
	if g != nil && x.IsValid() && x.g == g {
		g.time = x
	}
}

// Times returns the time of the step that is being built in g, then those of the steps that it
// stands in, outwards, all as nodes of g. It is empty outside of loops. A draw depends on them.
func (g *Graph) Times() (times []*Node) {
	for b := g; b != nil; b = b.outer {
		if b.time != nil {
			times = append(times, g.Within(b.time))
		}
	}
	return times
}

// outermost returns the graph around all bodies that g is built in.
func (g *Graph) outermost() *Graph {
	for g.outer != nil {
		g = g.outer
	}
	return g
}

// inside reports whether g is the graph of a body that is being built for another graph, or for a
// body in it.
func (g *Graph) inside(other *Graph) bool {
	for b := g; b != nil && b.outer != nil && !b.sealed; b = b.outer {
		if b.outer == other {
			return true
		}
	}
	return false
}

// sees records the node outside that an input of a body sees in a step, nil for a carry.
func (g *Graph) sees(x, outer *Node) {
	if g.outerNodes == nil {
		g.outerNodes = map[*Node]*Node{}
	}
	g.outerNodes[x] = outer
}

// free returns a name, with a number if an input with that name is there.
func (g *Graph) free(name string) string {
	own := name
	for k := 2; g.byPath[g.path(own)] != nil; k++ {
		own = fmt.Sprintf("%s_%d", name, k)
	}
	return own
}

// RenameInput gives an input of a body that is being built another name, with a number if it is
// taken.
func (g *Graph) RenameInput(x *Node, name string) {
	if g == nil || !x.IsValid() || x.g != g || x.Role() != RoleInput || x.Name() == name {
		return
	}
	scopes, was, l := g.scopes, x.Name(), x.op.(leaf)
	g.scopes = nil
	delete(g.byPath, l.Path)
	name = g.free(name)
	l.Path = g.path(name)
	x.exchange(l)
	g.byPath[l.Path] = x
	g.scopes = scopes
	for i := range x.occurs {
		if x.occurs[i].Name == was {
			x.occurs[i].Name = name
		}
	}
}

// stranger returns the mistake for a node of another graph where one of g is wanted.
func stranger(which string, n *Node, g *Graph) error {
	m := &Mistake{fmt.Sprintf("%s belongs to graph %q, not to %q", which, n.g.name, g.name), "build both operands in one graph"}
	for b := n.g; b != nil; b = b.outer {
		if b.outer == g || g.outer != nil && b.outer == g.outer {
			m.Fix = "a step is over when its loop is made: take what is needed of it from the loop's results"
		}
	}
	return m
}

// beforeLoop is the advice for leaves that a step makes.
const beforeLoop = "make layers, parameters and inputs before the loop; its step may use them"
