package onnx_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

var update = flag.Bool("update", false, "write the golden files anew")

func written(t *testing.T, g *graph.Graph, options ...onnx.Option) ([]byte, *format.Model) {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Write(&b, g, tape.NewStore(g, tape.Seed(1)), options...); err != nil {
		t.Fatal(err)
	}
	m, err := format.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

// TestText: what models of several kinds are written as, and that equal graphs are written as equal bytes.
func TestText(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "conv-2d", "rnn-gru", "dropout", "transformer-gpt"} {
		bd, err := builders.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		for range 2 {
			m, err := bd.Build(nil, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			b, model := written(t, m.Graph, onnx.Output(m.Output), onnx.Loss(m.Loss), onnx.Fetch(grad.OrZero(m.Loss, m.Params()...)...))
			if first != nil && !bytes.Equal(first, b) {
				t.Errorf("%s: the same model is written as other bytes", name)
			}
			if first != nil {
				break
			}
			first = b
			text := model.String()
			var keys []string
			for k := range model.Metadata {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				text += k + " " + model.Metadata[k] + "\n"
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("%s is written as\n%s\nwant\n%s", name, text, want)
			}
		}
	}
}

// TestCheckerOperations: ONNX's own checker and its strict inference of shapes accept every operation, with first and
// second derivatives.
func TestCheckerOperations(t *testing.T) {
	if err := exec.Command(python, "-c", "import onnx").Run(); err != nil {
		t.Skipf("%s has no package onnx (Debian: python3-onnx): %v", python, err)
	}
	dir := t.TempDir()
	var files []string
	rng := rand.New(rand.NewPCG(1, 2))
	for i, op := range ops.List() {
		c, err := caseOf(op.Cases()[0], []graph.DType{graph.F32, graph.F64}[i%2], rng, false)
		if err != nil {
			continue
		}
		var b bytes.Buffer
		if err := onnx.Write(&b, c.nodes[0].Graph(), nil, onnx.Fetch(c.nodes...)); err != nil {
			t.Errorf("%s: %v", op.Name(), err)
			continue
		}
		file := filepath.Join(dir, op.Name()+".onnx")
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	out, err := exec.Command(python, append([]string{"check.py"}, files...)...).CombinedOutput()
	if n := strings.Count(string(out), "ok "+dir); err != nil || n != len(files) {
		t.Errorf("%d of %d operations are accepted: %v\n%s", n, len(files), err, out)
	}
}

// foreign is an operation from outside the library.
type foreign struct{}

func (foreign) Name() string { return "Foreign" }
func (foreign) Infer(in []*graph.Node) (graph.Type, error) {
	return in[0].Type(), nil
}

// TestUnsupported: what cannot be written is one error that names all of it.
func TestUnsupported(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := graph.Apply(foreign{}, ops.Sin(x)).As("y")
	z := graph.Apply(foreign{}, ops.Exp(y))
	err := onnx.Write(io.Discard, g, nil, onnx.Fetch(ops.Add(y, z)))
	var u onnx.Unsupported
	if !errors.As(err, &u) || len(u) != 2 {
		t.Fatalf("the error is %v", err)
	}
	want := []string{"Foreign: ONNX cannot say it: no translation is known: y[i=3]", "Foreign: ONNX cannot say it: no translation is known: %4[i=3]"}
	for i, line := range strings.Split(err.Error(), "\n") {
		if _, text, _ := strings.Cut(line, ": "); text != want[i] || !strings.Contains(line, "write_test.go:") {
			t.Errorf("line %d is %q, want the user's line and %q", i, line, want[i])
		}
	}
}

// TestEvery: there is a rule for every operation of package ops, so that all of the rest of the list that an error
// names is from outside.
func TestEvery(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, op := range ops.List() {
		for k, c := range op.Cases() {
			m, err := caseOf(c, graph.F32, rng, false)
			if err != nil {
				continue
			}
			if err := onnx.Write(io.Discard, m.nodes[0].Graph(), nil, onnx.Fetch(m.nodes...)); err != nil {
				t.Errorf("%s, case %d: %v", op.Name(), k, err)
			}
		}
	}
}

// TestMistakesOfWrite: what is wrong with a call.
func TestMistakesOfWrite(t *testing.T) {
	g, other := graph.New("g"), graph.New("other")
	x := g.Input("x", graph.F32)
	foreign := other.Input("y", graph.F32)
	broken := graph.New("broken")
	bad := ops.Add(broken.Input("a", graph.F32, graph.Ax("i", 3)), broken.Input("b", graph.F32, graph.Ax("i", 4)))
	for _, c := range []struct {
		err  error
		want string
	}{
		{onnx.Write(nil, g, nil, onnx.Fetch(x)), "onnx: the writer is nil"},
		{onnx.Write(io.Discard, nil, nil, onnx.Fetch(x)), "onnx: the graph is nil"},
		{onnx.Write(io.Discard, g, nil), "onnx: nothing to write: give nodes with Fetch, Loss, Output or Do"},
		{onnx.Write(io.Discard, g, nil, onnx.As("z", foreign)), `onnx: output 0 (z) is no node of the graph "g"`},
		{onnx.Write(io.Discard, g, nil, onnx.Fetch(nil)), `onnx: output 0 (nil) is no node of the graph "g"`},
		{onnx.Write(io.Discard, broken, nil, onnx.Fetch(bad)), broken.Err().Error()},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("the error is %q, want %q", c.err, c.want)
		}
	}
}

// TestNames: outputs have the names of their nodes, and no two have one.
func TestNames(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	w := g.Param("layer/w", graph.F32, graph.Ax("i", 3))
	y := ops.Mul(x, w).As("y")
	loss := ops.Sum(ops.Square(y)).As("loss")
	d := grad.Of(loss, w)[0]
	_, m := written(t, g, onnx.Fetch(y, loss, d, ops.Exp(y), ops.Sin(y), x), onnx.As("y", ops.Neg(y)), onnx.As("mine", y))
	var names []string
	for _, o := range m.Graph.Outputs {
		names = append(names, o.Name)
	}
	want := []string{"y_2", "loss", "grad/layer/w", "output", "output_2", "x_2", "y", "mine"}
	if !slices.Equal(names, want) {
		t.Errorf("outputs are %v, want %v", names, want)
	}
	if got := m.Metadata["tapestry.params"]; got != `{"layer/w":{"init":"zeros","axes":["i"]}}` {
		t.Errorf("parameters are %s", got)
	}
}

// TestDo: a step's parameters and states are inputs with defaults, and their new values outputs.
func TestDo(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	w := g.Param("w", graph.F32, graph.Ax("i", 3))
	loss := ops.Sum(ops.Square(ops.Sub(x, w))).As("loss")
	step := train.Adam(0.1).Minimize(loss, w)
	_, m := written(t, g, onnx.Loss(loss), onnx.Do(step))
	var inputs, outputs []string
	for _, v := range m.Graph.Inputs {
		inputs = append(inputs, v.Name)
	}
	for _, v := range m.Graph.Outputs {
		outputs = append(outputs, v.Name)
	}
	for _, u := range step {
		name := u.Target.Path()
		if !slices.Contains(inputs, name) || !slices.Contains(outputs, name+".next") || !slices.ContainsFunc(m.Graph.Init, func(t *format.Tensor) bool { return t.Name == name }) {
			t.Errorf("%s: inputs %v, outputs %v", name, inputs, outputs)
		}
	}
}
