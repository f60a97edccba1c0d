package inspect

import (
	"context"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Record is a run with the values of all its nodes.
type Record struct {
	nodes  []*graph.Node
	values map[*graph.Node]tape.Array
	grads  map[*graph.Node]*graph.Node // gradient by value
	store  *tape.Store
	feed   tape.Feed
}

// Take runs what the roots depend on as written, without rewriting or fusing anything, and keeps
// every value. Neither feed nor store is changed. The roots must be of one graph: to record what
// a program computes after its passes, take them from [tape.Program.Graph], and convert the feed
// with [Feed].
//
// If the graph has updates ([graph.Graph.Updates]), random draws are those of the next training
// step, whatever was run since the last one (tape.Store.Runs); otherwise they are those of the
// next run. Two records of one store therefore have the same draws.
func Take(ctx context.Context, feed tape.Feed, store *tape.Store, roots ...*graph.Node) (*Record, error) {
	return takeAs(ctx, feed, store, roots)
}

// takeAs is Take with options that say how the program computes.
func takeAs(ctx context.Context, feed tape.Feed, store *tape.Store, roots []*graph.Node, options ...tape.Option) (*Record, error) {
	rec, err := recorderOf(ctx, roots, options...)
	if err != nil {
		return nil, err
	}
	return rec.Take(ctx, feed, store)
}

// Nodes returns the recorded nodes in an order in which they can be computed.
func (r *Record) Nodes() []*graph.Node { return r.nodes }

// Value returns the value of a node. Its Type is invalid for a node that was not recorded.
func (r *Record) Value(n *graph.Node) tape.Array {
	if r == nil {
		return tape.Array{}
	}
	return r.values[n]
}

// Gradient returns the node that holds the derivative of the loss by n, nil if none was recorded.
// If there are several losses, it is the derivative of the first.
func (r *Record) Gradient(n *graph.Node) *graph.Node { return r.grads[n] }

// Feed converts a feed of one graph to another graph, such as [tape.Program.Graph]: inputs with
// the same path get the same value, and inputs that g lacks are left out.
func Feed(feed tape.Feed, g *graph.Graph) tape.Feed {
	out := tape.Feed{}
	for n, t := range feed {
		if to := g.Lookup(n.Path()); to != nil && to.Role() == graph.RoleInput {
			out[to] = t
		}
	}
	return out
}
