package onnx_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLet: an input that is computed is none of the file, also where it is read in a loop.
func TestLet(t *testing.T) {
	g := graph.New("let")
	x, rate := g.Input("x", graph.F32, graph.Ax("i", 3)), g.Scalar("rate", 0.5)
	count := g.State("count", graph.I64)
	y := ops.Mul(x, rate).As("y")
	var b bytes.Buffer
	err := onnx.Write(&b, g, nil, onnx.Fetch(y), onnx.Do(graph.Step{g.Assign(count, ops.Shift(count, 1))}), onnx.Let(rate, ops.Cast(count, graph.F32)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := onnx.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "let")
	if err != nil {
		t.Fatal(err)
	}
	var in, out []string
	for _, v := range f.Inputs() {
		in = append(in, v.Name+" "+v.Type)
	}
	for _, v := range f.Outputs() {
		out = append(out, v.Name+" "+v.Type)
	}
	if got := strings.Join(append(in, out...), ", "); got != "x float32[i=3], count int64[], y float32[i=3], count.next int64[]" {
		t.Error(got)
	}
}

// TestLetMistakes: the exact errors.
func TestLetMistakes(t *testing.T) {
	g := graph.New("let")
	x, rate := g.Input("x", graph.F32, graph.Ax("i", 3)), g.Scalar("rate", 0.5)
	y := ops.Mul(x, rate).As("y")
	for want, option := range map[string]onnx.Option{
		`onnx: Let: y[i=3] and x[i=3] are not an input and a node of the graph "let"`: onnx.Let(y, x),
		`onnx: Let: x[i=3] cannot stand for rate[]`:                                   onnx.Let(rate, x),
		`onnx: Let: y[i=3] depends on x[i=3], which it is to stand for`:               onnx.Let(x, y),
	} {
		if err := onnx.Write(io.Discard, g, nil, onnx.Fetch(y), option); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestWriteSymbolicMistakes: the exact errors.
func TestWriteSymbolicMistakes(t *testing.T) {
	build := func(leaf func(g *graph.Graph, n int) *graph.Node) onnx.AtSize {
		return func(n int) (*graph.Graph, []onnx.Option, error) {
			g := graph.New("model")
			return g, []onnx.Option{onnx.Fetch(leaf(g, n))}, g.Err()
		}
	}
	for want, f := range map[string]onnx.AtSize{
		"onnx: N: w[n=26] is f32[n=22] at another size: what is learnt cannot depend on N": build(func(g *graph.Graph, n int) *graph.Node {
			return ops.Tanh(g.Param("w", graph.F32, graph.Ax("n", n)))
		}),
		"onnx: N: operand 1 of output (Add) cannot be computed from N: no input has an axis of that size": build(func(g *graph.Graph, n int) *graph.Node {
			return ops.Shift(g.Input("x", graph.F32, graph.Ax("i", 3)), float64(n))
		}),
		"onnx: N = 22: too large": func(int) (*graph.Graph, []onnx.Option, error) { return nil, nil, errors.New("too large") },
	} {
		if err := onnx.WriteSymbolic(io.Discard, "N", nil, f); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := onnx.WriteSymbolic(io.Discard, "", nil, nil); err == nil || err.Error() != "onnx: a symbolic size wants a name and a function that builds the model" {
		t.Error(err)
	}
}
