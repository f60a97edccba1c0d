// Package derive lets an operation with a body ask for derivatives of the body's
// nodes. Package ops defines operations and package graph/grad, which imports it,
// the ways to differentiate; the operation's own rule needs both. The same goes for
// graph/vmap and batches.
package derive

import "github.com/tapestry-ml/tapestry/graph"

// Back gives the derivatives of Σ_k ⟨seeds[k], outs[k]⟩ with respect to nodes wrt
// of the same graph, zeros where nothing flows. A seed has its node's type. Package
// graph/grad sets it.
var Back func(outs, seeds, wrt []*graph.Node) []*graph.Node

// Forward gives how outs move when each node of x moves by the one of v beside it,
// zeros where an out stands still. Package graph/grad sets it.
var Forward func(outs, x, v []*graph.Node) []*graph.Node

// Map gives outs for a batch of examples, along a first axis of each, from batches in
// place of nodes x; each example makes random draws of its own, or all share them. Package
// graph/vmap sets it.
var Map func(outs, x, batches []*graph.Node, draws bool) []*graph.Node

// Sharing is an operation whose body may make random draws.
type Sharing interface {
	// BatchSameDraws is the rule for batches, [trait.Batched], whose examples share the draws.
	BatchSameDraws(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node
}
