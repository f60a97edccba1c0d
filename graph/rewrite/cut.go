package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// A derivative with respect to a node that is no leaf asks how the loss changes with that node
// while all else stays the same, the node's own operands included. Rules know nothing of that: they
// may bypass the node (log(exp x) is x), in part or entirely, or find that another node equals it.
// So the derivative is taken again of a copy of the loss in which the node is behind a cut, an
// operation that changes nothing and that no rule looks through. Afterwards the cuts are removed,
// and equal nodes are one again.

// cut is the identity, opaque to rules.
type cut struct{}

func (cut) Name() string { return "Cut" }
func (cut) Doc() string  { return "its operand, which no rule looks into" }

func (cut) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }

// Grad passes the derivative on.
func (cut) Grad(_, dy *graph.Node, _ int) *graph.Node { return dy }

func (cut) Eval(_ trait.Env, _ *graph.Node, in []graph.Value) graph.Value { return in[0] }

// join removes the cuts once the derivatives have been taken.
var join = Pass{Name: "join", rules: []Rule{{"cut", "a cut is its operand", func(n *graph.Node) *graph.Node {
	if isCut(n) {
		return n.In(0)
	}
	return nil
}}}}

func isCut(n *graph.Node) bool { return n.Op() == cut{} }

// hasCuts reports whether there are cuts in a graph or in its bodies.
func hasCuts(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes(), func(n *graph.Node) bool { return isCut(n) || n.Body() != nil && hasCuts(n.Body().Graph()) })
}

// needsCut reports whether a derivation is with respect to a node that rules may bypass.
func needsCut(d graph.Derivation) bool {
	return d.Wrt.Role() == graph.RoleOp && !isCut(d.Wrt)
}

// A gradient in another loss is behind a cut as well, until it has been taken again: a rule that
// looked into it would rebuild that loss from the old gradient's operands, which the new gradient
// may not have.

// innerOf returns those gradients to be taken again on which the loss of another derivation
// depends.
func (b *builder) innerOf(kept []graph.Derivation) map[*graph.Node]bool {
	inner := map[*graph.Node]bool{}
	var losses []*graph.Node
	for _, d := range kept {
		losses = append(losses, d.Loss)
	}
	for _, n := range graph.Reachable(losses...) {
		if b.derived[n.ID()].loss != nil {
			inner[n] = true
		}
	}
	return inner
}

// operand returns the node of the new graph for operand x of n.
func (b *builder) operand(n, x *graph.Node) *graph.Node {
	y := b.of(x)
	if !b.inner[x] || n.IsBackward() || isCut(n) {
		return y
	}
	at := b.standing(x)
	b.to.During(at, b.origin(at, x, ""), func() { y = b.to.Apply(cut{}, y) })
	return y
}

// apart is a derivation with respect to a node behind a cut.
type apart struct {
	graph.Derivation
	loss, wrt *graph.Node // in the new graph, once they are made
}

// cutOff copies the loss of a derivation, with a cut around the node that it was differentiated
// with respect to.
func (b *builder) cutOff(d *apart) {
	was := b.node
	b.node = slices.Clone(was)
	defer func() { b.node = was }()
	cone := graph.Reachable(d.Loss)
	depends := make([]bool, len(was))
	depends[d.Wrt.ID()] = true
	for _, n := range cone {
		for i := range n.NumIn() {
			if n != d.Wrt && depends[n.In(i).ID()] {
				depends[n.ID()] = true
				b.node[n.ID()] = nil
			}
		}
	}
	if !depends[d.Loss.ID()] {
		return // it is zero, and stays so
	}
	at := b.standing(d.Wrt)
	b.to.During(at, b.origin(at, d.Wrt, ""), func() { d.wrt = b.to.Apply(cut{}, b.of(d.Wrt)) })
	b.inherit(d.Wrt, d.wrt, "")
	for _, n := range cone {
		if depends[n.ID()] && n != d.Wrt {
			b.copy(n)
		}
	}
	d.loss = b.of(d.Loss)
}
