package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

// flowers is a model of iris, in batches of 16 while it is trained.
func flowers(rows int, _ train.Mode) *train.Net {
	g := graph.New("flowers")
	n, d, c := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("c", 3)
	x, y := g.Input("x", graph.F32, n, d), g.Input("y", graph.I32, n)
	logits := nn.NewLinear(g, "fc", graph.F32, d, c).Of(x).As("logits")
	return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
}

// trainedFlowers trains a little, and returns the checkpoint's folder and the logits of all rows,
// by class.
func trainedFlowers(t *testing.T, meta map[string]string) (folder string, logits [][]float64) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "run")
	set, err := data.Iris().Set("x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Build: flowers, Optimiser: train.Adam(0.05, train.EMA(0.5)), Seed: 1}
	defer tr.Close()
	plan := train.Plan{Data: data.Shuffled(set, 16, 1), Epochs: 3, Checkpoints: train.Checkpoints{Dir: folder, Meta: meta}}
	if err := tr.Fit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	err = tr.Predict(t.Context(), data.InOrder(set, 0), func(b data.Batch, out *tensor.Dense) error {
		for i := range b.Rows {
			var row []float64
			for _, v := range out.Float32s()[i*3 : i*3+3] {
				row = append(row, float64(v))
			}
			logits = append(logits, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder, logits
}

var flowerClasses = map[string]string{infer.MetaClasses: `["setosa","versicolor","virginica"]`}

// TestPredictRows: a checkpoint alone predicts for 150 rows what the trainer does: in nine
// batches of 16, and the last six rows one by one; as CSV, JSON and NumPy's array.
func TestPredictRows(t *testing.T) {
	folder, logits := trainedFlowers(t, flowerClasses)
	near := func(where string, got []float64) {
		t.Helper()
		for i, want := range slices.Concat(logits...) {
			if i >= len(got) || math.Abs(got[i]-want) > 1e-4 {
				t.Fatalf("%s: number %d of %d is not %v", where, i, len(got), want)
			}
		}
	}
	records, err := csv.NewReader(strings.NewReader(ok(t, "predict", folder, "--data", "iris"))).ReadAll()
	if err != nil || len(records) != 151 || strings.Join(records[0], ",") != "class,setosa,versicolor,virginica" {
		t.Fatalf("%d records, %q, %v", len(records), records[0], err)
	}
	var numbers []float64
	for i, r := range records[1:] {
		var row []float64
		for _, cell := range r[1:] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		if want := records[0][1+slices.Index(row, slices.Max(row))]; r[0] != want {
			t.Errorf("row %d is %s, want %s", i, r[0], want)
		}
		numbers = append(numbers, row...)
	}
	near("CSV", numbers)

	numbers = nil
	for i, line := range strings.Split(strings.TrimSpace(ok(t, "predict", folder, "--data", "iris", "--json")), "\n") {
		var v struct {
			Row    int
			Class  string
			Output []float64
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.Row != i || v.Class != records[1+i][0] {
			t.Fatalf("%s: %v", line, err)
		}
		numbers = append(numbers, v.Output...)
	}
	near("JSON", numbers)

	file := filepath.Join(t.TempDir(), "out.npy")
	if out := ok(t, "predict", folder, "--data", "iris", "--out", file); out != "" {
		t.Errorf("printed %q", out)
	}
	array, err := array.OpenNPY(file)
	if err != nil || array.Dtype() != tensor.Float32 || !slices.Equal([]int(array.Shape()), []int{150, 3}) {
		t.Fatalf("%v %v, %v", array.Dtype(), array.Shape(), err)
	}
	numbers = nil
	for _, v := range array.Float32s() {
		numbers = append(numbers, float64(v))
	}
	near(".npy", numbers)
	if averaged := ok(t, "predict", folder, "--data", "iris", "--averaged"); averaged == ok(t, "predict", folder, "--data", "iris") {
		t.Error("the averages predict the same as the parameters")
	}
}

// TestPredictSources: CSV, .npy, compressed or not, and .npz files of the same rows give the
// same, whatever their type; without names of classes the output's places are numbered.
func TestPredictSources(t *testing.T) {
	folder, _ := trainedFlowers(t, nil)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	table, err := data.Iris().Subset([]int{0, 70, 140})
	if err != nil {
		t.Fatal(err)
	}
	x, err := table.Dense(tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	var npy, text, npz, packed bytes.Buffer
	z := array.NewNPZWriter(&npz, true)
	for _, err := range []error{array.WriteNPY(&npy, x), data.WriteCSV(&text, table), z.Write("other", x), z.Write("x", x), z.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(npy.Bytes()); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	var first string
	for name, content := range map[string][]byte{"x.npy": npy.Bytes(), "x.npy.gz": packed.Bytes(), "x.csv": text.Bytes(), "x.npz": npz.Bytes()} {
		if err := os.WriteFile(path(name), content, 0o666); err != nil {
			t.Fatal(err)
		}
		got := ok(t, "predict", folder, "--data", path(name))
		if first == "" {
			first = got
		}
		if lines := strings.Split(got, "\n"); got != first || len(lines) != 5 || lines[0] != "logits1,logits2,logits3" {
			t.Errorf("%s gives\n%s, another\n%s", name, got, first)
		}
	}
}

// TestPredictText: a checkpoint says what a generator over its store says; the seed decides.
func TestPredictText(t *testing.T) {
	const all = "one two one two one two one two one two one two"
	v, err := text.Characters(all)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := v.Encode(all)
	if err != nil {
		t.Fatal(err)
	}
	net := func(g *graph.Graph) builders.RecurrentLanguageModel {
		w, m, h := graph.Ax("w", v.Len()), graph.Ax("m", 6), graph.Ax("h", 12)
		return builders.RecurrentLanguageModel{
			Tokens: nn.NewEmbedding(g, "embedding", graph.F32, w, m),
			Layers: []rnn.Recur{{Name: "rnn", Cell: rnn.NewRNN(g, "rnn", graph.F32, m, h)}},
			Output: nn.NewLinear(g, "output", graph.F32, h, w),
		}
	}
	g := graph.New("generator")
	token, fresh := g.Input("token", graph.I32, graph.Ax("b", 1)), g.Scalar("fresh", 0)
	logits, step := net(g).Next(token, fresh)
	meta, err := infer.GeneratorMeta(infer.Model{Token: token, Fresh: fresh, Logits: logits, Step: step}, v)
	if err != nil {
		t.Fatal(err)
	}
	windows, err := data.Windows(codes, 8, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "echo")
	tr := &train.Trainer{Optimiser: train.Adam(0.03), Seed: 1, Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("echo")
		x, y := g.Input("x", graph.I32, graph.Ax("b", rows), graph.Ax("t", 8)), g.Input("y", graph.I32, graph.Ax("b", rows), graph.Ax("t", 8))
		return &train.Net{Loss: nn.CrossEntropy(net(g).Of(x), y)}
	}}
	defer tr.Close()
	if err := tr.Fit(t.Context(), train.Plan{Data: windows, Steps: 120, Checkpoints: train.Checkpoints{Dir: folder, Meta: meta}}); err != nil {
		t.Fatal(err)
	}
	if got := ok(t, "predict", folder, "--prompt", "one t", "-n", "13", "--temperature", "0"); got != "one two one two on\n" {
		t.Errorf("it says %q", got)
	}
	say := func(seed string) (v struct{ Model, Sampling, Prompt, Said string }) {
		if err := json.Unmarshal([]byte(ok(t, "predict", folder, "--prompt", "o", "-n", "20", "--temperature", "2", "--top-k", "4", "--json", "--seed", seed)), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	a, b := say("1"), say("2")
	if a != say("1") || a.Said == b.Said || len(a.Said) != 20 || a.Model != "echo" || a.Prompt != "o" || a.Sampling != "temperature 2, top 4, seed 1" {
		t.Errorf("%+v and %+v", a, b)
	}
	for args, want := range map[string]string{
		"--prompt=x":              `--prompt: line 1: "x" is not in the vocabulary; Tokeniser.Unknown would stand for it`,
		"--prompt=":               "generate: the prompt is empty: want at least one token",
		"--data=iris":             "PATH: only values, and no model; it is of a language model: want --prompt TEXT",
		"--prompt=o --averaged":   "--averaged: PATH has no averages of the parameters, as train --ema keeps them",
		"--prompt=o --out=/x/y/z": "/x/y/z: no such file or directory",
	} {
		_, _, errOut := tapestry(t, append([]string{"predict", folder}, strings.Fields(args)...)...)
		if got := strings.ReplaceAll(strings.TrimSpace(errOut), filepath.Join(folder, "step-00000120.safetensors"), "PATH"); got != "tapestry: "+want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestPredictMistakes(t *testing.T) {
	folder, _ := trainedFlowers(t, flowerClasses)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	file := func(name string, write func(b *bytes.Buffer) error) {
		t.Helper()
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	numbers := func(sizes ...int) *tensor.Dense {
		return tensor.New(tensor.WithShape(sizes...), tensor.Of(tensor.Float64))
	}
	file("three.npy", func(b *bytes.Buffer) error { return array.WriteNPY(b, numbers(2, 3)) })
	file("truth.npy", func(b *bytes.Buffer) error {
		return array.WriteNPY(b, tensor.New(tensor.WithShape(2, 4), tensor.Of(tensor.Bool)))
	})
	file("z.npz", func(b *bytes.Buffer) error {
		z := array.NewNPZWriter(b, false)
		if err := z.Write("z", numbers(2, 4)); err != nil {
			return err
		}
		return z.Close()
	})
	file("values.safetensors", func(b *bytes.Buffer) error {
		return safetensors.Write(b, &safetensors.File{Tensors: []safetensors.Tensor{{Name: "fc/w", Data: numbers(4, 3)}}})
	})
	checkpoint := "step-00000030.safetensors"
	whole, err := os.ReadFile(filepath.Join(folder, checkpoint))
	if err != nil {
		t.Fatal(err)
	}
	file("cut.safetensors", func(b *bytes.Buffer) error { b.Write(whole[:len(whole)-5]); return nil })
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"", "predict: want a checkpoint, or a folder of them, got 0", 2},
		{"RUN", "predict: want either --data FILE or --prompt TEXT", 2},
		{"RUN --data iris --prompt x", "predict: want either --data FILE or --prompt TEXT", 2},
		{"RUN --data iris --top-k 3", "--top-k goes with --prompt, not with --data", 2},
		{"RUN --prompt x --label y", "--label goes with --data, not with --prompt", 2},
		{"RUN --prompt x --temperature -1", "sampling: temperature = -1: want a finite number of at least 0", 2},
		{"RUN --prompt x -n -1", "--tokens -1: want at least 0", 2},
		{"RUN --prompt x", "RUN/" + checkpoint + ": only values, and no model that generates texts; it predicts for rows: want --data FILE", 1},
		{"RUN --data iris --out x.txt", "--out x.txt: want a file .csv, .json or .npy", 2},
		{"RUN --data wine", "wine.csv: 13 features, and the model reads x f32[d=4], 4 numbers a row", 1},
		{"RUN --data iriss", "iriss: no such file: want a CSV file, or iris, digits, wine or clusters", 1},
		{"RUN --data DIR/none.csv", "DIR/none.csv: no such file", 1},
		{"RUN --data DIR/three.npy", "DIR/three.npy: predict: x: want f32[d=4] a row, got [3]", 1},
		{"RUN --data DIR/truth.npy", "DIR/truth.npy: predict: x: want elements of type f32, got bool", 1},
		{"RUN --data DIR/z.npz", `DIR/z.npz: no array "x": it has ["z"], and the model reads x f32[d=4]`, 1},
		{"DIR/values.safetensors --data iris", "DIR/values.safetensors: not a checkpoint: metadata \"format\": want \"tapestry.checkpoint\", got \"\"", 1},
		{"DIR --data iris", "DIR: no checkpoint there", 1},
		{"DIR/none --data iris", "DIR/none: cannot open: no such file or directory", 1},
	} {
		code, out, errOut := tapestry(t, arguments("predict "+c.args, "RUN", folder, "DIR", dir)...)
		want := "tapestry: " + strings.ReplaceAll(strings.ReplaceAll(c.want, "RUN", folder), "DIR", dir)
		if code != c.code || out != "" || strings.TrimSpace(errOut) != want {
			t.Errorf("predict %s: exit code %d, printed %q and\n%s, want\n%s", c.args, code, out, errOut, want)
		}
	}
	if code, _, errOut := tapestry(t, "predict", path("cut.safetensors"), "--data", "iris"); code != 1 || !strings.Contains(errOut, "cut.safetensors") {
		t.Errorf("a file cut off: exit code %d, %s", code, errOut)
	}
}

// TestPredictFixedRows: a model built for 3 rows only takes 3, 6, … rows, and says so; an output of
// several axes goes to JSON and .npy files, not into a table.
func TestPredictFixedRows(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "three")
	x := tensor.New(tensor.WithShape(6, 2), tensor.WithBacking([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
	set, err := data.NewSet(map[string]*tensor.Dense{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Optimiser: train.SGD(0), Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("three")
		n, d := graph.Ax("n", rows), graph.Ax("d", 2)
		x, w := g.Input("x", graph.F32, n, d), g.Param("w", graph.F32, d).Init(initial.Fill(2))
		if rows != 3 {
			return &train.Net{Output: g.Fail("three", fmt.Errorf("want 3 rows"))}
		}
		y := ops.Expand(ops.Mul(x, w), -1, "e").As("y")
		return &train.Net{Loss: ops.Mean(y), Output: y}
	}}
	defer tr.Close()
	if err := tr.Fit(t.Context(), train.Plan{Data: data.InOrder(set, 3), Steps: 1, Checkpoints: train.Checkpoints{Dir: folder}}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct {
		rows int
		want string
	}{
		{6, `{"row":0,"output":[[0],[2]]}` + "\n" + `{"row":1,"output":[[4],[6]]}`},
		{4, "tapestry: " + file + ": predict: 4 rows: want a multiple of 3, as no net of the model takes fewer\n"},
	} {
		text := "a,b\n"
		for i := range c.rows {
			text += fmt.Sprintf("%d,%d\n", 2*i, 2*i+1)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, out, errOut := tapestry(t, "predict", folder, "--data", file, "--json"); !strings.HasPrefix(out+errOut, c.want) {
			t.Errorf("%d rows: got %s%s, want %s", c.rows, out, errOut, c.want)
		}
	}
	if _, _, errOut := tapestry(t, "predict", folder, "--data", file); !strings.Contains(errOut, "4 rows") {
		t.Error(errOut)
	}
	if err := os.WriteFile(file, []byte("a,b\n1,2\n3,4\n5,6\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, errOut := tapestry(t, "predict", folder, "--data", file); errOut != "tapestry: the output is y f32[d=2 e=1] a row, which no table holds: want --out FILE.npy, or --json\n" {
		t.Error(errOut)
	}
}
