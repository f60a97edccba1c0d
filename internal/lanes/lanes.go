// Package lanes tells the values that all lanes of a step have from those that are each lane's own, adds
// to the graph of a loss the sums over lanes that make of it the loss of a batch ([Weigh], [Sum]), and
// shares out a net's arrays to ranks ([Owners]).
//
// It takes nodes of a graph and the inputs that are fed rows, and gives the nodes, among those that
// they depend on, that are a lane's own, in time that grows with the number of nodes:
//
//	x, a lane's rows                  own
//	w, a parameter                    the same on all lanes
//	loss = mean (x·w − y)²            own
//	SumRanks(∂loss/∂w)                the same
//	w − η·SumRanks(∂loss/∂w)          the same
//
// A lane's own are inputs that are fed rows, random draws, the result of ops.CopyRanks, and whatever
// depends on any of these but through ops.SumRanks. All lanes have the same parameters, states,
// constants and other inputs, sums over lanes, and what depends on these alone. The type system of
// shard_map in JAX makes the same difference, and calls the two varying and invariant. [Check] refuses
// graphs in which they meet so that derivatives would be wrong.
package lanes

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Own returns those nodes that each lane has a value of its own of, among the roots and what they
// depend on; rows reports whether an input is fed rows; if it is nil, none is. A loop, a branch or a
// function is taken as a whole: its value is a lane's own if an operand is, or if its body draws.
func Own(rows func(input *graph.Node) bool, roots ...*graph.Node) map[*graph.Node]bool {
	own := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(roots...) {
		switch {
		case match.Is(n, match.SumRanks):
		case match.Is(n, match.CopyRanks), match.Draws(n), rows != nil && n.Role() == graph.RoleInput && rows(n):
			own[n] = true
		default:
			for i := range n.NumIn() {
				if own[n.In(i)] {
					own[n] = true
					break
				}
			}
		}
	}
	return own
}
