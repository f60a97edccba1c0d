package rewrite

import "github.com/tapestry-ml/tapestry/graph"

// standing returns the first occurrence of n whose origin is in the new graph: another may belong
// to a call of the differentiator of which nothing is wanted. If there is none, it returns the
// first.
func (b *builder) standing(n *graph.Node) graph.Occurrence {
	for _, o := range n.Occurrences() {
		if b.stands(o.Origin) {
			return o
		}
	}
	return n.First()
}

// stands reports whether the nodes that an origin refers to are in the new graph.
func (b *builder) stands(o graph.Origin) bool {
	return o.Kind == graph.FromUser || b.of(o.Of) != nil && b.of(o.Loss) != nil
}

// inherit makes y the new node for n: y gets the occurrences of n whose origins are in the new
// graph.
func (b *builder) inherit(n, y *graph.Node, rule string) {
	b.node[n.ID()] = y
	known := b.stands(b.standing(n).Origin)
	for _, o := range n.Occurrences() {
		if known && !b.stands(o.Origin) {
			continue
		}
		o.Origin = b.origin(o, n, rule)
		if o.Origin.Kind == graph.FromUser || o.Name != "" {
			b.to.Occur(y, o)
		}
	}
}

// origin translates the origin of an occurrence to the new graph. If the nodes that it refers to
// are gone, the origin becomes the user's call.
func (b *builder) origin(o graph.Occurrence, n *graph.Node, rule string) graph.Origin {
	origin := graph.Origin{Kind: o.Origin.Kind, Rule: o.Origin.Rule}
	if rule != "" {
		origin.Rule, origin.Was = rule, n
	}
	if o.Origin.Kind != graph.FromUser {
		origin.Of, origin.Loss = b.of(o.Origin.Of), b.of(o.Origin.Loss)
		if !b.stands(o.Origin) {
			origin.Of, origin.Loss, origin.Kind = nil, nil, graph.FromUser
		}
	}
	return origin
}

func (b *builder) note(rule, why string, before, after *graph.Node) {
	e := Entry{Pass: b.pass.Name, Rule: rule, Before: text(before), After: text(after), Pos: before.First().Pos}
	b.log = append(b.log, e)
	b.rec.add(Firing{Entry: e, Why: why, Old: before, New: after})
}

// text returns a node as the log shows it: its operation and the labels of its inputs.
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
