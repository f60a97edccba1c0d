package viz

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// derivatives matches what is computed from derivatives, given the matched values.
func (m *matching) derivatives(as, bs []*graph.Node) {
	m.sweep(as, bs, true)
	of := maps.Collect(byAdjoint(as))
	for k, n := range byAdjoint(bs) {
		if k.of = m.b[k.of]; k.of == nil && !k.self {
			continue
		}
		if x := of[k]; x != nil && m.pair(x, n) {
			m.exact[x] = k.self && sameConstant(x, n)
		}
	}
	m.sweep(as, bs, false)
}

// nodeKey is equal for nodes that match if their operands do.
type nodeKey struct{ form, rest string }

// sweep matches unmatched nodes of equal keys, inputs before their users. The exact sweep asks
// that the operands are the same; the other takes what is left over, which is computed from
// operands that differ.
func (m *matching) sweep(as, bs []*graph.Node, exact bool) {
	byKey := map[nodeKey][]*graph.Node{}
	fed := func(n *graph.Node) bool { return n.Role() != graph.RoleOp && n.Role() != graph.RoleConstant }
	self := func(n *graph.Node) *graph.Node { return n }
	toA := func(n *graph.Node) *graph.Node {
		if x := m.b[n]; x != nil && (!exact || m.exact[x]) {
			return x
		}
		return nil
	}
	for _, n := range as {
		if m.a[n] == nil && !fed(n) {
			if k, ok := m.va.key(n, self); ok {
				byKey[k] = append(byKey[k], n)
			}
		}
	}
	for _, n := range bs {
		if m.b[n] != nil || fed(n) {
			continue
		}
		k, ok := m.vb.key(n, toA)
		if !ok || len(byKey[k]) == 0 {
			continue
		}
		x := byKey[k][0]
		byKey[k] = byKey[k][1:]
		if m.pair(x, n) {
			m.exact[x] = exact
		}
	}
}

// key returns the key of a node, with its operands and what it is derived from as nodes of side
// A; ok is false if one of these has no match there.
func (w *values) key(n *graph.Node, toA func(*graph.Node) *graph.Node) (nodeKey, bool) {
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
	_, constant := n.Constant()
	if n.First().Origin.Kind != graph.FromUser && (!constant || len(adjoints(n)) > 0) {
		b.WriteString(" of")
		if !refer(n.First().Origin.Of) {
			return nodeKey{}, false
		}
	}
	return nodeKey{w.form(n, true), b.String()}, true
}

// adjointKey identifies a derivative by what it is the derivative of; losses are numbered in
// order.
type adjointKey struct {
	of   *graph.Node // nil for a loss by itself
	loss int
	self bool
}

func sameConstant(a, b *graph.Node) bool {
	x, one := singleNumber(a)
	y, other := singleNumber(b)
	return one && other && x == y
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

func isDerived(n *graph.Node) bool { return n.First().Origin.Kind != graph.FromUser }

// terms returns the number of contributions that are added up to a derivative.
func terms(n, of *graph.Node) int {
	if o := n.First().Origin; !match.Is(n, match.Add) || o.Kind == graph.FromUser || o.Of != of {
		return 1
	}
	return terms(n.In(0), of) + terms(n.In(1), of)
}
