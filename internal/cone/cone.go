// Package cone copies the part of a graph that some nodes depend on, so that derivatives and
// updates can be added to the copy while the graph of a model stays as it is.
package cone

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
)

// Copy copies the roots and everything that they depend on into a new graph. In it, inputs of the
// same path and type stand for the given leaves; for one that is computed, an input of its name.
// The map leads from each node to its copy.
func Copy(name string, leaves []*graph.Node, roots ...*graph.Node) (*graph.Graph, map[*graph.Node]*graph.Node) {
	g, copies := graph.New(name), map[*graph.Node]*graph.Node{}
	for _, n := range leaves {
		copies[n] = g.Input(pathOf(n), n.DType(), n.Shape().Axes()...)
	}
	for _, n := range graph.Reachable(roots...) {
		if copies[n] != nil {
			continue
		}
		in := n.Inputs()
		for i, x := range in {
			in[i] = copies[x]
		}
		copies[n] = g.Copy(n, in)
	}
	return g, copies
}

// pathOf returns the path of a leaf; of a node that is computed its name or number.
func pathOf(n *graph.Node) string {
	if p := n.Path(); p != "" {
		return p
	}
	return fmt.Sprintf("%s at %d", n.Label(), n.ID())
}
