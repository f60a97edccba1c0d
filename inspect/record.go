package inspect

import (
	"context"
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Record is one run with the values of all its nodes.
type Record struct {
	nodes  []*graph.Node
	values map[*graph.Node]tape.Array
	grads  map[*graph.Node]*graph.Node // of a value: the node that is its gradient
	store  *tape.Store
	feed   tape.Feed
}

// Take runs what the roots depend on as written, without rewriting or fusing
// anything, and keeps every value. Neither feed nor store is changed. The roots are
// of one graph: to record what a program computes after its passes, take them from
// [tape.Program.Graph] with a feed for that graph ([Feed]).
//
// Random draws are those of the next run on the store: where the graph has updates
// ([graph.Graph.Updates]), the next step's, whatever has been run without one since the last
// (tape.Store.Runs); where it has none, the next run's. Another record of the same store has the
// same ones.
func Take(ctx context.Context, feed tape.Feed, store *tape.Store, roots ...*graph.Node) (*Record, error) {
	g := graph.Of(roots...)
	if g == nil {
		return nil, errors.New("inspect: no node of a graph is given")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	rec, err := newRecorder(ctx, graph.Reachable(roots...))
	if err != nil {
		return nil, err
	}
	rec.training = len(g.Updates()) > 0
	return rec.take(ctx, feed, store)
}

// Nodes are the recorded ones in an order in which they can be computed.
func (r *Record) Nodes() []*graph.Node { return r.nodes }

// Value is the value of a node; its Type is invalid for a node that is not recorded.
func (r *Record) Value(n *graph.Node) tape.Array {
	if r == nil {
		return tape.Array{}
	}
	return r.values[n]
}

// Gradient is the node that holds the derivative of the loss by n, nil if none was
// recorded. Of several losses, it is that of the first.
func (r *Record) Gradient(n *graph.Node) *graph.Node { return r.grads[n] }

// Feed gives the inputs of another graph what the inputs of the same paths are fed:
// those of [tape.Program.Graph] for a program of the graph that was fed. Inputs that
// the other graph lacks are left out.
func Feed(feed tape.Feed, g *graph.Graph) tape.Feed {
	out := tape.Feed{}
	for n, t := range feed {
		if to := g.Lookup(n.Path()); to != nil && to.Role() == graph.RoleInput {
			out[to] = t
		}
	}
	return out
}
