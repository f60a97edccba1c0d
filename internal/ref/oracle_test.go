package ref_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// The cases are values computed by PyTorch in float64: arrays, what a model
// makes of them, and the derivatives of its output "loss" by each array.

type array struct {
	Shape []int
	Data  []float64
}

type oracleCase struct {
	Name    string
	Attrs   map[string]json.RawMessage
	Ints    map[string]array
	Arrays  map[string]array
	Outputs map[string]array
	Grads   map[string]array
}

// outputs are named nodes of a case.
type outputs map[string]*graph.Node

// TestOracle: every case of every file, on the tape and by the definitions, in
// both float types. More files, of the same cases with other shapes and values,
// are read from TAPESTRY_ORACLE, separated by colons.
func TestOracle(t *testing.T) {
	files := []string{"testdata/torch.json"}
	if more := os.Getenv("TAPESTRY_ORACLE"); more != "" {
		files = append(files, strings.Split(more, ":")...)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			cases := readCases(t, file)
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) { runCase(t, c) })
			}
			for _, must := range []string{"kmeans_softmax", "kmeans_goofy", "kmeans_hard", "second_order"} {
				if !slices.ContainsFunc(cases, func(c oracleCase) bool { return c.Name == must }) {
					t.Errorf("%s is not in the file", must)
				}
			}
		})
	}
}

func readCases(t *testing.T, file string) []oracleCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var content struct{ Cases []oracleCase }
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return content.Cases
}

func runCase(t *testing.T, c oracleCase) {
	for dt, tol := range map[graph.DType]float64{graph.F64: 1e-9, graph.F32: 2e-4} {
		t.Run(dt.String(), func(t *testing.T) {
			switch b := newBuilder(t, c, dt); {
			case models[c.Name] != nil:
				b.checkModel(models[c.Name], tol)
			case optimisers[c.Name] != nil:
				b.checkTrajectory(optimisers[c.Name], tol)
			default:
				t.Fatalf("the case is not built")
			}
		})
	}
}

// builder makes one case's graph from its arrays.
type builder struct {
	*testing.T
	c    oracleCase
	dt   graph.DType
	g    *graph.Graph
	feed graph.Values
}

func newBuilder(t *testing.T, c oracleCase, dt graph.DType) *builder {
	return &builder{t, c, dt, graph.New(c.Name), graph.Values{}}
}

// array is the parameter of that name, with names for its axes where given.
func (b *builder) array(name string, axes ...string) *graph.Node {
	b.Helper()
	a, ok := b.c.Arrays[name]
	if !ok {
		b.Fatalf("no array %q", name)
	}
	if n := b.g.Lookup(name); n != nil {
		return n
	}
	d := graph.Dims(a.Shape...)
	for i, axis := range axes {
		d[i].Name = axis
	}
	n := b.g.Param(name, b.dt, d...)
	v := graph.Value{Type: n.Type(), Data: make([]float64, len(a.Data))}
	for i, x := range a.Data {
		v.Data[i] = b.dt.Round(x)
	}
	b.feed[n] = v
	return n
}

// ints is the integer input of that name.
func (b *builder) ints(name string) *graph.Node {
	b.Helper()
	a, ok := b.c.Ints[name]
	if !ok {
		b.Fatalf("no integers %q", name)
	}
	n := b.g.Input(name, graph.I64, graph.Dims(a.Shape...)...)
	b.feed[n] = graph.Value{Type: n.Type(), Data: a.Data}
	return n
}

// attr reads an attribute into v; a missing one leaves it.
func (b *builder) attr(name string, v any) {
	b.Helper()
	if raw, ok := b.c.Attrs[name]; ok {
		if err := json.Unmarshal(raw, v); err != nil {
			b.Fatalf("attribute %s: %v", name, err)
		}
	}
}

// number is a numeric attribute, or else the default.
func (b *builder) number(name string, otherwise float64) float64 {
	b.attr(name, &otherwise)
	return otherwise
}

// wsum is Σ y·cos(0, 1, 2, …), the loss of cases that name no other.
func (b *builder) wsum(y *graph.Node) *graph.Node {
	w := make([]float64, y.Shape().Len())
	for i := range w {
		w[i] = math.Cos(float64(i))
	}
	return ops.Sum(ops.Mul(y, b.g.Constant(y.DType(), w, graph.Dims(y.Shape().Sizes()...)...)))
}

// checkModel compares outputs and gradients, and demands all that the case states.
func (b *builder) checkModel(model func(*builder) outputs, tol float64) {
	b.Helper()
	out := model(b)
	loss := out["loss"]
	var names []string
	var nodes []*graph.Node
	var want [][]float64
	for _, name := range slices.Sorted(maps.Keys(b.c.Outputs)) {
		if out[name] == nil {
			b.Fatalf("the model has no output %q", name)
		}
		names, nodes, want = append(names, name), append(nodes, out[name]), append(want, b.c.Outputs[name].Data)
		if got := out[name].Shape().Sizes(); !slices.Equal(got, b.c.Outputs[name].Shape) {
			b.Fatalf("%s has shape %v, want %v: %v", name, got, b.c.Outputs[name].Shape, b.g.Err())
		}
	}
	var assign []float64 // the one expected result that stands among the attributes
	if b.attr("assign", &assign); assign != nil {
		names, nodes, want = append(names, "assign"), append(nodes, out["assign"]), append(want, assign)
	}
	arrays := slices.Sorted(maps.Keys(b.c.Grads))
	wrt := make([]*graph.Node, len(arrays))
	for i, name := range arrays {
		wrt[i] = b.array(name)
	}
	for i, d := range grad.Of(loss, wrt...) {
		names, nodes, want = append(names, "∂loss/∂"+arrays[i]), append(nodes, d), append(want, b.c.Grads[arrays[i]].Data)
	}
	if err := b.g.Err(); err != nil {
		b.Fatal(err)
	}
	byDefinition, err := ref.Eval(trait.Env{}, b.feed, nodes...)
	if err != nil {
		b.Fatal(err)
	}
	onTape, err := reftest.Tape(0, b.feed, nodes)
	if err != nil {
		b.Fatal(err)
	}
	terms := 0.0 // a loss may be a small sum of large terms, each of whose operands float32 rounds
	for _, a := range b.c.Outputs {
		if b.dt == graph.F32 {
			terms = max(terms, reftest.Largest(a.Data))
		}
	}
	for i, name := range names {
		scale := reftest.Largest(want[i])
		if name == "loss" {
			scale = max(scale, terms)
		}
		b.near("ref: "+name, byDefinition[i].Data, want[i], tol*scale)
		b.near("tape: "+name, onTape[i].Data, want[i], tol*scale)
	}
}

func (b *builder) near(what string, got, want []float64, tol float64) {
	b.Helper()
	if err := reftest.Near(got, want, tol); err != nil {
		b.Errorf("%s: %v", what, err)
	}
}

// TestOracleNames: the file holds what it should, and no name is built for nothing.
func TestOracleNames(t *testing.T) {
	known := map[string]bool{}
	for _, c := range readCases(t, "testdata/torch.json") {
		known[c.Name] = true
	}
	if len(known) != 56 {
		t.Errorf("%d cases, want 56", len(known))
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(models)), slices.Collect(maps.Keys(optimisers))) {
		if !known[name] {
			t.Errorf("no case is called %s", name)
		}
	}
}
