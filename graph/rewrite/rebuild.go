package rewrite

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// builder copies a graph into another one, node by node, changing what the
// rules of one pass change.
type builder struct {
	pass    Pass
	to      *graph.Graph
	node    map[*graph.Node]*graph.Node
	calls   map[call][]graph.Derivation
	derived map[*graph.Node]call // gradients that are still to be taken again
	log     []Entry
}

// maxRounds bounds how often rules may fire on one node, so that two rules that
// undo each other are an error rather than a hang.
const maxRounds = 32

func rebuild(g *graph.Graph, wanted []*graph.Node, p Pass) *builder {
	b := &builder{pass: p, to: graph.New(g.Name()), node: map[*graph.Node]*graph.Node{}, calls: map[call][]graph.Derivation{}}
	live := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(wanted...) {
		live[n] = true
	}
	// A derivation is kept while its gradient lives; its loss and its nodes
	// come along, so that it can be derived again.
	roots := append([]*graph.Node(nil), wanted...)
	var kept []graph.Derivation
	for _, d := range g.Derivations() {
		if live[d.Grad] {
			kept = append(kept, d)
			roots = append(roots, d.Loss, d.Wrt)
			b.calls[call{d.Loss, d.First}] = append(b.calls[call{d.Loss, d.First}], d)
		}
	}
	b.derived = map[*graph.Node]call{}
	for _, d := range kept {
		if d.Grad.ID() >= d.First { // else a forward node happens to be the derivative
			b.derived[d.Grad] = call{d.Loss, d.First}
		}
	}
	for _, n := range graph.Reachable(roots...) {
		b.copy(n)
	}
	for _, u := range g.Updates() {
		if t, v := b.node[u.Target], b.node[u.Value]; t != nil && v != nil {
			b.to.Assign(t, v)
		}
	}
	if !p.derive {
		firsts := map[call]int{}
		for c := range b.calls {
			firsts[c] = b.first(c)
		}
		for _, d := range kept {
			first, now := firsts[call{d.Loss, d.First}], b.node[d.Grad]
			if d.Grad.ID() < d.First && now.ID() >= first {
				first = b.to.Len() // it stays a forward node that happens to be the derivative
			}
			b.to.RecordDerivation(graph.Derivation{Loss: b.node[d.Loss], Wrt: b.node[d.Wrt], Grad: now, First: first})
		}
	}
	return b
}

// call is one call of grad.Of: its derivations are taken again together.
type call struct {
	loss  *graph.Node
	first int
}

// again differentiates as the call did, in the new graph. A node on which the
// loss no longer depends there (a rule went round it) is left to be copied.
func (b *builder) again(c call) {
	cone := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(b.node[c.loss]) {
		cone[n] = true
	}
	var wrt []*graph.Node
	var found []graph.Derivation
	for _, d := range b.calls[c] {
		if w := b.node[d.Wrt]; cone[w] {
			wrt, found = append(wrt, w), append(found, d)
		}
		delete(b.derived, d.Grad)
	}
	for i, d := range grad.OrZero(b.node[c.loss], wrt...) {
		was := found[i].Grad
		if _, done := b.node[was]; done {
			continue // the same node was the derivative by two nodes
		}
		b.node[was] = b.inherit(was, d, "")
		if !sameText(was, d) {
			b.note(b.pass.Name, "∂"+c.loss.Label()+"/∂"+found[i].Wrt.Label(), was, d)
		}
	}
}

// first is the number from which on nodes of the new graph belong to a call. It
// is one number for all derivations of the call, so that they stay together:
// taken apart, each would cost a sweep of its own.
func (b *builder) first(c call) int {
	first := b.to.Len()
	for _, d := range b.calls[c] {
		if d.Grad.ID() >= d.First {
			first = min(first, b.node[d.Grad].ID())
		}
	}
	return first
}

func (b *builder) copy(n *graph.Node) {
	if c, ok := b.derived[n]; ok && b.pass.derive {
		b.again(c)
	}
	if b.node[n] != nil {
		return
	}
	in := make([]*graph.Node, n.NumIn())
	for i := range in {
		in[i] = b.node[n.In(i)]
	}
	var y *graph.Node
	occurs := n.Occurrences()
	at, origin := b.translate(occurs[0], n, "")
	b.to.During(at, origin, func() { y = b.to.Copy(n, in) })
	var fired []string
	for round := 0; ; round++ {
		z, rule := b.improve(y, at, n)
		if z == nil || z == y {
			break
		}
		if round == maxRounds {
			panic(fmt.Sprintf("rewrite: pass %q does not end on %v: %v", b.pass.Name, n, fired))
		}
		b.note(b.pass.Name, rule, y, z)
		fired = append(fired, rule)
		y = z
	}
	if len(fired) > 0 {
		b.node[n] = b.inherit(n, y, b.pass.Name+": "+fired[len(fired)-1])
	} else {
		b.node[n] = b.inherit(n, y, "")
	}
}

// improve tries the rules in order; the first that fits wins.
func (b *builder) improve(y *graph.Node, at graph.Occurrence, was *graph.Node) (z *graph.Node, rule string) {
	if b.pass.forward && was.IsBackward() {
		return nil, ""
	}
	for _, r := range b.pass.rules {
		_, origin := b.translate(was.First(), was, b.pass.Name+": "+r.Name)
		b.to.During(at, origin, func() { z = r.Apply(y) })
		if z == nil || z == y {
			continue
		}
		if z.IsValid() && z.Type() != y.Type() && z.DType() == y.DType() && z.Shape().SameSizes(y.Shape()) {
			b.to.During(at, origin, func() { z = ops.ReshapeTo(z, y.Shape()) })
		}
		if !z.IsValid() || z.Type() != y.Type() {
			panic(fmt.Sprintf("rewrite: rule %q turns %v into %v: %v", r.Name, y.Type(), z.Type(), b.to.Err()))
		}
		return z, r.Name
	}
	return nil, ""
}

// inherit gives the new node everything that is known of the old one.
func (b *builder) inherit(n, y *graph.Node, rule string) *graph.Node {
	for _, o := range n.Occurrences() {
		at, origin := b.translate(o, n, rule)
		at.Origin = origin
		if at.Origin.Kind == graph.FromUser || at.Name != "" {
			b.to.Occur(y, at)
		}
	}
	return y
}

// translate moves an occurrence into the new graph. What it refers to may be
// gone there; the origin is then the user's call alone.
func (b *builder) translate(o graph.Occurrence, n *graph.Node, rule string) (graph.Occurrence, graph.Origin) {
	origin := graph.Origin{Kind: o.Origin.Kind, Rule: o.Origin.Rule}
	if rule != "" {
		origin.Rule, origin.Was = rule, n
	}
	if o.Origin.Kind != graph.FromUser {
		origin.Of, origin.Loss = b.node[o.Origin.Of], b.node[o.Origin.Loss]
		if origin.Of == nil || origin.Loss == nil {
			origin.Of, origin.Loss, origin.Kind = nil, nil, graph.FromUser
		}
	}
	return o, origin
}

func (b *builder) note(pass, rule string, before, after *graph.Node) {
	b.log = append(b.log, Entry{Pass: pass, Rule: rule, Before: text(before), After: text(after), Pos: before.First().Pos})
}

// text is a node as the log shows it: its operation over the labels of its inputs.
func text(n *graph.Node) string {
	if v, ok := n.Constant(); ok {
		return v.String()
	}
	if n.Role() != graph.RoleOp {
		return n.String()
	}
	s := graph.OpText(n.Op())
	for i := range n.NumIn() {
		s += " " + n.In(i).String()
	}
	return s + " : " + n.Type().String()
}

func sameText(a, b *graph.Node) bool {
	if a.Op() != b.Op() || a.NumIn() != b.NumIn() {
		return false
	}
	for i := range a.NumIn() {
		if graph.OpText(a.In(i).Op()) != graph.OpText(b.In(i).Op()) {
			return false
		}
	}
	return true
}
