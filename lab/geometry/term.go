package geometry

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/ops"
)

// copied copies what the loss depends on into a graph of its own, with the names of the nodes.
func (s Site) copied() (*graph.Graph, map[*graph.Node]*graph.Node) {
	g, copies := cone.Copy(s.Model.Graph.Name(), nil, s.Model.Loss)
	for _, n := range graph.Reachable(s.Model.Loss) {
		name(copies[n], n)
	}
	return g, copies
}

// name gives a copy the name of a node, if that has one.
func name(c, n *graph.Node) *graph.Node {
	if as := n.Name(); as != "" {
		return c.As(as)
	}
	return c
}

// with returns the site with another objective, in a copy of the model's graph.
func (s Site) with(name string, loss *graph.Node, copies map[*graph.Node]*graph.Node) Site {
	m := *s.Model
	m.Graph, m.Loss, m.Step, m.Output = loss.Graph(), loss, nil, nil
	m.Examples, m.Drawn, m.Rows = nil, nil, nil
	return Site{Name: name, Model: &m, Feed: feedOf(s.Feed, copies), Store: s.Store, Stepped: s.Stepped}
}

// Assignment returns the node of the soft assignment α[i j] of points to prototypes; nil for a model
// without one.
func (s Site) Assignment() *graph.Node {
	p, err := s.prototypes()
	if err != nil {
		return nil
	}
	return p.assignment
}

// Spread returns the site whose objective is the spread ([builders.Spread]) of the prototypes under
// the soft assignment of s, with the parameters, the feed and the store of s. It reports false for a
// model without a soft assignment.
func (s Site) Spread() (Site, bool) {
	p, err := s.prototypes()
	if err != nil || p.assignment == nil {
		return Site{}, false
	}
	_, copies := s.copied()
	loss := builders.Spread(copies[p.assignment], copies[p.centres])
	return s.with("spread", loss, copies), loss.IsValid()
}

// Minus returns the site whose objective is that of s less that of other, with the parameters, the
// feed and the store of s. Inputs, parameters and states of the same path are one, but an input with
// two defaults has that of other there. It is an error if the sites' parameters differ, if such a
// leaf has two types, and if other has an input that s does not have.
func (s Site) Minus(other Site) (Site, error) {
	if _, err := objectives([]Site{s, other}); err != nil {
		return Site{}, err
	}
	g, copies := s.copied()
	leaves := map[string]*graph.Node{}
	for n, c := range copies {
		if n.Path() != "" {
			leaves[n.Path()] = c
		}
	}
	theirs := map[*graph.Node]*graph.Node{}
	for _, n := range graph.Reachable(other.Model.Loss) {
		c := leaves[n.Path()]
		fixed, has := n.Default()
		switch {
		case c != nil && has && differs(c, fixed):
			c = g.ConstantValue(graph.Value{Type: n.Type(), Data: []float64{fixed}})
		case c != nil && c.Type() != n.Type():
			return Site{}, fmt.Errorf("%s has %s of type %v, and %s of type %v: want one type", s.name(), n.Path(), c.Type(), other.name(), n.Type())
		case c == nil && n.Role() == graph.RoleInput && !has:
			return Site{}, fmt.Errorf("%s has the input %s, and %s has not", other.name(), n.Path(), s.name())
		case c == nil:
			c = name(again(g, n, theirs), n)
		}
		theirs[n] = c
	}
	loss := ops.Sub(copies[s.Model.Loss], theirs[other.Model.Loss])
	if err := g.Err(); err != nil {
		return Site{}, err
	}
	return s.with(s.name()+" − "+other.name(), loss, copies), nil
}

// differs reports whether an input has another default, or none.
func differs(n *graph.Node, fixed float64) bool {
	v, has := n.Default()
	return !has || v != fixed
}

// again makes a node again in a graph, of the copies of what it is made of.
func again(g *graph.Graph, n *graph.Node, copies map[*graph.Node]*graph.Node) *graph.Node {
	in := n.Inputs()
	for i, x := range in {
		in[i] = copies[x]
	}
	return g.Copy(n, in)
}

// Through splits the gradient of an objective at a node. The objective of held has the node held
// constant. That of through is linear in the node, with the derivative of the loss by it as
// coefficients, held constant: its gradient is the part that flows through the node. The two
// gradients add up to that of s. It is an error if the loss does not depend on the node.
func (s Site) Through(node *graph.Node) (held, through Site, err error) {
	if _, err := s.parameters(); err != nil {
		return Site{}, Site{}, err
	}
	if node == nil || !s.Model.Loss.DependsOn(node) {
		return Site{}, Site{}, fmt.Errorf("%s: the loss does not depend on the node", s.name())
	}
	_, copies := s.copied()
	flow := grad.OrZero(copies[s.Model.Loss], copies[node])[0]
	through = s.with(s.name()+" through "+node.Name(), ops.Sum(ops.Mul(copies[node], ops.StopGradient(flow))), copies)

	g, copies := s.copied()
	rest := map[*graph.Node]*graph.Node{node: ops.StopGradient(copies[node])}
	for _, n := range graph.Reachable(s.Model.Loss) {
		switch {
		case n == node:
		case n.DependsOn(node):
			rest[n] = name(again(g, n, rest), n)
		default:
			rest[n] = copies[n]
		}
	}
	held = s.with(s.name()+" with "+node.Name()+" held", rest[s.Model.Loss], copies)
	return held, through, g.Err()
}
