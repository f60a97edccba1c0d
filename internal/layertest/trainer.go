package layertest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Trainer takes steps of an optimiser on a model, and those of the model itself.
type Trainer struct {
	*testing.T
	m     *builders.Model
	Store *tape.Store
	vm    *tape.VM
}

// NewTrainer returns a trainer of the model by an optimiser, from the initial values of a seed.
func NewTrainer(t *testing.T, m *builders.Model, o train.Optimiser, seed uint64) *Trainer {
	t.Helper()
	step := m.Step
	if params := m.Params(); len(params) > 0 {
		step = append(o.Minimize(m.Loss, params...), step...)
	}
	prog, err := tape.Compile(m.Graph, tape.Fetch(m.Loss), tape.Do(step))
	if err != nil {
		t.Fatalf("%s: %v", m.Builder.Name, err)
	}
	r := &Trainer{t, m, tape.NewStore(m.Graph, tape.Seed(seed)), nil}
	r.vm = tapetest.VM(t, prog, r.Store)
	t.Cleanup(r.vm.Close)
	return r
}

// Step takes a step on a batch and returns the loss before it.
func (r *Trainer) Step(batch graph.Values) float64 {
	r.Helper()
	if err := r.vm.Run(context.Background(), tape.Tensors(batch)); err != nil {
		r.Fatal(err)
	}
	return tapetest.Float(r.T, r.vm, r.m.Loss)
}

// Learn takes steps on fresh batches and returns the losses.
func (r *Trainer) Learn(steps int) []float64 {
	r.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	losses := make([]float64, steps)
	for i := range losses {
		losses[i] = r.Step(r.m.Examples(rng))
	}
	return losses
}

// Read returns what a parameter or a state has become.
func (r *Trainer) Read(path string) []float64 {
	r.Helper()
	d, err := r.Store.Get(path)
	if err != nil {
		r.Fatal(err)
	}
	return reftest.Value(r.m.Graph.Lookup(path).Type(), d).Data
}

// Outcome computes a node on the tape with what a store holds.
func Outcome(t *testing.T, store *tape.Store, n *graph.Node, batch graph.Values) []float64 {
	t.Helper()
	prog, err := tape.Compile(n.Graph(), tape.Fetch(n))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	if err := vm.Run(context.Background(), tape.Tensors(batch)); err != nil {
		t.Fatal(err)
	}
	v, err := vm.Value(n)
	if err != nil {
		t.Fatal(err)
	}
	return reftest.Value(n.Type(), v).Data
}

// Average returns the mean of numbers.
func Average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
