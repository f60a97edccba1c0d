package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// evalOutput is what eval --json prints.
type evalOutput struct {
	Loss     float64
	Settings map[string]float64
	Begun    []string
	Inputs, Params, Quantities, Gradients,
	Next map[string]struct {
		Axes  []string
		Shape []int
		Value any
	}
}

func evaluate(t *testing.T, args ...string) (v evalOutput) {
	t.Helper()
	if err := json.Unmarshal([]byte(ok(t, append([]string{"eval", "--json"}, args...)...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// goofyByHand is the loss of the goofy alternative.
func goofyByHand(x, r [][2]float64, γ float64) float64 {
	sum := 0.0
	for _, p := range x {
		var expected [2]float64
		total := 0.0
		for _, c := range r {
			w := math.Exp(-γ * ((p[0]-c[0])*(p[0]-c[0]) + (p[1]-c[1])*(p[1]-c[1])))
			total += w
			expected[0], expected[1] = expected[0]+w*c[0], expected[1]+w*c[1]
		}
		a, b := expected[0]/total-p[0], expected[1]/total-p[1]
		sum += a*a + b*b
	}
	return sum / float64(len(x))
}

// TestEval: values of files of every kind give the quantities and the gradients that a program
// written from the formula gives, and the sizes follow from the arrays.
func TestEval(t *testing.T) {
	x, r := [][2]float64{{0, 1}, {2, 2}, {1, 5}}, [][2]float64{{0, 1}, {2, 3}}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"p.json": `{"r": [[0, 1], [2, 3]]}`, "x.json": `{"x": [[0, 1], [2, 2], [1, 5]], "gamma": 0.25}`, "points.json": `{"x": [[0, 1], [2, 2], [1, 5]]}`} {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	centres := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{0, 1, 2, 3}))
	for name, write := range map[string]func(f *os.File) error{
		"p.npz": func(f *os.File) error {
			w := array.NewNPZWriter(f, false)
			if err := w.Write("r", centres); err != nil {
				return err
			}
			return w.Close()
		},
		"p.safetensors": func(f *os.File) error {
			return safetensors.Write(f, &safetensors.File{Tensors: []safetensors.Tensor{{Name: "r", Data: centres}}})
		},
	} {
		f, err := os.Create(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := goofyByHand(x, r, 0.25)
	for _, params := range []string{"p.json", "p.npz", "p.safetensors"} {
		v := evaluate(t, "kmeans-goofy", "--params", path(params), "--feed", path("x.json"))
		if math.Abs(v.Loss-want) > 1e-14 || v.Begun != nil || v.Settings["n"] != 3 || v.Settings["d"] != 2 || v.Settings["k"] != 2 {
			t.Errorf("%s: loss %v, by hand %v; begun %v, settings %v", params, v.Loss, want, v.Begun, v.Settings)
		}
		if D := v.Quantities["D"]; !slices.Equal(D.Axes, []string{"i", "j"}) || D.Value.([]any)[2].([]any)[0] != 17.0 {
			t.Errorf("%s: D is %v", params, D)
		}
		for j := range r {
			for d := range 2 {
				at := func(by float64) float64 {
					moved := slices.Clone(r)
					moved[j][d] += by
					return goofyByHand(x, moved, 0.25)
				}
				got, want := v.Gradients["r"].Value.([]any)[j].([]any)[d].(float64), (at(1e-5)-at(-1e-5))/2e-5
				if math.Abs(got-want) > 1e-8 {
					t.Errorf("%s: ∂loss/∂r[%d %d] is %v, by difference %v", params, j, d, got, want)
				}
			}
		}
	}
	// Lloyd's centres after a round, and a gradient by an input.
	v := evaluate(t, "kmeans-lloyd", "--params", path("p.json"), "--feed", path("points.json"))
	if next := v.Next["r"].Value.([]any); next[0].([]any)[1] != 1.0 || next[1].([]any)[1] != 3.5 {
		t.Errorf("after a round the centres are %v", next)
	}
	if v = evaluate(t, "kmeans-goofy", "--params", path("p.json"), "--feed", path("x.json"), "--wrt", "x,gamma"); len(v.Gradients) != 2 || v.Gradients["x"].Shape[0] != 3 || len(v.Gradients["γ"].Shape) != 0 {
		t.Errorf("gradients by x and γ: %v", v.Gradients)
	}
	out := ok(t, "eval", "kmeans-goofy", "--params", path("p.json"), "--feed", path("x.json"))
	for _, part := range []string{"r[j=0..1 d=0..1]", "∂loss/∂r[j=0..1 d=0..1]", "loss = "} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
}

// TestEvalCheckpoint: the values of a checkpoint are those that training left.
func TestEvalCheckpoint(t *testing.T) {
	dir := t.TempDir()
	ok(t, "train", "regression-ols", "--steps", "5", "--checkpoint", dir)
	if v := evaluate(t, "regression-ols", "--params", dir); slices.Contains(v.Begun, "w") || !slices.Contains(v.Begun, "X") {
		t.Errorf("begun: %v", v.Begun)
	}
}

// TestEvalEveryModel: every model is evaluated on examples of its own.
func TestEvalEveryModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	for _, f := range families() {
		for _, b := range f.Builders {
			code, out, errOut := tapestry(t, "eval", b.Name, "--json")
			if code != 0 || !json.Valid([]byte(out)) {
				t.Errorf("%s: exit code %d, %s", b.Name, code, errOut)
			}
		}
	}
}

// TestEvalMistakes: what does not go together is told where it is.
func TestEvalMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ragged.json": `{"x": [[0, 1], [2]]}`, "deep.json": `{"x": [[0, 1], 2]}`, "deeper.json": `{"x": [0, [1]]}`, "text.json": `{"x": "one"}`, "list.json": `[1]`,
		"other.json": `{"w": 1}`, "rank.json": `{"x": [1, 2]}`, "width.json": `{"x": [[1, 2, 3]]}`, "r.json": `{"r": [[1, 2]]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for args, want := range map[string]string{
		"--feed ragged.json":                "ragged.json: x: a list of 1 among lists of 2",
		"--feed deep.json":                  "deep.json: x: a number where other rows have lists",
		"--feed deeper.json":                "deeper.json: x: a list where other rows have numbers",
		"--feed text.json":                  "text.json: x: one is no number",
		"--feed list.json":                  "list.json: want an object of numbers and nested lists by name",
		"--feed other.json":                 "other.json: kmeans-goofy has no w: it has x, γ",
		"--params other.json":               "other.json: kmeans-goofy has no w: it has r",
		"--feed rank.json":                  "rank.json: x has the shape [2]: kmeans-goofy reads x[i=150 d=4], and wants lists nested 2 deep",
		"--feed width.json --params r.json": "no setting that --set leaves open makes it fit",
		"--feed width.json --set d=2":       "width.json: x has the shape [1 3]: kmeans-goofy reads x[i=1 d=2], and no setting that --set leaves open makes it fit",
		"--feed absent.json":                "absent.json: no such file or directory",
		"--params x.csv":                    "x.csv: no such file or directory",
		"--wrt q":                           "--wrt q: kmeans-goofy has no such parameter, state or input of floats: it has r, x, γ",
	} {
		code, out, errOut := tapestry(t, strings.Fields("eval kmeans-goofy "+args)...)
		if code == 0 || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("eval %s: exit code %d, %q and %q, want %q", args, code, out, errOut, want)
		}
	}
	if _, _, errOut := tapestry(t, "eval", "kmeans-goofy", "--params", dir); !strings.Contains(errOut, "no checkpoint there") {
		t.Errorf("an empty folder: %q", errOut)
	}
}
