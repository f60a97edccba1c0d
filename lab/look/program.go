package look

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/tape"
)

// measured is a copy of the part of a model's graph that is measured. Derivatives may be added to it.
type measured struct {
	run    *Run
	graph  *graph.Graph
	copies map[*graph.Node]*graph.Node // by the model's node
	vm     *tape.VM
}

// copied copies what the nodes depend on. Inputs stand for the given leaves.
func (r *Run) copied(leaves []*graph.Node, nodes ...*graph.Node) *measured {
	g, copies := cone.Copy(r.Model.Graph.Name(), leaves, nodes...)
	return &measured{run: r, graph: g, copies: copies}
}

// compile makes a program that fetches nodes of the copy. It is for many runs; see close.
func (m *measured) compile(ctx context.Context, at Moment, fetch ...*graph.Node) error {
	p, err := tape.CompileContext(ctx, m.graph, tape.Fetch(fetch...))
	if err != nil {
		return fmt.Errorf("%s: %w", m.run.name(), err)
	}
	m.vm, err = p.NewVM(at.Store.Clone())
	return err
}

func (m *measured) close() {
	if m.vm != nil {
		m.vm.Close()
	}
}

// feed converts a feed of the model.
func (m *measured) feed(of tape.Feed) tape.Feed {
	out := tape.Feed{}
	for n, t := range of {
		if c := m.copies[n]; c != nil {
			out[c] = t
		}
	}
	return out
}

// values runs the program, and returns the elements of nodes that it fetches. Random draws are the
// same in every run.
func (m *measured) values(ctx context.Context, feed tape.Feed, nodes ...*graph.Node) ([][]float64, error) {
	store := m.vm.Store()
	store.Resume(store.Seed(), store.Step(), 0)
	if err := m.vm.Run(ctx, feed); err != nil {
		return nil, fmt.Errorf("%s: %w", m.run.name(), err)
	}
	out := make([][]float64, len(nodes))
	for i, n := range nodes {
		t, err := m.vm.Value(n)
		if err != nil {
			return nil, err
		}
		a, err := tape.ArrayOf(n.Type(), t)
		if err != nil {
			return nil, err
		}
		out[i] = elements(a, n)
	}
	return out, nil
}

// take returns the elements of nodes of the model's graph on a batch.
func (r *Run) take(ctx context.Context, at Moment, feed tape.Feed, nodes ...*graph.Node) ([][]float64, error) {
	m := r.copied(nil, nodes...)
	in := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		in[i] = m.copies[n]
	}
	return m.record(ctx, at, m.feed(feed), in...)
}

// record returns the elements of nodes of the copy, computed as written.
func (m *measured) record(ctx context.Context, at Moment, feed tape.Feed, nodes ...*graph.Node) ([][]float64, error) {
	rec, err := inspect.Take(ctx, feed, at.Store, nodes...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.run.name(), err)
	}
	out := make([][]float64, len(nodes))
	for i, n := range nodes {
		out[i] = elements(rec.Value(n), n)
	}
	return out, nil
}

func elements(a tape.Array, n *graph.Node) []float64 {
	out := make([]float64, n.Shape().Len())
	for i := range out {
		out[i] = a.At(i)
	}
	return out
}

// stored returns the elements of a parameter at a moment.
func (at Moment) stored(p *graph.Node) ([]float64, error) {
	t, err := at.Store.Get(p.Path())
	if err != nil {
		return nil, err
	}
	a, err := tape.ArrayOf(p.Type(), t)
	if err != nil {
		return nil, err
	}
	return elements(a, p), nil
}
