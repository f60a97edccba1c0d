package onnx_test

import (
	"context"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/tape"
)

// realModels is the variable with the folder of real models, which are fetched and not part of this
// repository: see docs/onnx.md.
const realModels = "TAPESTRY_ONNXMODELS"

// TestRuntimeRealModels imports each model of a folder and the folders in it. Its outputs are those of ONNX Runtime, where that is
// there, and the derivative of a loss by all weights is that of a difference quotient.
func TestRuntimeRealModels(t *testing.T) {
	var files []string
	if root := os.Getenv(realModels); root != "" {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".onnx" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Skip(realModels + " names no folder with models")
	}
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Log("without ONNX Runtime: ", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := onnx.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b := f.Builder()
			outputs := 1
			for _, h := range b.Hyperparameters {
				if h.Name == "output" {
					outputs = len(h.Choices)
				}
			}
			for i := range outputs {
				s := builders.Settings{"loss": float64(slices.Index(b.Hyperparameters[len(b.Hyperparameters)-1].Choices, "squares"))}
				if outputs > 1 {
					s["output"] = float64(i)
				}
				if rt != nil {
					agrees(t, rt, name, b, s, i)
				}
				if !slices.ContainsFunc([]float64{0.1, 1, 3, 0.01, 10, 30}, func(deviation float64) bool { return derivative(t, b, s, deviation) }) {
					t.Error("no input has a derivative that a difference quotient shows")
				}
			}
		})
	}
}

// agrees compares output i with that of ONNX Runtime.
func agrees(t *testing.T, rt *onnxruntime.Runtime, name string, b builders.Builder, s builders.Settings, i int) {
	var m *builders.Model
	var values, got graph.Values
	var err error
	for _, deviation := range []float64{0.1, 1, 3, 10} { // until a sigmoid says something
		m, values = example(t, b, s, graph.F32, deviation)
		if got, err = tape.NewStore(m.Graph).Eval(context.Background(), tape.Tensors(values), m.Output); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(got[m.Output].Data, func(v float64) bool { return math.Abs(v) > 1e-3 }) {
			break
		}
	}
	session, err := rt.LoadFile(name, onnxruntime.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	feed := map[string]onnxruntime.Array{}
	for _, v := range session.Inputs() {
		n := m.Graph.Lookup(v.Name)
		if n == nil { // known while the graph is built, or for other outputs only
			sizes := make([]int, len(v.Dims))
			elements := 1
			for k, d := range v.Dims {
				if sizes[k] = d.Size; d.Size < 0 {
					sizes[k] = 1
				}
				elements *= sizes[k]
			}
			if v.Type == onnxruntime.Int64 {
				feed[v.Name] = onnxruntime.Of([]int64{int64(m.Settings[v.Name])}, sizes...)
			} else {
				feed[v.Name] = onnxruntime.Of(make([]float32, elements), sizes...)
			}
			continue
		}
		a, err := onnxruntime.FromTensor(n.Type(), tape.Tensor(values[n]))
		if err != nil {
			t.Fatal(err)
		}
		feed[v.Name] = a
	}
	out, err := session.Run(context.Background(), feed)
	if err != nil {
		t.Fatal(err)
	}
	want := out[session.Outputs()[i].Name]
	if !slices.Equal(want.Shape, m.Output.Shape().Sizes()) {
		t.Fatalf("%v: want the shape %v", m.Output, want.Shape)
	}
	numbers, err := want.Floats()
	if err != nil {
		t.Fatal(err)
	}
	largest, worst := 0.0, 0.0
	for k, w := range numbers {
		largest, worst = math.Max(largest, math.Abs(w)), math.Max(worst, math.Abs(w-got[m.Output].Data[k]))
	}
	t.Logf("%v differs from ONNX Runtime's by %.1e of the largest element", m.Output, worst/largest)
	if !(worst <= 1e-4*largest+1e-6) { // theirs is 0 where a sigmoid is tiny
		t.Errorf("%v differs by %v, the largest element is %v", m.Output, worst, largest)
	}
}

// example returns a model with inputs of a standard deviation.
func example(t *testing.T, b builders.Builder, s builders.Settings, dt graph.DType, deviation float64) (*builders.Model, graph.Values) {
	m, err := b.Build(s, dt)
	if err != nil {
		t.Fatal(err)
	}
	values := m.Examples(rand.New(rand.NewPCG(1, 2)))
	for n, v := range values {
		if n.DType().IsFloat() {
			for i := range v.Data {
				v.Data[i] = n.DType().Round(v.Data[i] * deviation)
			}
		}
	}
	return m, values
}

// derivative compares the derivative by all weights, along a direction drawn, with a difference
// quotient. It reports whether there is one: where a sigmoid is saturated, all are noise.
func derivative(t *testing.T, b builders.Builder, s builders.Settings, deviation float64) bool {
	m, values := example(t, b, s, graph.F64, deviation)
	params := m.Params()
	if len(params) == 0 {
		t.Error("it has no parameters")
		return true
	}
	slopes := grad.Of(m.Loss, params...)
	if err := m.Graph.Err(); err != nil {
		t.Fatal(err)
	}
	p, err := tape.Compile(m.Graph, tape.Fetch(append(slopes, m.Loss)...))
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(m.Graph)
	vm, err := p.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	run := func() float64 {
		if err := vm.Run(context.Background(), tape.Tensors(values)); err != nil {
			t.Fatal(err)
		}
		v, err := vm.Value(m.Loss)
		if err != nil {
			t.Fatal(err)
		}
		return v.Data().(float64)
	}
	loss := run()
	rng, along := rand.New(rand.NewPCG(3, 4)), 0.0
	start, direction := make([][]float64, len(params)), make([][]float64, len(params))
	for i, n := range params {
		v, err := store.View(n.Path())
		if err != nil {
			t.Fatal(err)
		}
		start[i] = slices.Clone(v.Data().([]float64))
		slope, err := vm.Value(slopes[i])
		if err != nil {
			t.Fatal(err)
		}
		direction[i] = make([]float64, len(start[i]))
		for k, g := range slope.Data().([]float64) {
			direction[i][k] = math.Copysign(rng.Float64()*(math.Abs(start[i][k])+1e-3), g) // uphill
			along += g * direction[i][k]
		}
	}
	if along < 1e-8*loss {
		return false
	}
	at := func(ε float64) float64 {
		for i, n := range params {
			moved := graph.NewValue(n.Type())
			for k := range moved.Data {
				moved.Data[k] = start[i][k] + ε*direction[i][k]
			}
			if err := store.Set(n.Path(), tape.Tensor(moved)); err != nil {
				t.Fatal(err)
			}
		}
		return run()
	}
	// A kink between the points makes a quotient differ, and not the next with a smaller step.
	for _, ε := range []float64{1e-5, 1e-6, 1e-7, 1e-8} {
		if q := (at(ε) - at(-ε)) / (2 * ε); math.Abs(q-along) <= 0.02*math.Max(math.Abs(q), math.Abs(along)) {
			t.Logf("%v: derivative along a direction %.6g, difference quotient %.6g", m.Output, along, q)
			return true
		}
	}
	t.Errorf("%v: the derivative along a direction is %v, the difference quotients are others", m.Output, along)
	return true
}
