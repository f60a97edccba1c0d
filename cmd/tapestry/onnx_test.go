package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// The net is one of PyTorch's: Linear(3, 8), Tanh, Linear(8, 3), with the size "batch" open.
const flowersNet = "testdata/flowers.onnx"

// TestONNX: commands take an ONNX file as a model, with the settings that it leaves open.
func TestONNX(t *testing.T) {
	loss := flowersNet + "{loss=crossentropy}"
	for line, want := range map[string]string{
		"list " + flowersNet:                             "--set batch=1    size of axis 0 of x",
		"grad " + loss + " --wrt 0.weight":               "∂loss/∂0.weight",
		"grad " + loss + " --wrt 0/weight":               "∂loss/∂0.weight",
		"draw " + loss + " --grad --format text":         `param{path="2/weight" type=f32[8 3] init=custom(flowers.onnx)}`,
		"tape " + flowersNet:                             `program "flowers"`,
		"check " + loss:                                  "0 failed",
		"step " + loss + " --print":                      "training step 0",
		"precision " + loss:                              "digits lost at step 0",
		"autopsy " + loss:                                "is finite",
		"rewrite " + loss:                                "both sides equal",
		"eval " + loss + " --wrt 0.bias":                 "in no file, and so as training begins from the seed: x, label\n",
		"train " + loss + " --steps 2 --seeds 1":         "59 numbers in 4 parameters",
		"draw " + flowersNet + " --format text":          `"scores" @flowers.onnx:3 in "2"`,
		"draw " + flowersNet + "{batch=7} --format text": "f32[batch=7 3]",
	} {
		if code, out, errOut := tapestry(t, strings.Fields(line)...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("tapestry %s: exit code %d, %s%s\nwant a text with %s", line, code, out, errOut, want)
		}
	}
	for line, want := range map[string]string{
		"grad " + flowersNet:                 "tapestry: testdata/flowers.onnx has no loss to differentiate: give it one, as in 'testdata/flowers.onnx{loss=squares}' (or crossentropy, or sum)\n",
		"train " + flowersNet + " --steps 2": "tapestry: testdata/flowers.onnx has no loss: there is nothing to train: give it one, as in 'testdata/flowers.onnx{loss=squares}' (or crossentropy, or sum)\n",
		"draw none.onnx":                     "tapestry: none.onnx: no such file or directory\n",
		"draw " + flowersNet + "{loss=most}": "tapestry: testdata/flowers.onnx{loss=most}: loss = \"most\": want one of none, sum, squares, crossentropy\n",
		"fmt " + flowersNet:                  "tapestry: fmt: testdata/flowers.onnx is an ONNX model: want a file in the notation, NAME.tapestry\n",
		"train " + flowersNet + " --k 3":     "tapestry: --k is for clusterings, and testdata/flowers.onnx is none\n",
		"draw testdata/flowers":              "tapestry: unknown model \"testdata/flowers\": did you mean the file testdata/flowers.onnx?\n",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(line)...); code == 0 || errOut != want {
			t.Errorf("tapestry %s: exit code %d\n%swant\n%s", line, code, errOut, want)
		}
	}
}

// TestONNXBranch: a branch that hands its operand on is drawn, as is one that computes.
func TestONNXBranch(t *testing.T) {
	g := graph.New("branch")
	x := g.Input("x", graph.F32, graph.Ax("", 2))
	on := ops.Greater(ops.Sum(x), g.Constant(graph.F32, []float64{0}))
	hand := func(v *graph.Node) ops.Function { return func([]*graph.Node) []*graph.Node { return []*graph.Node{v} } }
	y := ops.Cond(on, hand(x), hand(g.Constant(graph.F32, []float64{1, 2}, graph.Ax("", 2))))[0]
	name := filepath.Join(t.TempDir(), "branch.onnx")
	w, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := onnx.Write(w, g, tape.NewStore(g), onnx.Output(y)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if svg := ok(t, "draw", name); !strings.Contains(svg, "<svg") {
		t.Errorf("the drawing is %s", svg)
	}
}
