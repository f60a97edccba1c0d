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

// TestReferenceIsFresh holds docs/reference equal to what the code makes of it.
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
		for _, bad := range []string{".go:", "NaN", "%"} { // a line that moves, a number that is none, a node without a name
			if strings.Contains(p.text, bad) && (bad != "%" || strings.HasPrefix(p.path, "ops/") && strings.HasSuffix(p.path, ".md")) {
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
