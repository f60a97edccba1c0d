package workload

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Workload is one training step on one batch, or an evaluation of some arrays.
type Workload struct {
	Name  string
	Graph *graph.Graph
	Loss  *graph.Node // a scalar, nil in an evaluation; its value in a step is that before the step's update
	Step  graph.Step  // gradient descent on all parameters
	Feed  tape.Feed   // the batch, the same in every step

	outputs []*graph.Node // what an evaluation computes
	starts  []start       // of the parameters, in the order of their making
}

// start is how a parameter starts.
type start struct {
	node   *graph.Node
	values func() []float64 // made when they are wanted: some are hundreds of megabytes
}

// build adds a workload's quantities to b and gives the loss and the learning rate, or what
// b.outputs does.
type build func(b *builder) (loss *graph.Node, rate float64)

// The element types that workloads are timed in.
var single, double, both = []graph.DType{graph.F32}, []graph.DType{graph.F64}, []graph.DType{graph.F32, graph.F64}

var registry = []struct {
	name  string
	types []graph.DType
	build build
}{
	{"kmeans_softmax", both, kmeans("kmeans-softmax", 4096, 64, 64, 1)},
	{"kmeans_goofy", both, kmeans("kmeans-goofy", 4096, 64, 64, 1)},
	{"mlp", single, mlp},
	{"attention", single, attentionStep},
	{"small", single, kmeans("kmeans-softmax", 8, 2, 3, 0.1)},
	{"lstm", single, lstm},
	{"conv", single, conv},
	{"kmeans_large", both, kmeans("kmeans-softmax", 200_000, 32, 256, 1)},
	{"reprojection", double, reprojection(100, 5000, 50_000)},
	{"chain", double, chain(544)},
	{"lstm-small", double, lstmSmall(1024, 14, 2)},
	{"mixture", double, mixture(10_000, 32, 100)},
	{"logreg", both, logreg(16_384, 256)},
	{"embedding", single, embedding(1_000_000, 64, 4096, 8)},
	{"softmax-short", both, softmaxShort(100_000)},
	{"triangular", double, triangular(2000, 16)},
	{"resnet18", single, resNet18Step(resNet18{224, 1000}, 4)},
	{"gpt2-small", single, gpt2Step(gpt2{256, 50257, 768, 12, 12})},
}

// Names lists the workloads.
func Names() []string {
	out := make([]string, len(registry))
	for i, r := range registry {
		out[i] = r.name
	}
	return out
}

// Types are the element types that the workload called name is timed in; it can be built in others.
func Types(name string) []graph.DType {
	if i := slices.Index(Names(), name); i >= 0 {
		return registry[i].types
	}
	return nil
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
	if !dt.IsFloat() {
		return nil, fmt.Errorf("%s: element type %v: want f32 or f64", name, dt)
	}
	return made(name, dt, registry[slices.Index(Names(), name)].build)
}

// made is a workload of any size.
func made(name string, dt graph.DType, build build) (*Workload, error) {
	b := &builder{Graph: graph.New(name), dt: dt, w: &Workload{Name: name, Feed: tape.Feed{}}}
	w := b.w
	var rate float64
	w.Loss, rate = build(b)
	w.Graph = b.Graph
	if w.Loss != nil {
		w.Step = train.SGD(rate).Minimize(w.Loss)
	}
	if b.net != nil {
		w.Step = append(w.Step, b.net.Step...) // running statistics
	}
	return w, w.Graph.Err()
}

// Compile makes the program of the step, which fetches the loss, or of the evaluation. Further
// options come after these.
func (w *Workload) Compile(options ...tape.Option) (*tape.Program, error) {
	fetched := w.outputs
	if w.Loss != nil {
		fetched = []*graph.Node{w.Loss}
	}
	return tape.Compile(w.Graph, slices.Concat([]tape.Option{tape.Fetch(fetched...), tape.Do(w.Step)}, options)...)
}

// Store makes a store with the starting values of the parameters.
func (w *Workload) Store() (*tape.Store, error) {
	s := tape.NewStore(w.Graph)
	for _, p := range w.starts {
		if err := s.Set(p.node.Path(), tape.Tensor(graph.Value{Type: p.node.Type(), Data: p.values()})); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// builder is a graph whose inputs and parameters come with their values.
type builder struct {
	*graph.Graph
	dt  graph.DType
	w   *Workload
	net *train.Net // what is trained, if it is one
}

// input is a part of the batch: numbers in [−1, 1) from a seed.
func (b *builder) input(name string, seed uint64, axes ...graph.Axis) *graph.Node {
	x := b.Input(name, b.dt, axes...)
	b.feed(x, values(seed, x.Shape().Len(), 1))
	return x
}

// labels is a part of the batch: whole numbers in [0, classes) from a seed.
func (b *builder) labels(name string, seed uint64, classes int, axes ...graph.Axis) *graph.Node {
	y := b.Input(name, graph.I64, axes...)
	b.feed(y, labels(seed, y.Shape().Len(), classes))
	return y
}

func (b *builder) feed(x *graph.Node, data []float64) {
	b.w.Feed[x] = tape.Tensor(graph.Value{Type: x.Type(), Data: data})
}

// param is a parameter that starts with numbers in [−scale, scale) from a seed.
func (b *builder) param(name string, seed uint64, scale float64, axes ...graph.Axis) *graph.Node {
	p := b.Param(name, b.dt, axes...)
	b.start(p, func() []float64 { return values(seed, p.Shape().Len(), scale) })
	return p
}

// zeros is a parameter that starts at zero.
func (b *builder) zeros(name string, axes ...graph.Axis) *graph.Node {
	p := b.Param(name, b.dt, axes...)
	b.start(p, func() []float64 { return make([]float64, p.Shape().Len()) })
	return p
}

// start gives a parameter its starting values.
func (b *builder) start(p *graph.Node, values func() []float64) {
	b.w.starts = append(b.w.starts, start{p, values})
}

// outputs makes the workload an evaluation of nodes.
func (b *builder) outputs(of ...*graph.Node) (*graph.Node, float64) {
	b.w.outputs = of
	return nil, 0
}
