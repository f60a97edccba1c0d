package main

import (
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// loopBodies lists the bodies of a graph's loops, each once, in order.
func loopBodies(roots []*graph.Node) []*graph.Body {
	var out []*graph.Body
	seen := map[string]bool{}
	for _, n := range graph.Reachable(roots...) {
		if b := n.Body(); b != nil && !seen[b.Form()] {
			seen[b.Form()] = true
			out = append(out, b)
		}
	}
	return out
}

// loopRoots returns the results of one step of loop k of the drawn graph, counted from 1.
func loopRoots(m *builders.Model, roots []*graph.Node, k int) ([]*graph.Node, error) {
	bodies := loopBodies(roots)
	switch {
	case len(bodies) == 0:
		return nil, usagef("--loop: %s has no loop", m.Builder.Name)
	case k < 1 || k > len(bodies):
		return nil, usagef("--loop %d: %s has %s", k, m.Builder.Name, plural.Count(len(bodies), "loop"))
	}
	return bodies[k-1].Out(), nil
}
