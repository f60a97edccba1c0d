package gorgonia

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Option is an option of [Compile]; see [Fetch] and [Do].
type Option func(*request)

type request struct {
	wanted []*graph.Node
	steps  []graph.Update
}

// Fetch names results, which can be read after each run.
func Fetch(nodes ...*graph.Node) Option {
	return func(r *request) { r.wanted = append(r.wanted, nodes...) }
}

// Do adds the updates of steps, which are applied to the store at the end of each run.
func Do(steps ...graph.Step) Option {
	return func(r *request) { r.steps = append(r.steps, slices.Concat(steps...)...) }
}

// check refuses nodes of other graphs, and two updates of one leaf.
func (r *request) check(g *graph.Graph) error {
	var errs []error
	if len(r.wanted)+len(r.steps) == 0 {
		errs = append(errs, errors.New("nothing is asked for: name results with Fetch, or a step with Do"))
	}
	for _, n := range r.wanted {
		if !n.IsValid() || n.Graph() != g {
			errs = append(errs, fmt.Errorf("fetch: %v is no node of graph %q", n, g.Name()))
		}
	}
	seen := map[*graph.Node]bool{}
	for _, u := range r.steps {
		switch {
		case !u.Target.IsValid() || !u.Value.IsValid() || u.Target.Graph() != g || u.Value.Graph() != g:
			errs = append(errs, fmt.Errorf("do: an update of graph %q has no target or value there", g.Name()))
		case seen[u.Target]:
			errs = append(errs, fmt.Errorf("do: %s is updated twice: compile a machine for each step", u.Target.Path()))
		}
		seen[u.Target] = true
	}
	return errors.Join(errs...)
}

// Machine is a graph translated to gorgonia, with the machine that runs it. It may be used by one
// goroutine at a time.
type Machine struct {
	graph   *graph.Graph
	vm      G.VM
	leaves  []leaf
	run     *run
	results map[*graph.Node]*G.Node
	steps   []graph.Update
	ran     bool
}

// Compile translates the nodes that the fetched results and the updates depend on, as the graph is
// written; to run the rewritten graph, compile that one. The error holds every mistake made while
// building the graph, or an [Unsupported] for every node that gorgonia cannot compute correctly.
func Compile(g *graph.Graph, options ...Option) (*Machine, error) {
	var r request
	for _, o := range options {
		if o != nil {
			o(&r)
		}
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	if err := r.check(g); err != nil {
		return nil, err
	}
	for salt := range uint64(8) {
		b := newBuilder(salt)
		m := &Machine{graph: g, run: b.run, results: map[*graph.Node]*G.Node{}, steps: r.steps}
		for _, n := range r.wanted {
			m.results[n] = b.node(n, computedIn(n))
		}
		for _, u := range r.steps {
			m.results[u.Value] = b.node(u.Value, computedIn(u.Value))
		}
		if len(b.errs) > 0 {
			return nil, errors.Join(b.errs...)
		}
		if distinct(b.to.AllNodes()) {
			m.leaves = b.leaves
			if err := m.start(b.to); err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	return nil, fmt.Errorf("graph %q: gorgonia would merge different nodes, as its hashes of them are equal", g.Name())
}

// computedIn returns the float type of a node's translation: for a mask, that of the values it
// compares.
func computedIn(n *graph.Node) graph.DType {
	if n.DType() != graph.Bool {
		return n.DType()
	}
	for _, x := range graph.Reachable(n) {
		if x.DType().IsFloat() {
			return x.DType()
		}
	}
	return graph.F64
}

// start makes the machine.
func (m *Machine) start(to *G.ExprGraph) error {
	return m.guarded(func() error {
		m.vm = G.NewTapeMachine(to)
		return nil
	})
}

// guarded turns errors and panics of gorgonia outside of operations into errors that name the
// graph.
func (m *Machine) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			err = fmt.Errorf("graph %q: gorgonia fails: %s", m.graph.Name(), oneLine(err))
		}
	}()
	return f()
}

// Run does one run: it reads parameters and states from the store and inputs from the feed or their
// defaults, and writes the updates to the store at the end. On any error, and when ctx ends, the
// store is unchanged. An input is identified by its path, so that the nodes of a graph and of its
// rewritten form both work.
func (m *Machine) Run(ctx context.Context, feed tape.Feed, store *tape.Store) error {
	if m == nil || m.vm == nil {
		return errors.New("the machine is closed")
	}
	if store == nil {
		return errors.New("want a store, got nil")
	}
	m.ran = false
	if err := m.bind(feed, store); err != nil {
		return err
	}
	m.run.ctx, m.run.err = ctx, nil
	m.vm.Reset() // without it a second run does nothing
	if err := m.guarded(m.vm.RunAll); m.run.err != nil {
		return m.run.err // located, and the cause of err
	} else if err != nil {
		return err
	}
	values := make([]*tensor.Dense, len(m.steps))
	for i, u := range m.steps {
		var err error
		if values[i], err = m.read(u.Value, u.Target.Type()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, u := range m.steps { // the types are checked: this cannot fail
		if err := store.Set(u.Target.Path(), values[i]); err != nil {
			return err
		}
	}
	m.ran = true
	return nil
}

// bind gives the leaves their values, and checks that the store can take the updates.
func (m *Machine) bind(feed tape.Feed, store *tape.Store) error {
	fed := map[string]*tensor.Dense{}
	for n, t := range feed {
		if !n.IsValid() || n.Role() != graph.RoleInput || !m.hasInput(n.Path()) {
			return fmt.Errorf("feed: %v is no input of graph %q", n, m.graph.Name())
		}
		fed[n.Path()] = t
	}
	for _, l := range m.leaves {
		v, err := l.value(fed, store)
		if err != nil {
			return err
		}
		if err := G.Let(l.to, v); err != nil {
			return fmt.Errorf("%s: %w", l.n.Path(), err)
		}
	}
	for _, u := range m.steps {
		if _, err := stored(u.Target, computedIn(u.Target), store); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the store's value of a parameter or state.
func stored(n *graph.Node, dt graph.DType, store *tape.Store) (G.Value, error) {
	t, err := store.Get(n.Path())
	if err != nil {
		return nil, err
	}
	return bindable(n.Path(), n.Type(), dt, t)
}

// hasInput reports whether the graph has an input of that path, even if no result depends on it.
func (m *Machine) hasInput(path string) bool {
	n := m.graph.Lookup(path)
	return n != nil && n.Role() == graph.RoleInput
}

func (l leaf) value(fed map[string]*tensor.Dense, store *tape.Store) (G.Value, error) {
	path := l.n.Path()
	if l.n.Role() != graph.RoleInput {
		return stored(l.n, l.dt, store)
	}
	if t, ok := fed[path]; ok {
		return bindable("input "+path, l.n.Type(), l.dt, t)
	}
	if d, ok := l.n.Default(); ok {
		return constant(graph.Value{Type: graph.Type{DType: l.dt, Shape: l.n.Shape()}, Data: []float64{d}}), nil
	}
	return nil, fmt.Errorf("input %s of type %v is not fed", path, l.n.Type())
}

// Value returns a fetched value of the last run, as a tensor of its own. A node that was not
// fetched, and a machine that has not run, are errors.
func (m *Machine) Value(n *graph.Node) (*tensor.Dense, error) {
	if m == nil {
		return nil, errors.New("there is no machine: gorgonia.Compile makes one")
	}
	_, ok := m.results[n]
	switch {
	case !ok:
		return nil, fmt.Errorf("%v is not kept: name it in gorgonia.Fetch", n)
	case !m.ran:
		return nil, fmt.Errorf("%v has no value: no run has ended well", n)
	}
	return m.read(n, n.Type())
}

func (m *Machine) read(n *graph.Node, as graph.Type) (*tensor.Dense, error) {
	t, err := fetched(m.results[n].Value(), as)
	if err != nil {
		return nil, failure(n, err)
	}
	return t, nil
}

// Close ends the machine; a later Run is an error. Values read before stay valid.
func (m *Machine) Close() error {
	if m == nil || m.vm == nil {
		return nil
	}
	vm := m.vm
	m.vm, m.ran = nil, false
	return vm.Close()
}
