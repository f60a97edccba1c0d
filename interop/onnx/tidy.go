package onnx

import "github.com/tapestry-ml/tapestry/graph"

// tidied returns a copy of what the roots depend on, in a graph of its own with the names, scopes and
// positions of the nodes, and the copies of the roots: without the constants and sums that gave shapes.
func tidied(g *graph.Graph, roots ...*graph.Node) (*graph.Graph, []*graph.Node) {
	h, copies := graph.New(g.Name(), g.DType()), map[*graph.Node]*graph.Node{}
	for _, n := range graph.Reachable(roots...) {
		in := n.Inputs()
		for i, x := range in {
			in[i] = copies[x]
		}
		for _, o := range n.Occurrences() {
			h.During(graph.Occurrence{Scope: o.Scope, Pos: o.Pos, Call: o.Call}, o.Origin, func() {
				if copies[n] = h.Copy(n, in); o.Name != "" {
					copies[n].As(o.Name)
				}
			})
		}
	}
	out := make([]*graph.Node, len(roots))
	for i, n := range roots {
		out[i] = copies[n]
	}
	return h, out
}
