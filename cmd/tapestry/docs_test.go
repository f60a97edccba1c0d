package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// TestReferenceIsFresh checks that docs/reference is what the code generates.
func TestReferenceIsFresh(t *testing.T) {
	const dir = "../../docs/reference"
	pages, err := reference(context.Background(), builders.Families())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, p := range pages {
		want[p.path] = true
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.path)))
		switch {
		case err != nil:
			t.Errorf("%v: run %s", err, docsCommand)
		case string(got) != p.text:
			t.Errorf("docs/reference/%s is old: run %s", p.path, docsCommand)
		}
		if len(p.text) > pageBytes {
			t.Errorf("docs/reference/%s has %d bytes: name fewer quantities", p.path, len(p.text))
		}
		computed := p.text // without what is written by hand, the docs in Go
		if before, after, ok := strings.Cut(p.text, "\n## In Go\n"); ok {
			_, after, _ = strings.Cut(after, "\n## Derivative\n")
			computed = before + after
		} else if strings.Contains(p.text, "\nIn package `") || p.path == "README.md" {
			computed = ""
		}
		for _, bad := range []string{".go:", "NaN", "%"} { // a line that moves, a number that is none, a node without a name
			if bad == "NaN" && strings.HasPrefix(p.path, "ops/Implicit.") {
				continue // which says so of a derivative that does not converge
			}
			if strings.Contains(computed, bad) && (bad != "%" || strings.HasPrefix(p.path, "ops/") && strings.HasSuffix(p.path, ".md")) {
				t.Errorf("docs/reference/%s says %q", p.path, bad)
			}
		}
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if rel = filepath.ToSlash(rel); !want[rel] {
			t.Errorf("docs/reference/%s is of something that is no more: remove it", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The pages of the tests' models, which nothing keeps, are made all the same.
func TestReferenceOfModels(t *testing.T) {
	pages, err := reference(context.Background(), families())
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range pages {
		text[p.path] = p.text
	}
	for path, parts := range map[string][]string{
		"README.md":                 {"### Tests", "[test-deep](models/test-deep.md)", "[Relu](ops/Relu.md) | relu'(0) = 0"},
		"ops/Tanh.md":               {"x̄_{id} = ȳ_{id}·(1 − y_{id}²)", "| `float[]` | `float[]` | `Tanh` |"},
		"ops/Cast.md":               {"`f64[i=3]` | `Cast{to=f64}`"},
		"models/test-perceptron.md": {"| `act` | `tanh` | what follows a layer (tanh, relu) |", "| `in/w` | `f32[d=2 h=8]` | param, starts as glorot |", "## Derivative by in/w\n\n```\n∂loss/∂"},
		"models/test-distance.md":   {"D = ‖x‖"},
		"models/test-huber.md":      {"## Derivative by x"},
	} {
		for _, part := range parts {
			if !strings.Contains(text[path], part) {
				t.Errorf("%s lacks %q:\n%s", path, part, text[path])
			}
		}
	}
	if strings.Contains(text["models/test-distance.md"], "## Derivative") {
		t.Error("a model without a loss has a derivative")
	}
}

func TestDocsWritesThePages(t *testing.T) {
	dir := t.TempDir()
	ok(t, "docs", "--out", dir)
	got, err := os.ReadFile(filepath.Join(dir, "models", "kmeans-goofy.svg"))
	if err != nil || !strings.HasPrefix(string(got), "<?xml") && !strings.HasPrefix(string(got), "<svg") {
		t.Errorf("%.40s, %v", got, err)
	}
}

// TestReferenceOfFunctions: every function over nodes that the documented packages export is on one
// page, that of an operation shows the functions that add it, and others say what they call.
func TestReferenceOfFunctions(t *testing.T) {
	code, err := readGo()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := reference(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range pages {
		if text[p.path] != "" {
			t.Errorf("%s is made twice", p.path)
		}
		text[p.path] = p.text
	}
	functions := 0
	for _, p := range code.packages {
		for _, f := range p.functions() {
			signature := p.signature(f)
			if !strings.Contains(signature, "*graph.Node") {
				continue
			}
			functions++
			if at := code.page[p.name()+"."+f.Name]; strings.Count(text[at+".md"], "\n"+signature+"\n") != 1 {
				t.Errorf("%s: not once on its page %q", signature, at)
			}
		}
	}
	if functions < 150 {
		t.Errorf("%d functions: not all were found", functions)
	}
	for path, parts := range map[string][]string{
		"ops/Reshape.md":         {"ops.Split(x *graph.Node, axis any, into ...graph.Axis) *graph.Node", "[Merge](Reshape.md)", "It is also a part of [Elementwise](Elementwise.md), [Over](Over.md)"},
		"ops/Less.md":            {"ops.Greater(a, b *graph.Node) *graph.Node"},
		"ops/MaxPick.md":         {"No function adds it: derivatives, batching and rewriting do."},
		"ops/SumPool.md":         {"No function adds it alone; it is a part of [AvgPool1D](AvgPool1D.md), [AvgPool2D](AvgPool2D.md), [AvgPool3D](AvgPool3D.md)."},
		"ops/GELU.md":            {"It calls [Erf](Erf.md), [Mul](Mul.md), [Scale](Mul.md), [Shift](Add.md)."},
		"ops/Window.md":          {"ops.Groups(n int) Window"},
		"nn/CrossEntropy.md":     {"[ops.LogSoftmax](../ops/LogSoftmax.md)", "show(nn.CrossEntropy(logits, labels))\n", "```\n[] [1.24]\n"},
		"nn/LayerNorm.md":        {"type LayerNorm struct {", "nn.NewLayerNorm(g *graph.Graph", "(l LayerNorm) Of(x *graph.Node)"},
		"nn/rnn/LSTM.md":         {"\n\tfmt.Println(p.Path(), p.Shape())\n}\n```\n"},
		"nn/attention/Scores.md": {"(../../ops/"},
		"README.md":              {"| [Relu](ops/Relu.md) | ReLU |", "| [Attend](nn/attention/Attend.md) | Attend returns"},
	} {
		for _, part := range parts {
			if !strings.Contains(text[path], part) {
				t.Errorf("%s lacks %q:\n%s", path, part, text[path])
			}
		}
	}
}
