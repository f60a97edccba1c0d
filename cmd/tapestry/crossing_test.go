package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

var updateCrossing = flag.Bool("update-crossing", false, "write docs/crossing.md anew")

// crossed has models of every kind, with data of every kind that they might take.
var crossed = []struct {
	kind, model string
	data        [][2]string // its name and flags
}{
	{"a clustering", "kmeans-softmax", [][2]string{{"its usual data", ""}, {"a table", "--data flowers.csv"}, {"some columns of a table", "--data flowers.csv --bind x=length,width"},
		{"a table, cut and standardised", "--data flowers.csv --validation 0.25 --standardise"},
		{"arrays", "--data arrays.npz --bind x=features"}, {"a text", "--data words.txt"}}},
	{"a net", "loss-cross-entropy", [][2]string{{"examples of its own", ""}, {"a table", "--data flowers.csv"}, {"a table, cut and standardised", "--data flowers.csv --validation 0.25 --standardise --batch 5"},
		{"arrays", "--data arrays.npz --bind x=features --bind label=kind"}, {"a text", "--data words.txt"}}},
	{"a net for images", "conv-2d", [][2]string{{"examples of its own", ""}, {"arrays", "--data arrays.npz --bind x=images --bind label=kind"}, {"a table", "--data flowers.csv"}}},
	{"a loop", "rnn-stacked", [][2]string{{"examples of its own", ""}, {"a text", "--data words.txt"}, {"arrays", "--data arrays.npz --bind tokens=tokens --bind target=tokens"}, {"a table", "--data flowers.csv"}}},
	{"a graph net", "graph-gcn", [][2]string{{"examples of its own", ""}, {"a network", "--data karate"}, {"a network and a table", "--data club.edges,members.csv --bind label=side"}, {"a table", "--data flowers.csv"}}},
	{"a language model", "transformer-gpt", [][2]string{{"examples of its own", ""}, {"a text", "--data words.txt"}, {"arrays", "--data arrays.npz --bind text=tokens"}, {"a table", "--data flowers.csv"}}},
	{"a file", "net.tapestry", [][2]string{{"examples of its own", ""}, {"a table", "--data flowers.csv"}, {"a table, cut and standardised", "--data flowers.csv --validation 0.25 --standardise --batch 5"},
		{"an embedded table", "--data wine"}, {"arrays", "--data arrays.npz --bind x=features --bind y=kind"}, {"a text", "--data words.txt"}}},
	{"an ONNX model", "flowers.onnx{loss=crossentropy}", [][2]string{{"examples of its own", ""}, {"a table", "--data flowers.csv"}, {"a table, cut and standardised", "--data flowers.csv --validation 0.25 --standardise --batch 5"},
		{"arrays", "--data arrays.npz --bind x=features --bind label=kind"}, {"a text", "--data words.txt"}}},
}

// crossings has the commands; %s stands for the model with its flags, and DIR for an empty
// folder.
var crossings = []struct {
	name  string
	lines []string // given one after the other
}{
	{"train", []string{"train %s --steps 3 --seeds 1"}},
	{"--engine gorgonia", []string{"train %s --steps 3 --seeds 1 --engine gorgonia"}},
	{"--lanes", []string{"train %s --steps 3 --seeds 1 --lanes 2"}},
	{"--checkpoint, --log", []string{"train %s --steps 3 --seeds 1 --checkpoint DIR --log DIR.jsonl"}},
	{"--resume", []string{"train %s --steps 3 --seeds 1 --checkpoint DIR-r", "train %s --steps 6 --seeds 1 --checkpoint DIR-r --resume"}},
	{"predict", []string{"train %s --steps 3 --seeds 1 --checkpoint DIR-p", "predict DIR-p DATA --json"}},
	{"checkpoint", []string{"train %s --steps 3 --seeds 1 --checkpoint DIR-c", "checkpoint show DIR-c"}},
	{"compare", []string{"compare %s --steps 3 --seeds 2 --out DIR.html"}},
	{"step", []string{"step %s --print --train 2"}},
	{"autopsy", []string{"autopsy %s"}},
	{"precision", []string{"precision %s"}},
	{"geometry", []string{"geometry %s --steps 2"}},
	{"export", []string{"export %s --step -o DIR.onnx", "tape DIR.onnx"}},
	{"serve", nil},
}

// TestCrossing crosses models, data and commands: each works, or says in one line why it cannot.
// docs/crossing.md shows the results.
func TestCrossing(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeCrossed(t, repository)
	var doc strings.Builder
	doc.WriteString("# Models × data × commands\n\nMade by `go test ./cmd/tapestry -run TestCrossing -update-crossing`, which gives every one of these commands.\n" +
		"✓ works; a number says why it cannot, below the table. `train` is given 3 steps, `--resume` 3 more; the\n" +
		"data are small files of each kind, read as the flags in the first column say.\n")
	folder := 0
	for _, m := range crossed {
		fmt.Fprintf(&doc, "\n## %s: %s\n\n| data |", strings.ToUpper(m.kind[:1])+m.kind[1:], m.model)
		for _, c := range crossings {
			fmt.Fprintf(&doc, " %s |", c.name)
		}
		doc.WriteString("\n|---|" + strings.Repeat("---|", len(crossings)) + "\n")
		var reasons []string
		for _, d := range m.data {
			what := d[0]
			if d[1] != "" {
				what += ", `" + d[1] + "`"
			}
			fmt.Fprintf(&doc, "| %s |", what)
			for _, c := range crossings {
				folder++
				dir := fmt.Sprintf("f%d", folder)
				why := ""
				if c.lines == nil {
					why = servedWith(t, m.model, d[1])
				}
				for _, line := range c.lines {
					line = strings.ReplaceAll(line, "DIR", dir)
					if read := dataOf(d[1]); strings.Contains(line, "DATA") {
						if read == "" {
							why = "predict reads rows of data: examples of its own are in no file"
							break
						}
						line = strings.ReplaceAll(line, "DATA", "--data "+read)
					}
					if strings.Contains(line, "%s") {
						line = fmt.Sprintf(line, m.model+" "+d[1])
					}
					code, _, errOut := tapestry(t, strings.Fields(line)...)
					if code == 0 {
						continue
					}
					why = reasonOf(errOut)
					if strings.Contains(errOut, "panic") || strings.Contains(errOut, "goroutine") {
						t.Errorf("tapestry %s: %s", line, errOut)
					}
					break
				}
				if why == "" {
					doc.WriteString(" ✓ |")
					continue
				}
				at := 0
				for at < len(reasons) && reasons[at] != why {
					at++
				}
				if at == len(reasons) {
					reasons = append(reasons, why)
				}
				fmt.Fprintf(&doc, " %d |", at+1)
			}
			doc.WriteByte('\n')
		}
		for i, why := range reasons {
			fmt.Fprintf(&doc, "\n%d. %s", i+1, why)
		}
		if reasons != nil {
			doc.WriteByte('\n')
		}
	}
	path := filepath.Join(repository, "docs", "crossing.md")
	if *updateCrossing {
		if err := os.WriteFile(path, []byte(doc.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.String(); got != string(want) {
		a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("docs/crossing.md, line %d:\n%s\nand now\n%s\n(-update-crossing writes it anew)", i+1, b[i], a[i])
			}
		}
		t.Fatal("docs/crossing.md has more or fewer lines than there are now")
	}
}

// dataOf returns the name of the data in flags.
func dataOf(flags string) string {
	words := strings.Fields(flags)
	for i, w := range words {
		if w == "--data" {
			return words[i+1]
		}
	}
	return ""
}

// places matches places in the library's files and numbers of nodes in a reason: they change with
// every line.
var places = regexp.MustCompile(`(, seed 0, step 1)?: ([\w./-]+\.(go|tapestry):\d+: )|: %\d+\[.*$|f\d+(-\w)?/`)

// reasonOf returns the first line of a command's errors that is not a note on the data read.
func reasonOf(complaint string) string {
	reason := ""
	for _, line := range strings.Split(complaint, "\n") {
		if strings.HasPrefix(line, "tapestry: ") && !strings.Contains(line, " reads ") {
			reason = strings.TrimPrefix(line, "tapestry: ")
		} else if strings.HasPrefix(line, "tapestry: ") && strings.Contains(line, "Bind it") {
			reason = strings.TrimPrefix(line, "tapestry: ")
		}
	}
	if reason == "" {
		reason = strings.TrimPrefix(strings.SplitN(complaint, "\n", 2)[0], "tapestry: ")
	}
	return places.ReplaceAllStringFunc(reason, func(s string) string {
		if strings.Contains(s, "go:") || strings.Contains(s, "tapestry:") {
			return ": "
		}
		return ""
	})
}

// servedWith opens a model in the page with data, and returns the reason if it cannot.
func servedWith(t *testing.T, model, flags string) string {
	with := &servedData{fitting: &fitting{}}
	with.fitting.flags(&cobra.Command{}, "iris")
	with.cutFlags(with.cmd)
	if err := with.cmd.ParseFlags(strings.Fields(flags)); err != nil {
		t.Fatal(err)
	}
	m, err := with.served(model)
	if err == nil {
		s := web.New(web.Options{Families: append(with.families, families()...), Notation: web.Formulas{Fit: with.fit}, Tables: with.tables})
		defer s.Close()
		err = s.Open(context.Background(), m)
	}
	if err != nil {
		return strings.SplitN(err.Error(), "\n", 2)[0]
	}
	return ""
}

// writeCrossed writes the files that are crossed.
func writeCrossed(t *testing.T, repository string) {
	t.Helper()
	var flowers, members, edges strings.Builder
	flowers.WriteString("length,width,height,kind\n")
	members.WriteString("age,side\n")
	for i := range 24 {
		fmt.Fprintf(&flowers, "%d.5,%d,%d.25,%s\n", i, i*i%7, i%5, []string{"u", "v", "w"}[i%3])
	}
	for i := range 8 {
		fmt.Fprintf(&members, "%d,%s\n", 20+i, []string{"a", "b"}[i/4])
		fmt.Fprintf(&edges, "%d %d\n", i, (i+1)%8)
	}
	var npz bytes.Buffer
	features, images, kind, tokens := make([]float64, 24*3), make([]float32, 24*64), make([]int32, 24), make([]int32, 24*6)
	for i := range features {
		features[i] = float64(i*i%11) / 10
	}
	for i := range images {
		images[i] = float32(i*i%13) / 10
	}
	for i := range kind {
		kind[i] = int32(i % 3)
	}
	for i := range tokens {
		tokens[i] = int32(i * i % 4)
	}
	z := array.NewNPZWriter(&npz, false)
	for _, a := range []struct {
		name string
		t    *tensor.Dense
	}{
		{"features", tensor.New(tensor.WithShape(24, 3), tensor.WithBacking(features))},
		{"images", tensor.New(tensor.WithShape(24, 8, 8), tensor.WithBacking(images))},
		{"kind", tensor.New(tensor.WithShape(24), tensor.WithBacking(kind))},
		{"tokens", tensor.New(tensor.WithShape(24, 6), tensor.WithBacking(tokens))},
	} {
		if err := z.Write(a.name, a.t); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	onnx, err := os.ReadFile(filepath.Join(repository, "cmd", "tapestry", "testdata", "flowers.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"flowers.onnx": string(onnx),
		"flowers.csv":  flowers.String(), "members.csv": members.String(), "club.edges": edges.String(),
		"words.txt": strings.Repeat("the quick brown fox jumps over the lazy dog. ", 12), "arrays.npz": npz.String(), "net.tapestry": netOnRows,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
