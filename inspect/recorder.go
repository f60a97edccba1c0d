package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Recorder takes records of the same nodes at one training step after another; it compiles them
// once.
type Recorder struct {
	nodes    []*graph.Node // in an order in which they can be computed
	prog     *tape.Program
	training bool // whether random draws are those of the next training step, not of the next run without updates
}

// NewRecorder returns a recorder of what the roots depend on. They must be of one graph; see
// [Take].
func NewRecorder(ctx context.Context, roots ...*graph.Node) (*Recorder, error) {
	return recorderOf(ctx, roots)
}

// recorderOf is NewRecorder with options that say how the program computes.
func recorderOf(ctx context.Context, roots []*graph.Node, options ...tape.Option) (*Recorder, error) {
	g := graph.Of(roots...)
	if g == nil {
		return nil, errors.New("inspect: no node is given")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	rec, err := newRecorder(ctx, graph.Reachable(roots...), options...)
	if err != nil {
		return nil, err
	}
	rec.training = len(g.Updates()) > 0
	return rec, nil
}

func newRecorder(ctx context.Context, nodes []*graph.Node, options ...tape.Option) (*Recorder, error) {
	prog, err := tape.CompileContext(ctx, graph.Of(nodes...), append(options, tape.Fetch(nodes...), tape.Passes(), tape.Unfused())...)
	if err != nil {
		return nil, err
	}
	return &Recorder{nodes: nodes, prog: prog}, nil
}

// Take records what the nodes are in a run on a copy of the store; see the function [Take]. Records
// are independent of each other.
func (rec *Recorder) Take(ctx context.Context, feed tape.Feed, store *tape.Store) (*Record, error) {
	if rec == nil || rec.prog == nil {
		return nil, errors.New("inspect: NewRecorder did not make this recorder")
	}
	if store == nil {
		return nil, errors.New("inspect: no store is given")
	}
	r := &Record{nodes: rec.nodes, values: make(map[*graph.Node]tape.Array, len(rec.nodes)), grads: gradients(rec.nodes), store: store.Clone(), feed: feed}
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
