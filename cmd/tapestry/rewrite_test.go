package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRewriteCommand: the rules that fire, each firing before and after with its check,
// as text, as JSON, as drawings and as a page.
func TestRewriteCommand(t *testing.T) {
	list := ok(t, "rewrite", "kmeans-softmax")
	for _, want := range []string{"kmeans-softmax: ", "1 × specialise  pairwise distance", "Σ_d (x_id − r_jd)²", "derived again"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	steps := ok(t, "rewrite", "kmeans-softmax", "--step")
	for _, want := range []string{"1. specialise: pairwise distance  at builders/kmeans.go:", "after   SqDist(x, r)\n", "3. derive: ∂loss/∂r", "before  −Σᵢ ∂loss/∂Δ_{ijd}\n", "in float64"} {
		if !strings.Contains(steps, want) {
			t.Errorf("the steps lack %q:\n%s", want, steps)
		}
	}
	var out struct {
		Rules []struct{ Times int }
		Nodes [2]int
	}
	if err := json.Unmarshal([]byte(ok(t, "rewrite", "kmeans-softmax", "--json")), &out); err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, r := range out.Rules {
		times += r.Times
	}
	if n := strings.Count(steps, "   check   "); times != n || n < 5 || out.Nodes[1] >= out.Nodes[0] {
		t.Errorf("%d firings in JSON, %d as steps; nodes %v", times, n, out.Nodes)
	}

	dir := t.TempDir()
	file, drawings, page := filepath.Join(dir, "one.svg"), filepath.Join(dir, "all"), filepath.Join(dir, "page.html")
	one := ok(t, "rewrite", "kmeans-softmax", "--step=1", "--svg", file, "--html", page)
	if n := strings.Count(one, "   check   "); n != 1 {
		t.Errorf("--step=1 shows %d firings", n)
	}
	ok(t, "rewrite", "kmeans-softmax", "--svg", drawings)
	files, err := os.ReadDir(drawings)
	if err != nil || len(files) != times {
		t.Errorf("%d drawings of %d firings: %v", len(files), times, err)
	}
	for _, path := range []string{file, filepath.Join(drawings, "001-pairwise-distance.svg")} {
		svg, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(svg), "SqDist") {
			t.Errorf("%s: %v: no SqDist in it", path, err)
		}
		for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || strings.Count(string(html), "<section>") != times || strings.Count(string(html), "<svg") != times {
		t.Errorf("the page has %d sections of %d: %v", strings.Count(string(html), "<section>"), times, err)
	}
}

// TestRewriteShowsWhatStabilisingRemoves checks that the check of a stabilising rule names the
// values that were not finite.
func TestRewriteShowsWhatStabilisingRemoves(t *testing.T) {
	out := ok(t, "rewrite", "word2vec-negative", "--step")
	if !strings.Contains(out, "all finite after") {
		t.Errorf("no check says what became finite:\n%s", out)
	}
}

func TestRewriteMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rewrite", "kmeans-softmax", "--step=0"}, "tapestry: --step=0: want the number of a firing, from 1\n"},
		{[]string{"rewrite", "kmeans-softmax", "--step=999"}, "tapestry: --step=999: 16 rules fired\n"},
		{[]string{"rewrite"}, "tapestry: rewrite: want one model, got 0 (tapestry list shows the models)\n"},
		{[]string{"grad", "kmeans-softmax", "--format", "pdf"}, "tapestry: --format \"pdf\": want text, latex, mathml or html\n"},
		{[]string{"grad", "kmeans-softmax", "--latex", "--format", "html"}, "tapestry: --latex and --format html: want one of them\n"},
	} {
		if code, out, errOut := tapestry(t, c.args...); code != 2 || out != "" || errOut != c.want {
			t.Errorf("%q: exit code %d, printed %q and %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
}

// TestGradSteps: each equation with its rules, in all formats.
func TestGradSteps(t *testing.T) {
	text := ok(t, "grad", "kmeans-softmax", "--rules")
	for _, want := range []string{"∂loss/∂loss = 1\n    to begin with\n", "∂loss/∂αᵢⱼ = 1/150·Dᵢⱼ\n    mean of n: ∂f/∂uₖ = 1/n; sum rule; product rule\n",
		"    sum over both uses:\n    in loss: ", "    in α: softmax: ∂fⱼ/∂uₖ = fⱼ·(δⱼₖ − fₖ); constant factor\n", "power rule: f = u², ∂f/∂u = 2·u"} {
		if !strings.Contains(text, want) {
			t.Errorf("the steps lack %q:\n%s", want, text)
		}
	}
	if tex := ok(t, "grad", "kmeans-softmax", "--rules", "--format", "latex"); strings.Count(tex, `\begin{align*}`) != 3 || !strings.Contains(tex, `\text{sum over both uses:}`) {
		t.Errorf("LaTeX:\n%s", tex)
	}
	if page := ok(t, "grad", "kmeans-softmax", "--rules", "--format", "html"); !strings.HasPrefix(page, "<!doctype html>") || !strings.Contains(page, "sum over both uses:<br/>") {
		t.Errorf("the page:\n%s", page)
	}
	var out struct {
		Chain, Loss []string
		Rules       [][]string
	}
	if err := json.Unmarshal([]byte(ok(t, "grad", "kmeans-softmax", "--rules", "--json")), &out); err != nil || len(out.Rules) != len(out.Chain) || len(out.Rules) < 4 {
		t.Errorf("%d equations with %d rules: %v", len(out.Chain), len(out.Rules), err)
	}
}

// TestGradNamesEverything: nothing that grad prints is called by its number.
func TestGradNamesEverything(t *testing.T) {
	for _, f := range families() {
		for _, b := range f.Builders {
			for _, args := range [][]string{{"grad", b.Name}, {"grad", b.Name, "--rules"}} {
				code, out, _ := tapestry(t, args...)
				if code == 0 && strings.Contains(out, "%") {
					t.Errorf("%q prints\n%s", args, out)
				}
			}
		}
	}
}
