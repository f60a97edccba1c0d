package geometry

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// ground is a copy of a model's graph in which parameters are inputs: a program of it
// computes at any place.
type ground struct {
	site   Site
	params []*graph.Node // of the model
	graph  *graph.Graph
	copies map[*graph.Node]*graph.Node
	loss   *graph.Node
	at     []*graph.Node // the inputs in place of params
	size   int           // of all parameters together
}

// ground makes the copy, with the loss and what else is wanted of the model.
func (s Site) ground(more ...*graph.Node) (*ground, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	g := &ground{site: s, params: params}
	g.graph, g.copies = copied(s.Model.Graph.Name(), params, append([]*graph.Node{s.Model.Loss}, more...)...)
	g.loss = g.copies[s.Model.Loss]
	for _, p := range params {
		g.at = append(g.at, g.copies[p])
		g.size += p.Shape().Len()
	}
	return g, g.graph.Err()
}

// here are the values of the parameters.
func (g *ground) here() ([]float64, error) {
	v, err := valuesOf(g.site.Store, g.params)
	if err != nil {
		err = fmt.Errorf("%s: %w", g.site.name(), err)
	}
	return v, err
}

func (g *ground) compile(ctx context.Context, fetch ...*graph.Node) (*tape.Program, error) {
	p, err := tape.CompileContext(ctx, g.graph, tape.Fetch(fetch...))
	if err != nil {
		err = fmt.Errorf("%s: %w", g.site.name(), err)
	}
	return p, err
}

// runner runs a program of the ground at one place after the other. Every run draws the noise
// of the same step, so that places differ in nothing but the parameters.
type runner struct {
	ground *ground
	vm     *tape.VM
	feed   tape.Feed
}

// runner joins a program with memory of its own.
func (g *ground) runner(p *tape.Program, options ...tape.VMOption) (*runner, error) {
	vm, err := p.NewVM(g.site.Store.Clone(), options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.site.name(), err)
	}
	return &runner{g, vm, feedOf(g.site.Feed, g.copies)}, nil
}

func (r *runner) close() { r.vm.Close() }

// set feeds nodes with the values of one after the other.
func (r *runner) set(nodes []*graph.Node, values []float64) {
	for _, n := range nodes {
		size := n.Shape().Len()
		r.feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: values[:size]})
		values = values[size:]
	}
}

// run computes at a place.
func (r *runner) run(ctx context.Context, at []float64) error {
	r.set(r.ground.at, at)
	store := r.vm.Store()
	store.Resume(store.Seed(), store.Step(), 0)
	if err := r.vm.Run(ctx, r.feed); err != nil {
		return fmt.Errorf("%s: %w", r.ground.site.name(), err)
	}
	return nil
}

// values are those of nodes after a run, one after the other.
func (r *runner) values(nodes ...*graph.Node) ([]float64, error) {
	var out []float64
	for _, n := range nodes {
		t, err := r.vm.Value(n)
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

// each calls do for 0 to n−1, on several goroutines with a runner each. What do makes
// of i must depend on i alone. Every call is a piece of work.
func (g *ground) each(p *tape.Program, workers, n int, w *work, do func(r *runner, i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, n)
	runners := make([]*runner, min(workers, n))
	for i := range runners {
		r, err := g.runner(p, tape.Workers(1))
		if err != nil {
			return err
		}
		defer r.close()
		runners[i] = r
	}
	for _, r := range runners {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if errs[i] = do(r, i); errs[i] != nil {
					return
				}
				w.piece()
			}
		}()
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
