package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// bytesIn is the size of the file in what export prints.
var bytesIn = regexp.MustCompile(`, \d+ bytes`)

// TestExport: what was written is said, and is what the file has.
func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"kmeans-softmax -o a.onnx": `a.onnx: output, loss of kmeans-softmax, N bytes
  input    x     float32[i=150 d=4]
  default  γ     float32[]
  output   D     float32[i=150 j=3]
  output   loss  float32[]
`,
		"kmeans-softmax --gradients --dtype f64 --set k=2 --symbolic N -o b.onnx": `b.onnx: output, loss, derivatives of kmeans-softmax, N bytes
  input    x       float64[i=N d=4]
  default  γ       float64[]
  output   D       float64[i=N j=2]
  output   loss    float64[]
  output   grad/r  float64[j=2 d=4]
`,
		"kmeans-softmax --step --optimiser momentum --rate cosine(0.1,50) --gamma 1..9 --ema 0.9 -o c.onnx": `c.onnx: the step of momentum(cosine(0.1,50), 0.9, ema 0.9), γ 1..9 of kmeans-softmax, N bytes
  input    x                        float32[i=150 d=4]
  default  r                        float32[j=3 d=4]
  default  momentum/v/r             float32[j=3 d=4]
  default  momentum/ema-decay       float32[]
  default  momentum/ema-begun       float32[]
  default  ema/r                    float32[j=3 d=4]
  default  schedule/step            int64[]
  output   loss                     float32[]
  output   D                        float32[i=150 j=3]
  output   r.next                   float32[j=3 d=4]
  output   momentum/v/r.next        float32[j=3 d=4]
  output   ema/r.next               float32[j=3 d=4]
  output   momentum/ema-begun.next  float32[]
  output   schedule/step.next       int64[]
`,
		"kmeans-softmax --begin f.onnx -o g.onnx": `g.onnx: output, loss of kmeans-softmax, N bytes
  input   x     float32[i=150 d=4]
  input   γ     float32[]
  output  D     float32[i=150 j=3]
  output  loss  float32[]
`,
		"kmeans-lloyd --step -o d.onnx": `d.onnx: the step of kmeans-lloyd, N bytes
  input    x       float32[i=150 d=4]
  default  r       float32[j=3 d=4]
  output   loss    float32[]
  output   D       float32[i=150 j=3]
  output   r.next  float32[j=3 d=4]
`,
		"transformer-gpt --set m=64 --external-data -o e.onnx": `e.onnx: output, loss of transformer-gpt, N bytes, and 79104 bytes in e.onnx.data
`,
	} {
		got := ok(t, append([]string{"export"}, strings.Fields(args)...)...)
		if at := bytesIn.FindString(got); at != "" {
			got = strings.Replace(got, at, ", N bytes", 1)
		}
		if strings.Contains(args, "--external-data") {
			got, _, _ = strings.Cut(got, "\n")
			got += "\n"
		}
		if got != want {
			t.Errorf("export %s printed\n%s\nwant\n%s", args, got, want)
		}
	}
	var v struct {
		File, What     string
		Bytes          int64
		Inputs, Output []struct{ Name, Type string }
	}
	if err := json.Unmarshal([]byte(ok(t, "export", "kmeans-softmax", "-o", "a.onnx", "--json")), &v); err != nil || v.Bytes != sizeOf("a.onnx") || v.What != "output, loss" || v.Inputs[0].Name != "x" {
		t.Errorf("%+v, %v", v, err)
	}
	out := ok(t, "export", "kmeans-softmax", "-o", "-")
	if file, err := os.ReadFile("a.onnx"); err != nil || !bytes.Equal(file, []byte(out)) {
		t.Errorf("standard output has %d bytes, the file %d, %v", len(out), len(file), err)
	}
}

// TestExportFrom: the weights are those of a training, and the file gives them back.
func TestExportFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	ok(t, "train", "autoencoder", "--steps", "3", "--dtype", "f32", "--checkpoint", "runs")
	ok(t, "export", "autoencoder", "--from", "runs", "--external-data", "-o", "a.onnx")
	state, _, err := checkpoint.Folder{Dir: "runs"}.Latest()
	if err != nil {
		t.Fatal(err)
	}
	f, err := onnx.Open("a.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := f.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	store, err := lab.NewStore(m, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Params() {
		want, err := state.Store.Get(p.Path())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := store.Get(p.Path()); err != nil || !got.Eq(want) {
			t.Errorf("%s is %v, %v, want %v", p.Path(), got, err, want)
		}
	}
	if len(m.Params()) == 0 {
		t.Error("the file has no parameters")
	}
}

// TestExportFromData: sizes are those of the data that the training was on, and what it standardised is
// said.
func TestExportFromData(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.tapestry", []byte(netOnRows), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said := tapestry(t, "train", "net.tapestry", "--data", "iris", "--standardise", "--steps", "3", "--seeds", "1", "--dtype", "f32", "--checkpoint", "runs"); code != 0 {
		t.Fatal(said)
	}
	code, out, said := tapestry(t, "export", "net.tapestry", "--data", "iris", "--from", "runs", "--symbolic", "N", "-o", "a.onnx")
	want := `  input   x     float32[i=N p=4]
  input   y     int64[i=N]
  output  z     float32[i=N k=3]
  output  loss  float32[]
x wants sepal_length, sepal_width, petal_length, petal_width less 5.8433332, 3.0573332, 3.758, 1.1993333, over 0.8253013, 0.43441096, 1.7594041, 0.7596926, as the training standardised them
`
	if _, table, _ := strings.Cut(out, "\n"); code != 0 || table != want {
		t.Errorf("exit %d: %s\n%s\nwant\n%s", code, said, table, want)
	}
}

// TestExportSymbolic: every model of the registry whose rows a setting counts is written for any number
// of rows, with its step, but those that are said.
func TestExportSymbolic(t *testing.T) {
	if testing.Short() {
		t.Skip("exports every model at several sizes")
	}
	t.Chdir(t.TempDir())
	refused := map[string]string{
		"regression-ridge-features": "tapestry: onnx: N: ξ[d=22] is f32[d=16] at another size: what is learnt cannot depend on N\n",
	}
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil || fit.RowSetting(m) == "" {
			continue
		}
		code, _, said := tapestry(t, "export", b.Name, "--step", "--symbolic", "N", "-o", "a.onnx")
		switch {
		case m.Loss == nil || len(lab.Trained(m))+len(m.Step) == 0:
			if code != 1 {
				t.Errorf("%s: exit %d: %s", b.Name, code, said)
			}
		case refused[b.Name] != "" && said != refused[b.Name] || refused[b.Name] == "" && code != 0:
			t.Errorf("%s: exit %d: %s", b.Name, code, said)
		}
	}
}

// TestExportMistakes: the exact errors.
func TestExportMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"kmeans-softmax":                                    "tapestry: export: want -o FILE.onnx\n",
		"kmeans-softmax -o - --external-data":               "tapestry: --external-data: want -o FILE.onnx, which the data lie beside\n",
		"kmeans-softmax -o a.onnx --begin a.onnx":           "tapestry: --begin a.onnx: want a file of its own\n",
		"kmeans-softmax -o a.onnx --draws dice":             "tapestry: --draws \"dice\": want inputs or runtime\n",
		"kmeans-softmax -o a.onnx --gradients --step":       "tapestry: --gradients and --step exclude each other: a step has the derivatives in it\n",
		"kmeans-softmax -o a.onnx --wrt r":                  "tapestry: --wrt: want --gradients, too\n",
		"kmeans-softmax -o a.onnx --rate 0.1":               "tapestry: --rate: want --step, too\n",
		"kmeans-softmax -o a.onnx --symbolic 2N":            "tapestry: --symbolic \"2N\": want a name such as N\n",
		"kmeans-softmax -o a.onnx --step --optimiser lbfgs": "tapestry: --optimiser lbfgs: it finds the length of a step by computing the loss again and again, which is no graph\n",
		"autoencoder -o a.onnx --step --steps 9":            "tapestry: --steps: want a schedule, --rate or --gamma, which goes by it\n",
		"autoencoder -o a.onnx --step --gamma 2":            "tapestry: --gamma: autoencoder has no temperature\n",
		"kmeans-lloyd -o a.onnx --step --rate 0.1":          "tapestry: --rate: kmeans-lloyd takes steps of its own, without an optimiser\n",
		"kmeans-softmax -o nowhere/a.onnx":                  "tapestry: nowhere/a.onnx: no such file or directory\n",
		"kmeans-softmax -o a.onnx --gradients --wrt q":      "tapestry: kmeans-softmax has no quantity \"q\": did you mean \"x\"? (it has x, r, γ, Δ, D, α, loss)\n",
	} {
		if code, _, said := tapestry(t, append([]string{"export"}, strings.Fields(args)...)...); code == 0 || said != want {
			t.Errorf("export %s: exit %d: %s\nwant %s", args, code, said, want)
		}
	}
	if _, err := os.Stat("a.onnx"); err == nil {
		t.Error("a file was written")
	}
}
