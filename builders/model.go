package builders

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Model is a graph made by the registry, with its quantities.
type Model struct {
	Builder  Builder
	Settings Settings // as used: with the defaults
	Graph    *graph.Graph
	Output   *graph.Node // what the model is for: a prediction, a context, a reconstruction
	Loss     *graph.Node // the objective, a float scalar; nil if the model has none
	Step     graph.Step  // what the model updates by itself: Lloyd's centres, running statistics

	// Examples makes a batch of the small task that the model can learn: a value
	// for every input without a default, drawn from rng alone.
	Examples func(rng *rand.Rand) graph.Values
	// Drawn lists the nodes that Examples computes in float64, if it evaluates a graph of its own;
	// nil otherwise.
	Drawn []*graph.Node

	// Rows is the data that the model is trained on instead of its own examples; nil for none.
	// Examples must be set as well, and then draws batches of them at random.
	Rows Rows
}

// Rows is data cut into batches for one model, with values for every input without a default. Equal
// arguments return equal batches, and several goroutines may call its methods at a time. Package
// fit makes one from tables and arrays.
type Rows interface {
	// Batch returns the feed of step 0, 1, … of a training from a seed.
	Batch(seed uint64, step int) (graph.Values, error)
	// Trained returns batch i of the training rows in their order, on which the gradient at the end
	// of a training is taken.
	Trained(i int) (graph.Values, error)
	// Held returns batch i of the rows on which a trained model is measured: those held out of
	// training or, if there are none, those of Trained.
	Held(i int) (graph.Values, error)
	// Batches returns the number of batches of an epoch, of Trained and of Held.
	Batches() (epoch, trained, held int)
	// String returns one line on the data and how they are cut.
	String() string
}

// Inputs lists the inputs without a default, which examples or data must give values, in order of
// creation.
func (m *Model) Inputs() []*graph.Node {
	if m == nil || m.Graph == nil {
		return nil
	}
	return slices.DeleteFunc(m.Graph.Leaves(graph.RoleInput), func(n *graph.Node) bool {
		_, has := n.Default()
		return has
	})
}

// Params lists the nodes that training changes, in order of creation: the parameters that the loss,
// or without one the output, depends on.
func (m *Model) Params() []*graph.Node {
	var out []*graph.Node
	for _, n := range graph.Reachable(m.Result()) {
		if n.Role() == graph.RoleParam {
			out = append(out, n)
		}
	}
	return out
}

// Centres returns the centres r[j d] of a clustering, a parameter or a state; nil for other models. A
// model is a clustering if it has a loss, one input x[i d] without a default, and one leaf that
// starts at rows of it ([initial.Rows]).
func (m *Model) Centres() *graph.Node {
	r, _ := m.clustering()
	return r
}

// Points returns the points x[i d] of a clustering, its input; nil for other models. See
// [Model.Centres].
func (m *Model) Points() *graph.Node {
	_, x := m.clustering()
	return x
}

// Gamma returns the scalar input γ of a clustering, its inverse temperature; nil for other models,
// and for a clustering without one.
func (m *Model) Gamma() *graph.Node {
	if m.Centres() == nil {
		return nil
	}
	if γ := m.Graph.Lookup("γ"); γ != nil && γ.Role() == graph.RoleInput && γ.Rank() == 0 {
		return γ
	}
	return nil
}

// clustering returns centres and points; nil where the model is no clustering.
func (m *Model) clustering() (r, x *graph.Node) {
	if m == nil || m.Graph == nil || m.Loss == nil {
		return nil, nil
	}
	of := ""
	for _, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		_, fixed := n.Default()
		path, starts := n.Initialiser().Input()
		switch {
		case starts && r == nil:
			r, of = n, path
		case n.Role() == graph.RoleInput && !fixed && x == nil:
			x = n
		case starts || n.Role() == graph.RoleInput && !fixed:
			return nil, nil
		}
	}
	if x == nil || r == nil || of != x.Path() || x.Rank() != 2 || r.Rank() != 2 {
		return nil, nil
	}
	return r, x
}

// OwnStep reports whether the model is trained by a step of its own alone, as Lloyd's algorithm is:
// its loss depends on states, and on no parameter.
func (m *Model) OwnStep() bool { return m != nil && len(m.Step) > 0 && len(m.Params()) == 0 }

// Result returns the loss, or the output of a model without a loss.
func (m *Model) Result() *graph.Node {
	if m.Loss != nil {
		return m.Loss
	}
	return m.Output
}

// Build makes the model called name with the given settings, in float32 or float64. A name or a
// setting that does not exist, a value that the setting's kind refuses, and sizes that do not go
// together are errors.
func Build(name string, settings Settings, dt graph.DType) (*Model, error) {
	b, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return b.Build(settings, dt)
}

// Build makes the model; see [Build].
func (b Builder) Build(settings Settings, dt graph.DType) (*Model, error) {
	s := Settings{}
	known := make([]string, len(b.Hyperparameters))
	for i, z := range b.Hyperparameters {
		s[z.Name] = z.Default
		known[i] = z.Name
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if _, ok := s[name]; !ok {
			return nil, fmt.Errorf("%s has no setting %q: it has %s", b.Name, name, strings.Join(known, ", "))
		}
		s[name] = settings[name]
	}
	for _, z := range b.Hyperparameters {
		if want := z.refuses(s[z.Name]); want != "" {
			return nil, fmt.Errorf("%s: %s = %v: want %s", b.Name, z.Name, s[z.Name], want)
		}
	}
	if !dt.IsFloat() {
		return nil, fmt.Errorf("%s: element type %v: want f32 or f64", b.Name, dt)
	}
	if b.make == nil {
		return nil, errors.New("there is no builder: Lookup gives one")
	}
	m := &Model{Builder: b, Settings: s, Graph: graph.New(b.Title)}
	b.make(s, dt, m)
	if err := m.Graph.Err(); err != nil {
		return m, fmt.Errorf("%s: %w", b.Name, err)
	}
	return m, nil
}
