package geometry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Site is where the geometry of an objective is looked at: a model, what it is fed,
// and the values of its parameters. See [Surface], [Field], [Angles], [Site.Curvature],
// [Site.Invariance] and [Site.Collapse].
//
// The parameters are those that training changes, or the centres of a clustering. All
// is done on a copy of the graph, in which they are inputs: the model's own graph, the
// feed and the store are never changed. Random draws are those of the store's step,
// the same at every place.
type Site struct {
	Name  string // in tables; "" stands for the name of the model's builder
	Model *builders.Model
	Feed  tape.Feed   // inputs of the model: all without a default, at least
	Store *tape.Store // parameters and states
	// Stepped is called after every piece of work at the site: a step of training, a product
	// with the Hessian, a motion, a place. It tells how many are done, of how many at most,
	// and of what; of work at several sites together that of the first. Pieces may be done by
	// several goroutines at a time.
	Stepped func(done, of int, what string)
}

// NewSite is a model at fresh parameters, fed with examples of its own, as [Learn]
// begins with from the seed.
func NewSite(m *builders.Model, seed uint64) (Site, error) {
	if m == nil || m.Graph == nil {
		return Site{}, errors.New("site: there is no model")
	}
	s := Site{Model: m, Feed: tape.Feed{}, Store: tape.NewStore(m.Graph, tape.Seed(seed))}
	if m.Examples == nil {
		return s, fmt.Errorf("%s has no examples to be fed with", s.name())
	}
	if err := m.Room(); err != nil {
		return s, err
	}
	feed, err := lab.Examples(m, seed, 0)
	if err == nil {
		s.Feed = feed
	}
	return s, err
}

// ClusterSite is a clustering on all rows of a table, from the start centres of a seed
// ([PlusPlus]). The temperature is constant; 0 stands for 5·k/s², where
// s is the scale of the data, at which most points belong to one centre and those
// between two to both. All clusterings have the same start.
func ClusterSite(t *data.Table, b builders.Builder, k int, gamma float64, seed uint64, dt graph.DType) (Site, error) {
	if t == nil || k < 1 || k > t.Rows() {
		return Site{}, fmt.Errorf("%s: k = %d: want a table of as many rows", b.Name, k)
	}
	settings, err := lab.ClusteringSettings(b, t.Rows(), len(t.Columns), k)
	if err != nil {
		return Site{}, err
	}
	m, err := b.Build(settings, dt)
	if err != nil {
		return Site{}, err
	}
	float := tensor.Float64
	if dt == graph.F32 {
		float = tensor.Float32
	}
	x, err := t.Dense(float)
	if err != nil {
		return Site{}, err
	}
	s := Site{Model: m, Feed: tape.Feed{m.KMeans.Points: x}, Store: tape.NewStore(m.Graph, tape.Seed(seed))}
	if m.KMeans.Gamma != nil {
		if gamma == 0 {
			u := lab.Scale(t)
			gamma = 5 * float64(k) / (u * u)
		}
		s.Feed[m.KMeans.Gamma] = tape.Scalar(dt, gamma)
	}
	r := m.KMeans.Centres
	return s, s.Store.Set(r.Path(), tape.Tensor(graph.Value{Type: r.Type(), Data: lab.Centres(t, k, lab.PlusPlus, seed)}))
}

func (s Site) name() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Model != nil && s.Model.Builder.Name != "":
		return s.Model.Builder.Name
	}
	return "the objective"
}

// parameters are the nodes whose values make the place.
func (s Site) parameters() ([]*graph.Node, error) {
	switch {
	case s.Model == nil || s.Model.Graph == nil || s.Store == nil:
		return nil, fmt.Errorf("%s: a site wants a model and a store", s.name())
	case s.Model.Graph.Err() != nil:
		return nil, s.Model.Graph.Err()
	case s.Model.KMeans != nil:
		return []*graph.Node{s.Model.KMeans.Centres}, nil
	case s.Model.Loss == nil:
		return nil, fmt.Errorf("%s has no loss", s.name())
	}
	if out := lab.Trained(s.Model); len(out) > 0 {
		return out, nil
	}
	return nil, fmt.Errorf("%s has nothing to train: its loss depends on no parameter", s.name())
}

// SameParameters reports whether the parameters of two sites have equal paths and types,
// so that one place is a place for both.
func (s Site) SameParameters(other Site) bool {
	a, errA := s.parameters()
	b, errB := other.parameters()
	return errA == nil && errB == nil && slices.EqualFunc(a, b, func(p, q *graph.Node) bool { return p.Path() == q.Path() && p.Type() == q.Type() })
}

// Trajectory is the way that the parameters take in a training.
type Trajectory struct {
	Site Site        // where it ends
	Path [][]float64 // the values of all parameters, one parameter after the other, before each step and at the end
	Loss []float64   // of each step, before its update
}

// Train trains from the site, on what it is fed in every step, and records the way. A
// model that updates its parameters by itself, such as Lloyd's algorithm, does so.
func (s Site) Train(ctx context.Context, o train.Optimiser, steps int) (*Trajectory, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	if steps < 0 || o.IsZero() {
		return nil, fmt.Errorf("%s: training wants an optimiser, and no negative number of steps", s.name())
	}
	roots := []*graph.Node{s.Model.Loss}
	for _, u := range s.Model.Step {
		roots = append(roots, u.Target, u.Value)
	}
	g, copies := copied(s.Model.Graph.Name(), nil, roots...)
	net := &train.Net{Loss: copies[s.Model.Loss], Params: []*graph.Node{}}
	for _, u := range s.Model.Step {
		net.Step = append(net.Step, g.Assign(copies[u.Target], copies[u.Value]))
	}
	for _, p := range lab.Trained(s.Model) {
		net.Params = append(net.Params, copies[p])
	}
	t := &Trajectory{Site: s}
	t.Site.Store = s.Store.Clone()
	first := t.Site.Store.Step()
	trainer := (&train.Trainer{Optimiser: o, Build: func(int, train.Mode) *train.Net { return net }}).With(t.Site.Store)
	defer trainer.Close()
	if _, err := trainer.Prepare(ctx, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	work := s.work(steps, s.name()+", training")
	place := func() error {
		at, err := valuesOf(t.Site.Store, params)
		t.Path = append(t.Path, at)
		return err
	}
	if err := place(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	if steps == 0 {
		return t, nil
	}
	fed := map[string]*tensor.Dense{}
	for n, v := range s.Feed {
		fed[n.Path()] = v
	}
	run := train.Run{
		Trainer: trainer, Steps: int(first) + steps,
		Data: data.Generated("the site", 1, func(int) (map[string]*tensor.Dense, error) { return fed, nil }),
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			t.Loss = append(t.Loss, e.Loss)
			work.piece()
			return place()
		})},
	}
	if err := run.Do(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	return t, nil
}

// Start is the site where the training began.
func (t *Trajectory) Start() (Site, error) {
	if t == nil {
		return Site{}, errors.New("there is no track to start")
	}
	s := t.Site
	params, err := s.parameters()
	if err != nil || len(t.Path) == 0 {
		return s, err
	}
	s.Store = s.Store.Clone()
	at, want := t.Path[0], 0
	for _, p := range params {
		want += p.Shape().Len()
	}
	if len(at) != want {
		return s, fmt.Errorf("%s: the way begins with %d values, and the parameters have %d", s.name(), len(at), want)
	}
	for _, p := range params {
		size := p.Shape().Len()
		if err := s.Store.Set(p.Path(), tape.Tensor(graph.Value{Type: p.Type(), Data: at[:size]})); err != nil {
			return s, err
		}
		at = at[size:]
	}
	return s, nil
}

// copied copies what the roots depend on into a graph of its own, with inputs in place
// of the given nodes.
func copied(name string, inputs []*graph.Node, roots ...*graph.Node) (*graph.Graph, map[*graph.Node]*graph.Node) {
	g, copies := graph.New(name), map[*graph.Node]*graph.Node{}
	for _, n := range inputs {
		copies[n] = g.Input(n.Path(), n.DType(), n.Shape().Axes()...)
	}
	for _, n := range graph.Reachable(roots...) {
		if copies[n] != nil {
			continue
		}
		in := n.Inputs()
		for i, x := range in {
			in[i] = copies[x]
		}
		copies[n] = g.Copy(n, in)
	}
	return g, copies
}

// feedOf is what is fed to the copies.
func feedOf(feed tape.Feed, copies map[*graph.Node]*graph.Node) tape.Feed {
	out := tape.Feed{}
	for n, t := range feed {
		if c := copies[n]; c != nil {
			out[c] = t
		}
	}
	return out
}

// valuesOf are the values of parameters in a store, one parameter after the other.
func valuesOf(s *tape.Store, params []*graph.Node) ([]float64, error) {
	var out []float64
	for _, p := range params {
		t, err := s.Get(p.Path())
		if err != nil {
			return nil, err
		}
		v, err := floats(p.Type(), t)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}
