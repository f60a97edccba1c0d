package viz

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// matching pairs the nodes of two graphs, or of two sets of roots in one graph.
//
// Values are matched by structure: leaves by role, path and type, operations by themselves and
// their matched operands. Then values are matched that are computed alike from operands that
// differ; see [matching.inherit]. Derivatives are matched where the values they belong to are:
// first those of equal structure, which are the same; then the derivatives of one value, and
// steps of one rule, whose operands may differ. The derivatives of the losses by themselves are 1
// on both sides.
type matching struct {
	a, b  map[*graph.Node]*graph.Node // from each side to the other
	exact map[*graph.Node]bool        // by node of A: equal on both sides
}

// nodeKey is equal for nodes that match if their operands do.
type nodeKey struct {
	op   any
	rest string
}

func matched(va, vb *view) *matching {
	m := &matching{a: map[*graph.Node]*graph.Node{}, b: map[*graph.Node]*graph.Node{}, exact: map[*graph.Node]bool{}}
	as, bs := withForward(va.cone), withForward(vb.cone)
	m.sweep(as, bs, true)
	m.inherit(va, vb, as, bs)
	of := maps.Collect(byAdjoint(as))
	for k, n := range byAdjoint(bs) {
		if k.of = m.b[k.of]; k.of == nil && !k.self {
			continue
		}
		if x := of[k]; x != nil {
			m.pair(x, n, k.self && sameConstant(x, n))
		}
	}
	m.sweep(as, bs, false)
	return m
}

// pair matches two nodes unless one of them is matched already.
func (m *matching) pair(a, b *graph.Node, exact bool) {
	if m.a[a] == nil && m.b[b] == nil {
		m.a[a], m.b[b], m.exact[a] = b, a, exact
	}
}

// sweep matches nodes of equal keys, inputs before their users. The first sweep leaves over nodes
// that are computed from derivatives that differ.
func (m *matching) sweep(as, bs []*graph.Node, exact bool) {
	self := func(n *graph.Node) *graph.Node { return n }
	byKey := map[nodeKey][]*graph.Node{}
	for _, n := range as {
		if k, ok := keyOf(n, self); ok && m.a[n] == nil {
			byKey[k] = append(byKey[k], n)
		}
	}
	toA := func(n *graph.Node) *graph.Node { return m.b[n] }
	for _, n := range bs {
		k, ok := keyOf(n, toA)
		if !ok || m.b[n] != nil || len(byKey[k]) == 0 {
			continue
		}
		m.pair(byKey[k][0], n, exact)
		byKey[k] = byKey[k][1:]
	}
}

// inherit matches values that differ only because their operands do. They have the name, the
// place and the operation of a value of the other side, and each operand is matched, or is on
// both sides an unmatched box. An operand that is not drawn must be matched, since it is part of
// the formula in the box. Pairs keep the order of both sides, so that one place in the drawing
// suits both.
func (m *matching) inherit(va, vb *view, as, bs []*graph.Node) {
	type likeness struct {
		op                any
		typ, scope, named string
	}
	like := func(n *graph.Node) (k likeness, ok bool) {
		if n.Role() != graph.RoleOp || isDerived(n) {
			return k, false
		}
		k = likeness{n.Op(), n.Type().String(), n.First().Scope, n.Name()}
		if body := n.Body(); body != nil {
			k.op, k.named = n.Op().(graph.BodyOp).WithBody(0), k.named+"\n"+body.Form()
		}
		return k, true
	}
	type candidate struct {
		node *graph.Node
		at   int
	}
	alike := map[likeness][]candidate{}
	for i, n := range as {
		if k, ok := like(n); ok && m.a[n] == nil {
			alike[k] = append(alike[k], candidate{n, i})
		}
	}
	last := -1
	for _, n := range bs {
		k, ok := like(n)
		if !ok || m.b[n] != nil {
			continue
		}
		for _, c := range alike[k] {
			if c.at > last && m.a[c.node] == nil && m.flowsAlike(va, vb, c.node, n) {
				m.pair(c.node, n, false)
				last = c.at
				break
			}
		}
	}
}

// flowsAlike reports whether two operations of one kind can be matched given their operands. If
// they have no name, at least one operand must be matched.
func (m *matching) flowsAlike(va, vb *view, a, b *graph.Node) bool {
	met := a.Name() != ""
	for i := range a.NumIn() {
		x, y := a.In(i), b.In(i)
		switch {
		case m.a[x] == y:
			met = true
		case m.a[x] != nil || m.b[y] != nil || !va.visible[x] || !vb.visible[y] || x.Type() != y.Type():
			return false
		}
	}
	return met
}

func isDerived(n *graph.Node) bool { return n.First().Origin.Kind != graph.FromUser }

// keyOf returns the key of a node, with its operands and what it is derived from as nodes of side
// A; ok is false if one of these has no match there.
func keyOf(n *graph.Node, toA func(*graph.Node) *graph.Node) (nodeKey, bool) {
	var b strings.Builder
	refer := func(x *graph.Node) bool {
		if x = toA(x); x != nil {
			fmt.Fprintf(&b, " %d", x.ID())
		}
		return x != nil
	}
	for i := range n.NumIn() {
		if !refer(n.In(i)) {
			return nodeKey{}, false
		}
	}
	v, constant := n.Constant()
	if isDerived(n) && (!constant || len(adjoints(n)) > 0) {
		b.WriteString(" of")
		if !refer(n.First().Origin.Of) {
			return nodeKey{}, false
		}
	}
	if constant {
		return nodeKey{"constant", v.String() + b.String()}, true
	}
	if n.Role() != graph.RoleOp {
		return nodeKey{n.Role(), n.Path() + " " + n.Type().String()}, true
	}
	if body := n.Body(); body != nil { // its handle differs between graphs
		return nodeKey{n.Op().(graph.BodyOp).WithBody(0), b.String() + "\n" + body.Form()}, true
	}
	return nodeKey{n.Op(), b.String()}, true
}

// adjointKey identifies a derivative by what it is the derivative of; losses are numbered in
// order.
type adjointKey struct {
	of   *graph.Node // nil for a loss by itself
	loss int
	self bool
}

func sameConstant(a, b *graph.Node) bool {
	v, one := a.Constant()
	w, other := b.Constant()
	return one && other && a.Type() == b.Type() && v.String() == w.String()
}

// byAdjoint yields the derivatives among the nodes with their keys, in order.
func byAdjoint(nodes []*graph.Node) iter.Seq2[adjointKey, *graph.Node] {
	return func(yield func(adjointKey, *graph.Node) bool) {
		loss := map[*graph.Node]int{}
		for _, n := range nodes {
			for _, o := range adjoints(n) {
				if _, met := loss[o.Loss]; !met {
					loss[o.Loss] = len(loss)
				}
				k := adjointKey{o.Of, loss[o.Loss], o.Of == o.Loss}
				if k.self {
					k.of = nil
				}
				if isDerived(n) && !yield(k, n) {
					return
				}
			}
		}
	}
}

// terms returns the number of contributions that are added up to a derivative.
func terms(n, of *graph.Node) int {
	if o := n.First().Origin; !match.Is(n, match.Add) || o.Kind == graph.FromUser || o.Of != of {
		return 1
	}
	return terms(n.In(0), of) + terms(n.In(1), of)
}
