package onnx_test

import (
	"io"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"As": onnx.As, "AsWritten": onnx.AsWritten, "Do": onnx.Do, "Draws": onnx.Draws, "Fetch": onnx.Fetch, "Loss": onnx.Loss,
			"Output": onnx.Output, "Write": onnx.Write, "ExternalData": onnx.ExternalData, "Let": onnx.Let, "WriteSymbolic": onnx.WriteSymbolic,
			"Begin": onnx.Begin, "Open": onnx.Open, "Path": onnx.Path, "Read": onnx.Read,
		},
		Types: []any{onnx.Unsupported{}, onnx.Refusal{}, onnx.File{}, onnx.Problem{}, onnx.Problems{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3))
			return []any{g, tape.NewStore(g), x, []*graph.Node{x}, onnx.Fetch(ops.Sum(x)), onnx.Loss(ops.Sum(x)), io.Discard}
		},
	})
}
