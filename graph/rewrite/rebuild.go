package rewrite

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// builder copies a graph into another one, node by node, changing what the
// rules of one pass change.
type builder struct {
	ctx     context.Context // that ends the work; nil if nothing does
	pass    Pass
	labels  []string // of the rules, as origins name them
	to      *graph.Graph
	node    []*graph.Node // the new node for each node of the old graph, by its number
	in      []*graph.Node // the inputs of the node at hand
	best    []settled     // what the rules make of a node of the new graph, by its number
	calls   map[call][]graph.Derivation
	last    map[call]int         // the highest number among the loss and nodes of a call
	derived []call               // by number of the old graph: the call of a gradient that is still to be taken again
	inner   map[*graph.Node]bool // those of them that another loss is made of
	log     []Entry
	rec     *recorder                   // nil unless somebody wants the history
	bodies  map[*graph.Body]*graph.Body // the new body for each body of the old graph
	uses    []int                       // of a pass that asks: how often a node of the old graph is read or wanted, by its number
	used    []int                       // the same of the new graph, as far as it is built
}

// maxRounds bounds how often rules may fire on one node, so that two rules that
// undo each other are an error rather than a hang.
const maxRounds = 32

func rebuild(ctx context.Context, g *graph.Graph, wanted []*graph.Node, p Pass, rec *recorder) *builder {
	b := &builder{ctx: ctx, pass: p, rec: rec, to: graph.New(g.Name()), node: make([]*graph.Node, g.Len()), calls: map[call][]graph.Derivation{},
		last: map[call]int{}, bodies: map[*graph.Body]*graph.Body{}}
	if p.unshared != nil {
		b.count(g, wanted)
		b.pass.rules = p.unshared(func(n *graph.Node) bool { return n.ID() < len(b.used) && b.used[n.ID()] > 1 })
	}
	for _, r := range p.rules {
		b.labels = append(b.labels, p.Name+": "+r.Name)
	}
	live := make([]bool, g.Len())
	cone := graph.Reachable(wanted...)
	for _, n := range cone {
		live[n.ID()] = true
	}
	// A derivation is kept while its gradient lives. Its loss and its nodes then live too, so that
	// it can be derived again, and with them the gradients that the loss depends on. A derivative
	// with respect to a constant is not kept: folding may have removed part of that constant from
	// the loss.
	roots := append([]*graph.Node(nil), wanted...)
	lives := func(n *graph.Node) bool { return live[n.ID()] }
	asked := make([]bool, len(g.Derivations()))
	for i, d := range slices.Backward(g.Derivations()) {
		if _, constant := d.Wrt.Constant(); lives(d.Grad) && !constant {
			asked[i] = true
			if !lives(d.Loss) || !lives(d.Wrt) {
				for _, n := range graph.ReachableUntil(lives, d.Loss, d.Wrt) {
					live[n.ID()] = true
				}
				roots = append(roots, d.Loss, d.Wrt)
			}
		}
	}
	var kept []graph.Derivation
	var cuts []*apart
	for i, d := range g.Derivations() {
		if asked[i] {
			if p.forward && needsCut(d) {
				if d.Grad.ID() >= d.First && max(d.Loss.ID(), d.Wrt.ID()) < d.First {
					cuts = append(cuts, &apart{Derivation: d})
				}
				continue
			}
			kept = append(kept, d)
			c := callOf(d)
			b.calls[c] = append(b.calls[c], d)
			b.last[c] = max(b.last[c], d.Loss.ID(), d.Wrt.ID())
		}
	}
	b.derived = make([]call, g.Len())
	for _, d := range kept {
		if b.owns(d) {
			b.derived[d.Grad.ID()] = callOf(d)
		}
	}
	if p.forward {
		b.inner = b.innerOf(kept)
	}
	if len(roots) > len(wanted) {
		cone = graph.Reachable(roots...)
	}
	b.to.Grow(len(cone))
	b.best = make([]settled, 0, len(cone)+len(cone)/4)
	todo := slices.Clone(cuts)
	slices.SortStableFunc(todo, func(a, b *apart) int { return a.First - b.First })
	for _, n := range cone {
		for ; len(todo) > 0 && todo[0].First <= n.ID(); todo = todo[1:] {
			b.cutOff(todo[0])
		}
		b.copy(n)
	}
	for _, u := range g.Updates() {
		if t, v := b.node[u.Target.ID()], b.node[u.Value.ID()]; t != nil && v != nil {
			b.to.Assign(t, v)
		}
	}
	if !p.derive {
		firsts := map[call]int{}
		for c := range b.calls {
			firsts[c] = b.first(c)
		}
		for _, d := range kept {
			first, now := firsts[callOf(d)], b.of(d.Grad)
			if !b.owns(d) && now.ID() >= first {
				first = b.to.Len() // it stays a forward node that happens to be the derivative
			}
			b.to.RecordDerivation(graph.Derivation{Loss: b.of(d.Loss), Wrt: b.of(d.Wrt), Grad: now, First: first})
		}
		for _, d := range cuts {
			if now := b.of(d.Grad); d.loss != nil && now.ID() > max(d.loss.ID(), d.wrt.ID()) {
				b.to.RecordDerivation(graph.Derivation{Loss: d.loss, Wrt: d.wrt, Grad: now, First: now.ID()})
			}
		}
	}
	return b
}

// of returns the new graph's node for n, nil while there is none.
func (b *builder) of(n *graph.Node) *graph.Node { return b.node[n.ID()] }

// call is one call of grad.Of: its derivations are taken again together.
type call struct {
	loss  *graph.Node
	first int
}

func callOf(d graph.Derivation) call { return call{d.Loss, d.First} }

// owns reports whether a derivative was added by the call that asked for it, after its loss and
// nodes. Otherwise a forward node, a leaf or a constant happens to be the derivative: it is copied
// as such, since at its position the loss is not built yet.
func (b *builder) owns(d graph.Derivation) bool {
	return d.Grad.ID() >= d.First && d.Grad.ID() > b.last[callOf(d)]
}

// again differentiates as the call did, in the new graph. A derivative with respect to a node that
// a rule bypassed is left to be copied.
func (b *builder) again(c call) {
	cone := make([]bool, b.to.Len())
	for _, n := range graph.Reachable(b.of(c.loss)) {
		cone[n.ID()] = true
	}
	var wrt []*graph.Node
	var found []graph.Derivation
	for _, d := range b.calls[c] {
		if w := b.of(d.Wrt); cone[w.ID()] {
			wrt, found = append(wrt, w), append(found, d)
		}
		b.derived[d.Grad.ID()] = call{}
	}
	for i, d := range grad.OrZero(b.of(c.loss), wrt...) {
		was := found[i].Grad
		if b.of(was) != nil {
			continue // the same node was the derivative with respect to two nodes
		}
		b.inherit(was, d, "")
		if !sameText(was, d) {
			b.note("∂"+c.loss.Label()+"/∂"+found[i].Wrt.Label(), b.pass.Why, was, d)
		}
	}
}

// first returns the number from which on nodes of the new graph belong to a call. It is one number
// for all derivations of the call, so that they stay together: separately, each would cost a sweep
// of its own. A derivative that has become an earlier node, such as a leaf, does not count.
func (b *builder) first(c call) int {
	first, last := b.to.Len(), b.of(c.loss).ID()
	for _, d := range b.calls[c] {
		last = max(last, b.of(d.Wrt).ID())
	}
	for _, d := range b.calls[c] {
		if now := b.of(d.Grad).ID(); b.owns(d) && now > last {
			first = min(first, now)
		}
	}
	return first
}

func (b *builder) copy(n *graph.Node) {
	look(b.ctx)
	if b.pass.derive && !b.rec.spent() {
		if c := b.derived[n.ID()]; c.loss != nil {
			b.again(c)
		}
	}
	if b.of(n) != nil {
		return
	}
	in := b.in[:0]
	for i := range n.NumIn() {
		in = append(in, b.operand(n, n.In(i)))
	}
	b.in = in
	var y *graph.Node
	at := b.standing(n)
	b.to.During(at, b.origin(at, n, ""), func() { y = b.apply(n, in) })
	s := b.known(y)
	if s.node == nil && b.pass.forward && n.IsBackward() {
		s = b.know(y, settled{node: y})
	} else if s.node == nil {
		s = b.reduce(y, at, n, 0)
	}
	if b.uses != nil {
		if more := s.node.ID() + 1 - len(b.used); more > 0 {
			b.used = append(b.used, make([]int, more)...)
		}
		b.used[s.node.ID()] += b.uses[n.ID()]
	}
	b.inherit(n, s.node, s.rule)
}

// count counts how often each node that the wanted ones need is read or wanted.
func (b *builder) count(g *graph.Graph, wanted []*graph.Node) {
	b.uses = make([]int, g.Len())
	for _, n := range wanted {
		b.uses[n.ID()]++
	}
	for _, n := range graph.Reachable(wanted...) {
		for i := range n.NumIn() {
			b.uses[n.In(i).ID()]++
		}
	}
}

// apply adds n over new inputs. The pass also runs on a body, unless the node is a derivative that
// a later pass takes again, or the pass leaves bodies alone.
func (b *builder) apply(n *graph.Node, in []*graph.Node) *graph.Node {
	body := n.Body()
	if body == nil || b.pass.outermost || b.pass.forward && n.IsBackward() {
		return b.to.Copy(n, in)
	}
	return b.to.Apply(n.Op().(graph.BodyOp).WithBody(b.to.AddBody(b.body(body))), in...)
}

// body returns a body after the pass.
func (b *builder) body(was *graph.Body) *graph.Body {
	if now := b.bodies[was]; now != nil {
		return now
	}
	inner := rebuild(b.ctx, was.Graph(), slices.Concat(was.In(), was.Out()), b.pass, b.rec)
	of := func(nodes []*graph.Node) []*graph.Node {
		for i, n := range nodes {
			nodes[i] = inner.of(n)
		}
		return nodes
	}
	now, err := graph.NewBody(inner.to, of(was.In()), of(was.Out()))
	if err != nil {
		panic(fmt.Sprintf("rewrite: pass %q built a wrong body: %v", b.pass.Name, err))
	}
	b.log = append(b.log, inner.log...)
	b.bodies[was] = now
	return now
}

// settled is the final replacement of a node of the new graph, with the label of the last rule that
// fired.
type settled struct {
	node *graph.Node
	rule string
}

// known returns the replacement of y, if the rules have seen y.
func (b *builder) known(y *graph.Node) settled {
	if y.ID() < len(b.best) {
		return b.best[y.ID()]
	}
	return settled{}
}

func (b *builder) know(y *graph.Node, s settled) settled {
	for len(b.best) <= y.ID() {
		b.best = append(b.best, settled{})
	}
	b.best[y.ID()] = s
	return s
}

// reduce applies the rules to y, whose inputs are settled, and to its replacements, until none
// fits.
func (b *builder) reduce(y *graph.Node, at graph.Occurrence, was *graph.Node, round int) settled {
	z, rule := b.improve(y, at, was)
	if z == nil {
		return b.know(y, settled{node: y})
	}
	if round == maxRounds {
		panic(fmt.Sprintf("rewrite: pass %q does not end on %v: it still fires %q", b.pass.Name, was, b.pass.rules[rule].Name))
	}
	b.note(b.pass.rules[rule].Name, b.pass.rules[rule].Why, y, z)
	s := b.settle(z, at, was, round+1)
	if s.rule == "" {
		s.rule = b.labels[rule]
	}
	return b.know(y, s)
}

// settle is reduce for a node that a rule built: the new nodes below it are settled first.
// Otherwise a second run would change them.
func (b *builder) settle(y *graph.Node, at graph.Occurrence, was *graph.Node, round int) settled {
	if s := b.known(y); s.node != nil {
		return s
	}
	var few [4]*graph.Node
	in, changed := few[:0], false
	for i := range y.NumIn() {
		x := b.settle(y.In(i), at, was, round).node
		in, changed = append(in, x), changed || x != y.In(i)
	}
	if !changed {
		return b.reduce(y, at, was, round)
	}
	var z *graph.Node
	b.to.During(at, b.origin(at, was, ""), func() { z = b.to.Copy(y, in) })
	return b.know(y, b.settle(z, at, was, round))
}

// improve tries the rules in order; the first that fits wins.
func (b *builder) improve(y *graph.Node, at graph.Occurrence, was *graph.Node) (z *graph.Node, rule int) {
	if len(b.pass.rules) == 0 || b.rec.spent() {
		return nil, 0
	}
	origin := b.origin(at, was, b.pass.Name)
	b.to.During(at, origin, func() {
		for i, r := range b.pass.rules {
			b.to.Because(b.labels[i])
			if z = r.Apply(y); z == nil || z == y {
				continue
			}
			if z.IsValid() && z.Type() != y.Type() && z.DType() == y.DType() && z.Shape().SameSizes(y.Shape()) {
				z = ops.ReshapeTo(z, y.Shape())
			}
			if !z.IsValid() || z.Type() != y.Type() {
				panic(fmt.Sprintf("rewrite: rule %q turns %v into %v: %v", r.Name, y.Type(), z.Type(), b.to.Err()))
			}
			rule = i
			return
		}
		z = nil
	})
	return z, rule
}
