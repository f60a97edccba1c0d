package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// recorder takes records of the same nodes in one step after the other: what they
// depend on is compiled once.
type recorder struct {
	nodes []*graph.Node // in an order in which they can be computed
	prog  *tape.Program
}

func newRecorder(nodes []*graph.Node) (*recorder, error) {
	prog, err := tape.Compile(graph.Of(nodes...), tape.Fetch(nodes...), tape.Passes(), tape.Unfused())
	if err != nil {
		return nil, err
	}
	return &recorder{nodes, prog}, nil
}

// take runs on a copy of the store.
func (rec *recorder) take(ctx context.Context, feed tape.Feed, store *tape.Store) (*Record, error) {
	if store == nil {
		return nil, errors.New("inspect: no store is given")
	}
	r := &Record{nodes: rec.nodes, values: map[*graph.Node]tape.Array{}, grads: gradients(rec.nodes), store: store.Clone(), feed: feed}
	vm := rec.prog.NewVM(r.store) // a fresh one, because values lie in its memory
	defer vm.Close()
	if err := vm.Run(ctx, feed); err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	for _, n := range r.nodes {
		t, err := vm.Value(n)
		if err != nil {
			return nil, fmt.Errorf("inspect: %w", err)
		}
		if r.values[n], err = tape.ArrayOf(n.Type(), t); err != nil {
			return nil, fmt.Errorf("inspect: %v: %w", n, err)
		}
	}
	return r, nil
}

// gradients finds among nodes the derivative of the loss by each; of several
// losses, that of the first.
func gradients(nodes []*graph.Node) map[*graph.Node]*graph.Node {
	grads := map[*graph.Node]*graph.Node{}
	for _, n := range nodes {
		if of, _ := n.AdjointOf(); of != nil && grads[of] == nil {
			grads[of] = n
		}
	}
	return grads
}
