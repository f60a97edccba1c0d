package onnx_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// A net of PyTorch's: Linear(4, 16), Tanh, Linear(16, 3), with a size "batch" that is open.
func ExampleOpen() {
	f, err := onnx.Open("testdata/net.onnx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	m, err := f.Build(builders.Settings{"batch": 32, "loss": 3}, graph.F32) // crossentropy
	if err != nil {
		fmt.Println(err)
		return
	}
	d := grad.Of(m.Loss, m.Params()...)
	fmt.Println(m.Output, m.Loss, d[0])
	// Output: scores[batch=32 3] loss[] ∂loss/∂weight[4 16]
}

func net(t *testing.T) *onnx.File {
	t.Helper()
	f, err := onnx.Open("testdata/net.onnx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestSettings: what a file leaves open is a setting, and a loss can be chosen.
func TestSettings(t *testing.T) {
	b := net(t).Builder()
	var names []string
	for _, h := range b.Hyperparameters {
		names = append(names, fmt.Sprintf("%s=%s %v", h.Name, h.Format(h.Default), h.Kind))
	}
	if want := []string{"batch=1 count", "loss=none choice"}; !slices.Equal(names, want) {
		t.Errorf("settings are %v: want %v", names, want)
	}
	if !b.Batched() || b.Formula != "scores = net(x)" {
		t.Errorf("batched %v, formula %q", b.Batched(), b.Formula)
	}
	for loss, input := range map[float64]string{0: "", 1: "", 2: "target", 3: "label"} {
		m, err := b.Build(builders.Settings{"loss": loss, "batch": 5}, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if (m.Loss == nil) != (loss == 0) || m.Output.Type().String() != "f64[batch=5 3]" || m.Output.Name() != "scores" {
			t.Errorf("loss %v: the loss is %v and the output %v", loss, m.Loss, m.Output)
		}
		values, err := m.Draw(rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		for n, v := range values {
			if n.Path() != "x" && n.Path() != input {
				t.Errorf("loss %v: there is an input %v", loss, n)
			}
			if n.Path() == "label" && (slices.Min(v.Data) < 0 || slices.Max(v.Data) > 2 || slices.Max(v.Data) == 0) {
				t.Errorf("labels are %v: want indices below 3", v.Data)
			}
		}
	}
}

// TestWeights: a store of any seed starts at the weights of the file, those of Gemm transposed.
func TestWeights(t *testing.T) {
	f := net(t)
	m, err := f.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/net.onnx")
	if err != nil {
		t.Fatal(err)
	}
	file, err := format.Read(bytes.NewReader(raw), int64(len(raw)), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(m.Graph, tape.Seed(99))
	for _, w := range file.Graph.Init {
		want, err := w.Floats()
		if err != nil {
			t.Fatal(err)
		}
		got, err := store.View(onnx.Path(w.Name))
		if err != nil {
			t.Fatal(err)
		}
		shape, data := got.Shape(), got.Data().([]float32)
		for i, v := range want {
			at := i
			if len(w.Dims) == 2 { // of [out in] here [in out]
				out, in := int(w.Dims[0]), int(w.Dims[1])
				if at = i%in*out + i/in; shape[0] != in || shape[1] != out {
					t.Fatalf("%s is %v here: want [%d %d]", w.Name, shape, in, out)
				}
			}
			if float64(data[at]) != v {
				t.Fatalf("%s differs at %d", w.Name, i)
			}
		}
	}
}

// fileOf returns a model as a file.
func fileOf(t *testing.T, g *format.Graph) *onnx.File {
	t.Helper()
	var b bytes.Buffer
	if err := (&format.Model{IR: 8, Opsets: map[string]int64{"": 17}, Graph: g}).Write(&b); err != nil {
		t.Fatal(err)
	}
	f, err := onnx.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "m.onnx")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func value(name string, elem format.DataType, dims ...format.Dim) *format.Value {
	return &format.Value{Name: name, Type: &format.Type{Elem: elem, Ranked: true, Dims: dims}}
}

func size(n int64) format.Dim     { return format.Dim{Size: n} }
func symbol(s string) format.Dim  { return format.Dim{Size: -1, Symbol: s} }
func meaning(s string) format.Dim { return format.Dim{Size: 2, Denotation: s} }
func ends(o ...string) (out []*format.Value) {
	for _, name := range o {
		out = append(out, &format.Value{Name: name})
	}
	return out
}

// TestAxes: axes are named by denotations and symbols, unless these contradict each other.
func TestAxes(t *testing.T) {
	sum := func(x, y format.Dim) *format.Graph {
		g := &format.Graph{Inputs: []*format.Value{value("x", format.Float, x), value("y", format.Float, y)}, Nodes: []*format.Node{{Op: "Add", Inputs: []string{"x", "y"}, Outputs: []string{"z"}}}, Outputs: ends("z")}
		return g
	}
	for want, g := range map[string]*format.Graph{
		"z[time=2]": sum(meaning("time"), meaning("time")), "z[n=8]": sum(symbol("n"), symbol("n")), "z[2]": sum(meaning("time"), meaning("place")), "z[8]": sum(symbol("a b"), symbol("a b")),
	} {
		m, err := fileOf(t, g).Build(nil, graph.F32)
		if want == "z[n=8]" {
			want = "z[n=1]" // a batch
		}
		if want == "z[8]" {
			want = "z[1]"
		}
		if err != nil || m.Output.String() != want {
			t.Errorf("the output is %v (%v): want %s", m.Output, err, want)
		}
	}
}

// TestOutputs: of several outputs one is chosen, what it does not depend on is left out, and a
// scalar is a loss.
func TestOutputs(t *testing.T) {
	f := fileOf(t, &format.Graph{
		Inputs: []*format.Value{value("x", format.Float, size(3)), value("z", format.Float, size(3))},
		Nodes: []*format.Node{
			{Op: "Tanh", Inputs: []string{"x"}, Outputs: []string{"mid"}}, {Op: "Nonsense", Inputs: []string{"z"}, Outputs: []string{"other"}},
			{Op: "ReduceSum", Inputs: []string{"mid"}, Outputs: []string{"cost"}, Attrs: []*format.Attr{{Name: "keepdims", Type: format.AttrInt}}},
		},
		Outputs: []*format.Value{value("mid", format.Float, size(3)), value("other", format.Float, size(3)), value("cost", format.Float)},
	})
	m, err := f.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	if m.Output.Name() != "mid" || m.Loss.Name() != "cost" || len(m.Inputs()) != 1 {
		t.Errorf("output %v, loss %v, inputs %v", m.Output, m.Loss, m.Inputs())
	}
	_, err = f.Build(builders.Settings{"output": 1}, graph.F32)
	if want := `m.onnx: import: byte 27: Nonsense "": there is no such operator here`; err == nil || !strings.Contains(err.Error(), `: Nonsense "": there is no such operator here`) {
		t.Errorf("the error is %v: want %s", err, want)
	}
}

// TestInteger: an input that is one integer may be known, and is what a branch asks for by default.
func TestInteger(t *testing.T) {
	branch := func(op string) *format.Graph {
		return &format.Graph{Nodes: []*format.Node{{Op: op, Inputs: []string{"x"}, Outputs: []string{"r" + op}}}, Outputs: ends("r" + op)}
	}
	f := fileOf(t, &format.Graph{
		Inputs: []*format.Value{value("x", format.Float, size(1)), value("rate", format.Int64)},
		Init:   []*format.Tensor{format.IntsOf("sixteen", nil, 16)},
		Nodes: []*format.Node{
			{Op: "Equal", Inputs: []string{"rate", "sixteen"}, Outputs: []string{"c"}},
			{Op: "If", Inputs: []string{"c"}, Outputs: []string{"y"}, Attrs: []*format.Attr{{Name: "then_branch", Type: format.AttrGraph, Graph: branch("Exp")}, {Name: "else_branch", Type: format.AttrGraph, Graph: branch("Neg")}}},
		},
		Outputs: []*format.Value{value("y", format.Float, size(1))},
	})
	for rate, want := range map[float64]float64{16: math.E, 8: -1} {
		m, err := f.Build(builders.Settings{"rate": rate}, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		x := m.Graph.Lookup("x")
		got, err := tape.Eval(context.Background(), tape.Feed{x: tape.Of(x, 1.0)}, m.Output)
		if err != nil || math.Abs(got[m.Output].Data[0]-want) > 1e-12 || len(m.Inputs()) != 1 {
			t.Errorf("rate %v: %v (%v): want %v", rate, got, err, want)
		}
	}
	if d := f.Builder().Hyperparameters[0]; d.Name != "rate" || d.Default != 16 {
		t.Errorf("the setting is %+v", d)
	}
	m, err := f.Build(builders.Settings{"rate": 0}, graph.F64)
	if err != nil || len(m.Inputs()) != 2 {
		t.Errorf("fed, the inputs are %v (%v)", m.Inputs(), err)
	}
}

// TestMistakesOfFiles: errors name the file.
func TestMistakesOfFiles(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none.onnx")
	empty := filepath.Join(dir, "empty.onnx")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.onnx")
	if err := os.WriteFile(text, []byte("not a model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		text: text + ": byte 0: model: field 13 is a group, which ONNX does not have: is it an ONNX model?",
		none: "open " + none + ": no such file or directory", empty: empty + ": byte 0: the model has no graph: is it an ONNX model?", dir: dir + ": want a regular file",
	} {
		if _, err := onnx.Open(name); err == nil || err.Error() != want {
			t.Errorf("the error is %v: want %s", err, want)
		}
	}
	if _, err := onnx.Read(nil, 0, "x"); err == nil || err.Error() != "the reader is nil" {
		t.Errorf("the error is %v", err)
	}
	var f *onnx.File
	if _, err := f.Build(nil, graph.F32); err == nil || f.Close() != nil || f.Name() != "" || f.String() != "" || f.Builder().Name != "" {
		t.Errorf("a file that is nil: %v", err)
	}
}

// TestSettingNames: sizes and integers whose names are taken get others.
func TestSettingNames(t *testing.T) {
	f := fileOf(t, &format.Graph{
		Inputs:  []*format.Value{value("x", format.Float, symbol("loss"), symbol("k v"), symbol("")), value("k_v", format.Int64)},
		Nodes:   []*format.Node{{Op: "Cast", Inputs: []string{"k_v"}, Outputs: []string{"c"}, Attrs: []*format.Attr{{Name: "to", Type: format.AttrInt, Int: int64(format.Float)}}}, {Op: "Mul", Inputs: []string{"x", "c"}, Outputs: []string{"y"}}},
		Outputs: ends("y"),
	})
	var names []string
	for _, h := range f.Builder().Hyperparameters {
		names = append(names, h.Name)
	}
	if want := []string{"loss_size", "k_v", "x_2", "k_v_value", "loss"}; !slices.Equal(names, want) {
		t.Errorf("settings are %v: want %v", names, want)
	}
	m, err := f.Build(builders.Settings{"loss_size": 2, "k_v": 3, "x_2": 4, "k_v_value": 5}, graph.F32)
	if err != nil || m.Output.Shape().Len() != 24 || len(m.Inputs()) != 1 {
		t.Errorf("the output is %v (%v) of %v", m.Output, err, m.Inputs())
	}
}
