package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// ownBody returns a copy of the body that a loop shares with another loop, in the scope of this
// loop, so that a node tells which of the two is meant, and what each of its nodes is a copy of. It
// is nil if that cannot be copied.
func ownBody(n *graph.Node) (own *graph.Body, copied map[*graph.Node]*graph.Node) {
	shared := trait.LoopBody(n)
	g, copies := graph.New(shared.Graph().Name()), map[*graph.Node]*graph.Node{}
	for _, x := range graph.Reachable(append(shared.In(), shared.Out()...)...) {
		in := x.Inputs()
		for i := range in {
			in[i] = copies[in[i]]
		}
		at := x.First()
		at.Name, at.Scope = "", n.First().Scope
		g.During(at, at.Origin, func() { copies[x] = g.Copy(x, in) })
		for _, o := range x.Occurrences() {
			o.Scope = n.First().Scope
			g.Occur(copies[x], o)
		}
	}
	of := func(nodes []*graph.Node) []*graph.Node {
		out := make([]*graph.Node, len(nodes))
		for i, x := range nodes {
			out[i] = copies[x]
		}
		return out
	}
	body, err := graph.NewBody(g, of(shared.In()), of(shared.Out()))
	if err != nil {
		return nil, nil
	}
	copied = map[*graph.Node]*graph.Node{}
	from, to := graph.Reachable(append(shared.In(), shared.Out()...)...), graph.Reachable(append(body.In(), body.Out()...)...)
	if len(from) != len(to) {
		return nil, nil
	}
	for i, x := range to { // a body has nodes of its own
		copied[x] = from[i]
	}
	return body, copied
}
