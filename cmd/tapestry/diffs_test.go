package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateDiffs = flag.Bool("update-diffs", false, "write docs/diffs anew")

// shownDiffs are the comparisons of docs/diffs, by the names of the pictures.
var shownDiffs = []struct{ name, title, a, b string }{
	{"goofy-attention", "The goofy objective is attention", "kmeans-goofy", "attention-kernel"},
	{"encoder-gpt", "An encoder and a GPT", "transformer-encoder", "transformer-gpt"},
	{"resnet-plain", "With skips and without", "resnet", "resnet-plain"},
	{"pre-post-norm", "Norms before a layer and after the sum", "transformer-encoder{norm=pre}", "transformer-encoder{norm=post}"},
}

// TestDiffsAreTrue checks that docs/diffs has the pictures that the command draws, with the sentences
// that it says.
func TestDiffsAreTrue(t *testing.T) {
	files := map[string]string{}
	var page strings.Builder
	page.WriteString("# Differences of models\n\nMade by `go test ./cmd/tapestry -run TestDiffsAreTrue -update-diffs`. " +
		"Nodes are matched by what they compute and where in the flow they stand, whatever they are called; how, says `viz/match.go`.\n")
	for _, d := range shownDiffs {
		files[d.name+".svg"] = ok(t, "draw", d.a, "--against", d.b, "--no-lines")
		text := strings.SplitN(ok(t, "draw", d.a, "--against", d.b, "--format", "text"), "\n", 5)
		page.WriteString("\n## " + d.title + "\n\n```\n$ tapestry draw " + quoted(d.a) + " --against " + quoted(d.b) + " --format text\n" +
			strings.Join(text[:4], "\n") + "\n…\n```\n\n![" + d.title + "](" + d.name + ".svg)\n")
	}
	files["README.md"] = page.String()
	folder := filepath.Join("..", "..", "docs", "diffs")
	for name, want := range files {
		path := filepath.Join(folder, name)
		if *updateDiffs {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("docs/diffs/%s is old (%v): go test ./cmd/tapestry -run TestDiffsAreTrue -update-diffs", name, err)
		}
	}
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if _, made := files[f.Name()]; !made {
			t.Errorf("docs/diffs/%s is of no comparison", f.Name())
		}
	}
}

// TestDiffInJSON: the sentence and the counts are fields, beside the drawing.
func TestDiffInJSON(t *testing.T) {
	var out struct{ Sentence, Summary, Against, Drawing string }
	if err := json.Unmarshal([]byte(ok(t, "draw", "kmeans-softmax", "--against", "kmeans-goofy", "--json")), &out); err != nil {
		t.Fatal(err)
	}
	if out.Sentence != "Same Δ, D and α; loss differs; only B has r̂." || out.Summary != "B adds 2 boxes, drops 1, shares 6" || !strings.Contains(out.Drawing, "<svg") {
		t.Errorf("got %q, %q", out.Sentence, out.Summary)
	}
}
