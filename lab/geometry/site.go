package geometry

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Site is a point in the parameter space of a model: the model, what it is fed, and the values of
// its parameters.
//
// The parameters are those that training changes ([lab.Trained]), or the centres of a clustering,
// all of them float tensors. A parameter vector has their elements one parameter after the other,
// each in row-major order. Methods work on a copy of the graph in which the parameters are inputs,
// so that the model, the feed and the store never change. Random draws are those of the store's
// step, the same for every parameter vector.
type Site struct {
	Name  string // in tables and errors; by default the name of the model's builder
	Model *builders.Model
	Feed  tape.Feed   // inputs of the model: at least those without a default
	Store *tape.Store // parameters and states
	// Stepped, if set, is called after every piece of work: a training step, a product with the
	// Hessian, a transformation, an evaluation. It gets the number of pieces done, the largest
	// number there may be, and the name of the work. For work on several sites the first site's is
	// called. It may be called from several goroutines at a time.
	Stepped func(done, of int, what string)
}

// NewSite returns a model with the fresh parameters of [lab.NewStore], fed with a batch of its own
// examples: where [lab.Learn] begins. A model without examples, or without the memory for a batch,
// is an error.
func NewSite(m *builders.Model, seed uint64) (Site, error) {
	if m == nil || m.Graph == nil {
		return Site{}, errors.New("site: there is no model")
	}
	s := Site{Model: m, Feed: tape.Feed{}}
	if m.Examples == nil {
		return s, fmt.Errorf("%s has no examples to be fed with", s.name())
	}
	if err := m.Room(); err != nil {
		return s, err
	}
	feed, err := lab.Examples(m, seed, 0)
	if err != nil {
		return s, err
	}
	s.Feed = feed
	s.Store, err = lab.NewStore(m, seed)
	return s, err
}

// ClusterSite returns a clustering of k centres, of element type dt, fed with all rows of a table.
// The centres start as k-means++ draws them from seed ([lab.PlusPlus]), the same for every model.
// The inverse temperature γ is constant; 0 stands for [lab.SteadyGamma]. A k that is not from 1 to the number of rows, a model that is no clustering
// and values that dt cannot hold are errors.
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
	s := Site{Model: m, Feed: tape.Feed{m.Points(): x}, Store: tape.NewStore(m.Graph, tape.Seed(seed))}
	if m.Gamma() != nil {
		if gamma == 0 {
			gamma = lab.SteadyGamma(t, k)
		}
		s.Feed[m.Gamma()] = tape.Scalar(dt, gamma)
	}
	r := m.Centres()
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

// Parameters returns the nodes whose values make the parameter vector; nil for a site without a
// model, a store, a loss or anything to train.
func (s Site) Parameters() []*graph.Node {
	out, err := s.parameters()
	if err != nil {
		return nil
	}
	return out
}

// parameters returns the nodes whose values make the parameter vector.
func (s Site) parameters() ([]*graph.Node, error) {
	switch {
	case s.Model == nil || s.Model.Graph == nil || s.Store == nil:
		return nil, fmt.Errorf("%s: a site wants a model and a store", s.name())
	case s.Model.Graph.Err() != nil:
		return nil, s.Model.Graph.Err()
	case s.Model.Loss == nil:
		return nil, fmt.Errorf("%s has no loss", s.name())
	case s.Model.Loss.Rank() != 0 || !s.Model.Loss.DType().IsFloat():
		return nil, fmt.Errorf("%s: the loss is %v: want a float scalar", s.name(), s.Model.Loss)
	case s.Model.Centres() != nil:
		return []*graph.Node{s.Model.Centres()}, nil
	}
	if out := lab.Trained(s.Model); len(out) > 0 {
		return out, nil
	}
	return nil, fmt.Errorf("%s has nothing to train: its loss depends on no parameter", s.name())
}

// SameParameters reports whether the parameters of two sites agree in path and type, so that a
// parameter vector of one is a parameter vector of the other.
func (s Site) SameParameters(other Site) bool {
	a, errA := s.parameters()
	b, errB := other.parameters()
	return errA == nil && errB == nil && slices.EqualFunc(a, b, func(p, q *graph.Node) bool { return p.Path() == q.Path() && p.Type() == q.Type() })
}
