package workload

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Workload is one training step on one batch.
type Workload struct {
	Name  string
	Graph *graph.Graph
	Loss  *graph.Node // a scalar; its value in a step is that before the step's update
	Step  graph.Step  // gradient descent on all parameters
	Feed  tape.Feed   // the batch, the same in every step

	initial map[string]graph.Value // by the path of the parameter
}

// build adds a workload's quantities to b and gives the loss and the learning rate.
type build func(b *builder) (loss *graph.Node, rate float64)

var registry = []struct {
	name  string
	build build
}{
	{"kmeans_softmax", kmeans("kmeans-softmax", 4096, 64, 64, 1)},
	{"kmeans_goofy", kmeans("kmeans-goofy", 4096, 64, 64, 1)},
	{"mlp", mlp},
	{"attention", attentionStep},
	{"small", kmeans("kmeans-softmax", 8, 2, 3, 0.1)},
	{"lstm", lstm},
	{"conv", conv},
	{"kmeans_large", kmeans("kmeans-softmax", 200_000, 32, 256, 1)},
}

// Names lists the workloads.
func Names() []string {
	out := make([]string, len(registry))
	for i, r := range registry {
		out[i] = r.name
	}
	return out
}

// Known is an error for a name that no workload has; it suggests the nearest.
func Known(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("unknown workload %q: did you mean %q?", name, spelling.Nearest(name, Names()))
}

// Build makes the workload called name in float32 or float64. An unknown name and
// another element type are errors.
func Build(name string, dt graph.DType) (*Workload, error) {
	if err := Known(name); err != nil {
		return nil, err
	}
	i := slices.Index(Names(), name)
	if !dt.IsFloat() {
		return nil, fmt.Errorf("%s: element type %v: want f32 or f64", name, dt)
	}
	b := &builder{Graph: graph.New(name), dt: dt, w: &Workload{Name: name, Feed: tape.Feed{}, initial: map[string]graph.Value{}}}
	w := b.w
	var rate float64
	w.Loss, rate = registry[i].build(b)
	w.Graph = b.Graph
	w.Step = train.SGD(rate).Minimize(w.Loss)
	return w, w.Graph.Err()
}

// Compile makes the program of the step, which fetches the loss. Further options
// come after these.
func (w *Workload) Compile(options ...tape.Option) (*tape.Program, error) {
	return tape.Compile(w.Graph, slices.Concat([]tape.Option{tape.Fetch(w.Loss), tape.Do(w.Step)}, options)...)
}

// Store makes a store with the starting values of the parameters.
func (w *Workload) Store() (*tape.Store, error) {
	s := tape.NewStore(w.Graph)
	for path, v := range w.initial {
		if err := s.Set(path, tape.Tensor(v)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// builder is a graph whose inputs and parameters come with their values.
type builder struct {
	*graph.Graph
	dt graph.DType
	w  *Workload
}

// input is a part of the batch: numbers in [−1, 1) from a seed.
func (b *builder) input(name string, seed uint64, axes ...graph.Axis) *graph.Node {
	x := b.Input(name, b.dt, axes...)
	b.feed(x, values(seed, x.Shape().Len(), 1))
	return x
}

// labels is a part of the batch: a class for each element of the axis.
func (b *builder) labels(name string, seed uint64, axis graph.Axis, classes int) *graph.Node {
	y := b.Input(name, graph.I64, axis)
	b.feed(y, labels(seed, axis.Size, classes))
	return y
}

func (b *builder) feed(x *graph.Node, data []float64) {
	b.w.Feed[x] = tape.Tensor(graph.Value{Type: x.Type(), Data: data})
}

// param is a parameter that starts with numbers in [−scale, scale) from a seed.
func (b *builder) param(name string, seed uint64, scale float64, axes ...graph.Axis) *graph.Node {
	p := b.Param(name, b.dt, axes...)
	b.start(p, values(seed, p.Shape().Len(), scale))
	return p
}

// start gives a parameter its starting value.
func (b *builder) start(p *graph.Node, data []float64) {
	b.w.initial[p.Path()] = graph.Value{Type: p.Type(), Data: data}
}
