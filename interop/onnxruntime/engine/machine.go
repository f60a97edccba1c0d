package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Machine is a graph in ONNX Runtime. It may be used by one goroutine at a time.
type Machine struct {
	graph   *graph.Graph
	session *onnxruntime.Session
	fetched []*graph.Node
	finite  []*graph.Node
	step    []graph.Update
	results []string               // the outputs that are asked for: of fetched, then of step
	inputs  []input                // of the session
	values  map[*graph.Node]result // of the last run; nil if none has ended well
}

// input is one of the model's: a leaf of the graph, or a draw.
type input struct {
	name string
	leaf *graph.Node
	draw *draw
}

type result = onnxruntime.Array

// Compile makes a machine that computes nodes and applies the updates of a step. The error holds every
// mistake made while building the graph, or an [onnx.Unsupported] with every node that ONNX cannot
// express. The store gives the model the values that its inputs have by default; nil stands for fresh
// ones.
func Compile(rt *onnxruntime.Runtime, g *graph.Graph, store *tape.Store, fetch []*graph.Node, step graph.Step, o onnxruntime.Options) (*Machine, error) {
	switch {
	case rt == nil:
		return nil, errors.New("the runtime is nil: onnxruntime.Open makes one")
	case g == nil:
		return nil, errors.New("the graph is nil")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	m := &Machine{graph: g, fetched: fetch, step: step}
	seen := map[*graph.Node]bool{}
	var roots []*graph.Node
	for _, u := range step {
		if seen[u.Target] {
			return nil, fmt.Errorf("%s is updated twice: compile a machine for each step", u.Target.Path())
		}
		seen[u.Target] = true
		roots = append(roots, u.Target, u.Value)
	}
	for _, n := range append(roots, fetch...) {
		if !n.IsValid() || n.Graph() != g {
			return nil, fmt.Errorf("%v is no node of graph %q", n, g.Name())
		}
	}
	prefix := "fetched/"
	for _, role := range []graph.Role{graph.RoleInput, graph.RoleParam, graph.RoleState} {
		for _, n := range g.Leaves(role) {
			for strings.HasPrefix(n.Path(), prefix) {
				prefix = "_" + prefix
			}
		}
	}
	var options []onnx.Option
	for i, n := range fetch {
		name := prefix + strconv.Itoa(i)
		options = append(options, onnx.As(name, n))
		m.results = append(m.results, name)
	}
	// A leaf that is only read is an input all the same, as the store may change: it is its own new value.
	all := step
	for _, n := range graph.Reachable(append(roots, fetch...)...) {
		if r := n.Role(); (r == graph.RoleParam || r == graph.RoleState) && !seen[n] {
			all = append(all[:len(all):len(all)], graph.Update{Target: n, Value: n})
		}
	}
	var model bytes.Buffer
	if err := onnx.Write(&model, g, store, append(options, onnx.Do(all))...); err != nil {
		return nil, err
	}
	var err error
	if m.session, err = rt.Load(model.Bytes(), o); err != nil {
		// ONNX Runtime's optimiser puts operators into float64 models that it has in float32 alone.
		o.AsWritten = true
		var again error
		if m.session, again = rt.Load(model.Bytes(), o); again != nil {
			return nil, err
		}
	}
	if err := m.connect(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// connect finds which leaf or draw each input is, and where the new values come out.
func (m *Machine) connect() error {
	var updates map[string]string
	var draws map[string]*draw
	if err := errors.Join(m.read("tapestry.updates", &updates), m.read("tapestry.draws", &draws)); err != nil {
		return err
	}
	for _, u := range m.step {
		name, ok := updates[u.Target.Path()]
		if !ok {
			return fmt.Errorf("the model does not say where the new value of %s comes out", u.Target.Path())
		}
		m.results = append(m.results, name)
	}
	for _, v := range m.session.Inputs() {
		in := input{name: v.Name}
		if in.draw = draws[v.Name]; in.draw != nil {
			in.draw.take(v)
		} else if in.leaf = m.graph.Lookup(v.Name); in.leaf == nil {
			return fmt.Errorf("the model has the input %v, which is no leaf of graph %q", v, m.graph.Name())
		}
		m.inputs = append(m.inputs, in)
	}
	return nil
}

// read decodes an entry of the model's metadata, if there is one.
func (m *Machine) read(key string, to any) error {
	text, err := m.session.Metadata(key)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("the model's %s: %w", key, err)
	}
	return nil
}

// CheckFinite makes a run fail, and change nothing, with a [tape.NotFinite] if one of the given
// scalars, which are fetched, is not finite.
func (m *Machine) CheckFinite(scalars ...*graph.Node) {
	if m != nil {
		m.finite = append(m.finite, scalars...)
	}
}

// Run does one run: it reads parameters and states from the store and inputs from the feed or their
// defaults, and writes the updates to the store at the end. On any error, and when ctx ends, the
// store is unchanged. An input is identified by its path, so that the nodes of a graph and of its
// rewritten form both work. A run draws what the tape would draw, and does not count among the
// store's steps and runs.
func (m *Machine) Run(ctx context.Context, feed tape.Feed, store *tape.Store) error {
	switch {
	case m == nil || m.session == nil:
		return errors.New("the machine is closed")
	case store == nil:
		return errors.New("want a store, got nil")
	}
	m.values = nil
	in, err := m.bind(feed, store)
	if err != nil {
		return err
	}
	out, err := m.session.Run(ctx, in, m.results...)
	if err != nil {
		return err
	}
	values := make(map[*graph.Node]result, len(m.fetched))
	for i, n := range m.fetched {
		values[n] = out[m.results[i]]
	}
	for _, n := range m.finite {
		if v, ok := values[n]; ok {
			if x, err := v.Floats(); err == nil && len(x) == 1 && (math.IsNaN(x[0]) || math.IsInf(x[0], 0)) {
				return &tape.NotFinite{Name: n.String(), Value: x[0]}
			}
		}
	}
	next := make([]*tensor.Dense, len(m.step))
	for i, u := range m.step {
		if next[i], err = out[m.results[len(m.fetched)+i]].Tensor(u.Target.Type()); err != nil {
			return fmt.Errorf("the new value of %s: %w", u.Target.Path(), err)
		}
		if _, ok := store.Type(u.Target.Path()); !ok {
			return fmt.Errorf("the store has no %s", u.Target.Path())
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, u := range m.step {
		if err := store.Set(u.Target.Path(), next[i]); err != nil {
			return err
		}
	}
	m.values = values
	return nil
}

// bind returns the model's inputs. What has a default may stay away.
func (m *Machine) bind(feed tape.Feed, store *tape.Store) (map[string]onnxruntime.Array, error) {
	fed := map[string]*tensor.Dense{}
	for n, t := range feed {
		if !n.IsValid() || n.Role() != graph.RoleInput || m.input(n.Path()) == nil {
			return nil, fmt.Errorf("feed: %v is no input of graph %q", n, m.graph.Name())
		}
		fed[n.Path()] = t
	}
	out := map[string]onnxruntime.Array{}
	for _, in := range m.inputs {
		if in.draw != nil {
			out[in.name] = in.draw.numbers(store, len(m.step) > 0)
			continue
		}
		path := in.leaf.Path()
		t, given := fed[path]
		if in.leaf.Role() != graph.RoleInput {
			var err error
			if t, err = store.View(path); err != nil {
				return nil, err
			}
		} else if _, has := in.leaf.Default(); has && !given {
			continue
		} else if !given {
			return nil, fmt.Errorf("input %s of type %v is not fed", path, in.leaf.Type())
		}
		a, err := onnxruntime.FromTensor(in.leaf.Type(), t)
		if err != nil {
			return nil, fmt.Errorf("%v %s: %w", in.leaf.Role(), path, err)
		}
		out[in.name] = a
	}
	return out, nil
}

// input returns the graph's input of a path, even if no result depends on it.
func (m *Machine) input(path string) *graph.Node {
	if n := m.graph.Lookup(path); n != nil && n.Role() == graph.RoleInput {
		return n
	}
	return nil
}

// Value returns a fetched value of the last run, as a tensor of its own. A node that was not
// fetched, and a machine that has not run, are errors.
func (m *Machine) Value(n *graph.Node) (*tensor.Dense, error) {
	a, err := m.array(n)
	if err != nil {
		return nil, err
	}
	return a.Tensor(n.Type())
}

// Float returns a fetched scalar of the last run.
func (m *Machine) Float(n *graph.Node) (float64, error) {
	a, err := m.array(n)
	if err != nil {
		return 0, err
	}
	x, err := a.Floats()
	if err == nil && len(x) != 1 {
		err = fmt.Errorf("%v is no scalar", n)
	}
	if err != nil {
		return 0, err
	}
	return x[0], nil
}

func (m *Machine) array(n *graph.Node) (result, error) {
	switch {
	case m == nil:
		return result{}, errors.New("there is no machine: engine.Compile makes one")
	case m.values == nil:
		return result{}, fmt.Errorf("%v has no value: no run has ended well", n)
	}
	a, ok := m.values[n]
	if !ok {
		return result{}, fmt.Errorf("%v is not kept: name it to engine.Compile", n)
	}
	return a, nil
}

// Close frees the model; a later Run is an error. Values read before stay valid.
func (m *Machine) Close() error {
	if m == nil || m.session == nil {
		return nil
	}
	s := m.session
	m.session, m.values = nil, nil
	return s.Close()
}
