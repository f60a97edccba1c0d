package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// recorder records the same nodes at one training step after another; it compiles them once.
type recorder struct {
	nodes    []*graph.Node // in an order in which they can be computed
	prog     *tape.Program
	training bool // whether random draws are those of the next training step, not of the next run without updates
}

func newRecorder(ctx context.Context, nodes []*graph.Node, options ...tape.Option) (*recorder, error) {
	prog, err := tape.CompileContext(ctx, graph.Of(nodes...), append(options, tape.Fetch(nodes...), tape.Passes(), tape.Unfused())...)
	if err != nil {
		return nil, err
	}
	return &recorder{nodes: nodes, prog: prog}, nil
}

// take runs on a copy of the store.
func (rec *recorder) take(ctx context.Context, feed tape.Feed, store *tape.Store) (*Record, error) {
	if store == nil {
		return nil, errors.New("inspect: no store is given")
	}
	r := &Record{nodes: rec.nodes, values: map[*graph.Node]tape.Array{}, grads: gradients(rec.nodes), store: store.Clone(), feed: feed}
	runs := r.store.Runs()
	if rec.training {
		runs = 0
	}
	r.store.Resume(r.store.Seed(), r.store.Step(), runs)
	vm, err := rec.prog.NewVM(r.store) // a fresh one, because values lie in its memory
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	defer vm.Close()
	if err := vm.Run(ctx, feed); err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	r.store.Resume(r.store.Seed(), r.store.Step(), runs) // a second run on it, to find a cure, draws the same
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

// gradients finds, for each node, the derivative of the loss by it; of several losses, the first.
func gradients(nodes []*graph.Node) map[*graph.Node]*graph.Node {
	grads := map[*graph.Node]*graph.Node{}
	for _, n := range nodes {
		if of, _ := n.AdjointOf(); of != nil && grads[of] == nil {
			grads[of] = n
		}
	}
	return grads
}
