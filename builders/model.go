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

// Model is a whole graph made by the registry.
type Model struct {
	Builder  Builder
	Settings Settings // as used: with the defaults
	Graph    *graph.Graph
	Output   *graph.Node // what the model is for: a prediction, a context, a reconstruction
	Loss     *graph.Node // the objective, a float scalar; nil if the model has none
	Step     graph.Step  // what the model updates by itself: Lloyd's centres, running statistics
	KMeans   *KMeans     // the quantities of a clustering objective; nil for other models

	// Examples makes a batch of the small task that the model can learn: a value
	// for every input without a default, drawn from rng alone.
	Examples func(rng *rand.Rand) Feed
	// Drawn are the nodes that Examples computes all of, in float64, where it evaluates a
	// graph of its own; nil where it does not.
	Drawn []*graph.Node

	// Rows are the data that the model is trained on in place of examples of its own; nil for
	// none. Examples, which is wanted as well, then draws batches of them at random.
	Rows Rows
}

// Rows are data cut into batches for one model: values for every input without a default. What it
// gives depends on the arguments alone, and several goroutines may ask at a time. Package fit makes
// them of tables and arrays.
type Rows interface {
	// Batch gives what step 0, 1, … of a training from a seed is fed.
	Batch(seed uint64, step int) (Feed, error)
	// Trained gives batch i of those that hold the rows of training in their order, on which the
	// gradient at the end of a training is taken.
	Trained(i int) (Feed, error)
	// Held gives batch i of those that a trained model is measured on: of rows kept from training
	// or, where none were kept, those of Trained.
	Held(i int) (Feed, error)
	// Batches says how many batches an epoch has, and how many there are of Trained and of Held.
	Batches() (epoch, trained, held int)
	// String says in one line which data they are, and how they are cut.
	String() string
}

// Feed gives inputs their values.
type Feed map[*graph.Node]graph.Value

// Params lists what training changes, in order of creation: the parameters that
// the loss, or else the output, depends on.
func (m *Model) Params() []*graph.Node {
	var out []*graph.Node
	for _, n := range graph.Reachable(m.Result()) {
		if n.Role() == graph.RoleParam {
			out = append(out, n)
		}
	}
	return out
}

// Result returns the loss, or the output of a model that has none.
func (m *Model) Result() *graph.Node {
	if m.Loss != nil {
		return m.Loss
	}
	return m.Output
}

// Build makes the model called name with the given settings, in float32 or
// float64. Unknown settings, values that their kind refuses, and sizes that do not
// go together are errors.
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
