package geometry

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// evaluator runs a program of an objective at one parameter vector after another. Every run draws
// the random numbers of the same step, so that nothing but the parameters differs.
type evaluator struct {
	objective *objective
	vm        *tape.VM
	feed      tape.Feed
}

// evaluator gives a program a memory of its own; the caller closes it.
func (o *objective) evaluator(p *tape.Program, options ...tape.VMOption) (*evaluator, error) {
	vm, err := p.NewVM(o.site.Store.Clone(), options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.site.name(), err)
	}
	return &evaluator{o, vm, feedOf(o.site.Feed, o.copies)}, nil
}

func (e *evaluator) close() { e.vm.Close() }

// set feeds nodes with consecutive parts of values.
func (e *evaluator) set(nodes []*graph.Node, values []float64) {
	for _, n := range nodes {
		size := n.Shape().Len()
		e.feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: values[:size]})
		values = values[size:]
	}
}

// run evaluates the program at a parameter vector.
func (e *evaluator) run(ctx context.Context, at []float64) error {
	e.set(e.objective.inputs, at)
	store := e.vm.Store()
	store.Resume(store.Seed(), store.Step(), 0)
	if err := e.vm.Run(ctx, e.feed); err != nil {
		return fmt.Errorf("%s: %w", e.objective.site.name(), err)
	}
	return nil
}

// values returns the elements of nodes after a run, one node after the other.
func (e *evaluator) values(nodes ...*graph.Node) ([]float64, error) {
	var out []float64
	for _, n := range nodes {
		t, err := e.vm.Value(n)
		if err != nil {
			return nil, err
		}
		v, err := floats(n.Type(), t)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

// at evaluates nodes at a parameter vector.
func (e *evaluator) at(ctx context.Context, point []float64, nodes ...*graph.Node) ([]float64, error) {
	if err := e.run(ctx, point); err != nil {
		return nil, err
	}
	return e.values(nodes...)
}
