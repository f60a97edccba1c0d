package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tapestry runs the program in an empty directory and returns its output.
func tapestry(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// ok runs the program and fails the test if it fails.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := tapestry(t, args...)
	if code != 0 || errOut != "" {
		t.Fatalf("tapestry %s: exit code %d, %s", strings.Join(args, " "), code, errOut)
	}
	return out
}

func TestListShowsEveryModel(t *testing.T) {
	all := 0
	short, long := words(ok(t, "list")), words(ok(t, "list", "-v"))
	for _, f := range families() {
		all += len(f.Builders)
		for _, b := range f.Builders {
			for _, part := range []string{b.Name, b.Title} {
				if !strings.Contains(short, words(part)) {
					t.Errorf("list does not show %q", part)
				}
			}
			for _, part := range []string{b.Name, b.Title, b.Notes, b.Formula} {
				if !strings.Contains(long, words(part)) {
					t.Errorf("list -v does not show %q", part)
				}
			}
		}
	}
	if n := strings.Count(ok(t, "list", "--json"), "\n"); n != all {
		t.Errorf("%d lines of JSON, want %d", n, all)
	}
}

// arguments splits a command line and replaces a placeholder by a path, which may have spaces:
// arguments("train --log FILE", "FILE", path).
func arguments(line string, places ...string) []string {
	args := strings.Fields(line)
	for i, a := range args {
		args[i] = strings.NewReplacer(places...).Replace(a)
	}
	return args
}

// words is a text without regard to where its lines break.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestEveryCommandHasHelp(t *testing.T) {
	root := newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{})
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		help := ok(t, c.Name(), "--help")
		for _, part := range []string{"Examples:\n  tapestry " + c.Name(), "--json", "--seed"} {
			if !strings.Contains(help, part) {
				t.Errorf("the help of %s lacks %q:\n%s", c.Name(), part, help)
			}
		}
	}
}

func TestBadUse(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string
	}{
		{"frobnicate", `tapestry: unknown command "frobnicate" for "tapestry"`},
		{"draw", "tapestry: draw: want one model, got 0 (tapestry list shows the models)"},
		{"trian", `tapestry: unknown command "trian" for "tapestry": did you mean "train"?`},
		{"help trian", `tapestry: unknown command "trian" for "tapestry": did you mean "train"?`},
		{"list kmeans-sgt", `tapestry: unknown model "kmeans-sgt": did you mean "kmeans-sgd"? (tapestry list shows all)`},
		{"check kmeans-sgd kmeans-goofy", "tapestry: check: want a model, or --all (tapestry list shows the models)"},
		{"compare --k x", `tapestry: invalid argument "x" for "--k" flag: invalid syntax`},
		{"compare --seed -1", `tapestry: invalid argument "-1" for "--seed" flag: invalid syntax`},
		{"compare --gamma -1", "tapestry: --gamma -1: want a positive temperature"},
		{"compare --gamma 0", "tapestry: --gamma 0: want a positive temperature"},
		{"compare --label species", "tapestry: --label, --ignore and --missing are for CSV files; iris is embedded and has its labels"},
		{"compare --centres absent.csv", "tapestry: --centres: want --start given, too"},
		{"compare kmeans-sgd kmeans-sgd", "tapestry: compare: kmeans-sgd is named twice"},
		{"compare --json --out -", "tapestry: --json: the page itself goes to standard output; want --out FILE"},
		{"draw kmeans-sofmax", `tapestry: unknown model "kmeans-sofmax": did you mean "kmeans-softmax"? (tapestry list shows all)`},
		{"draw kmeans-goofy --level deep", `tapestry: --level "deep": want notes, ops, primitive or compiled`},
		{"draw kmeans-goofy --engine gd", `tapestry: --engine "gd": want own or dot`},
		{"draw kmeans-goofy --format png", `tapestry: --format "png": want svg, dot or text`},
		{"draw kmeans-goofy --theme pink", `tapestry: --theme "pink": want auto, light or dark`},
		{"tape kmeans-goofy --set n", `tapestry: --set "n": want name=value`},
		{"tape kmeans-goofy --set k=0", "tapestry: kmeans-goofy: k = 0: want a whole number of at least 1"},
		{"tape kmeans-goofy --dtype f8", `tapestry: --dtype "f8": want f32, f64, f16 or bf16`},
		{"train kmeans-goofy --dtype f16", `tapestry: --dtype f16: want f32 or f64: parameters are not trained in f16 (a program of its own casts them, with ops.Cast, where they are used)`},
		{"grad kmeans-goofy --wrt q", `tapestry: kmeans-goofy has no quantity "q": did you mean "x"? (it has x, r, γ, Δ, D, α, r̂, loss)`},
		{"check", "tapestry: check: want a model, or --all (tapestry list shows the models)"},
		{"train kmeans-goofy --steps 0", "tapestry: --steps 0: want at least 1"},
		{"train kmeans-goofy --rate -1", "tapestry: --rate -1: want a positive number"},
		{"train kmeans-goofy --gamma x", `tapestry: --gamma: schedule "x", character 1: want a number, from..to, or one of warmup, hold, within, step, exp, cosine, 1/t`},
		{"train kmeans-goofy --optimiser lion", `tapestry: --optimiser "lion": want sgd, momentum, smoothed-momentum, nesterov, nesterov-peek, adam, adamw, lazyadam, rmsprop, adagrad or lbfgs`},
		{"step kmeans-goofy --optimiser lbfgs", "tapestry: --optimiser lbfgs finds the length of each step by a line search, which step does not walk through: choose another, or train"},
		{"train kmeans-lloyd --choose-k 6", `tapestry: --choose-k "6": want two numbers, as in 2..8`},
		{"train kmeans-lloyd --choose-k 4..3", "tapestry: --choose-k 4..3: want 2 or more, in order"},
		{"train transformer-gpt --choose-k 2..3", "tapestry: --choose-k is for clusterings, and transformer-gpt is none"},
		{"train kmeans-goofy --start given", "tapestry: --start given: want --centres FILE"},
		{"check kmeans-goofy --engine cuda", `tapestry: --engine "cuda": want gorgonia or onnxruntime`},
		{"train kmeans-goofy --engine cuda", `tapestry: --engine "cuda": want native, gorgonia or onnxruntime`},
		{"compare kmeans-softmax kmeans-gofy --out DIR/r.html", `tapestry: unknown model "kmeans-gofy": did you mean "kmeans-goofy"? (tapestry list shows all)`},
		{"compare --bogus", "tapestry: unknown flag: --bogus"},
		{"train transformer-gpt --checkpont runs", "tapestry: unknown flag: --checkpont: did you mean --checkpoint?"},
	} {
		code, out, errOut := tapestry(t, arguments(c.args, "DIR", dir)...)
		if code != 2 || out != "" || strings.TrimSuffix(errOut, "\n") != c.want {
			t.Errorf("tapestry %s: exit code %d, printed %q and %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
}

// Bad data give one line that names file, row and column, exit code 1, and no report.
func TestBadData(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	files := map[string]string{
		"empty.csv":   "",
		"header.csv":  "a,b\n",
		"word.csv":    "a,b\n1,2\n3,x\n4,5\n",
		"ragged.csv":  "a,b\n1,2\n3\n",
		"nan.csv":     "a,b\n1,2\nNaN,4\n",
		"inf.csv":     "a,b\n1,2\n3,+Inf\n",
		"few.csv":     "a,b\n1,2\n3,4\n",
		"huge.csv":    "a,b\n1e200,2\n3,4\n5,-1e200\n6,7\n",
		"flat.csv":    "a,b\n5,1\n5,1\n5,1\n5,1\n",
		"missing.csv": "a,b\n1,2\n,4\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	long, err := os.Create("long.csv")
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("1234567890"), 1<<20)
	fmt.Fprint(long, "a,b\n1,2\n")
	for range 20 {
		if _, err := long.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := long.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, want string }{
		{"absent.csv", "absent.csv"},
		{"empty.csv", "empty.csv"},
		{"header.csv", "header.csv"},
		{"word.csv", `word.csv:3: column "b": "x"`},
		{"ragged.csv", "ragged.csv:3"},
		{"nan.csv", `nan.csv:3: column "a"`},
		{"inf.csv", `inf.csv:3: column "b"`},
		{"missing.csv", `missing.csv:3: column "a"`},
		{"few.csv", "few.csv: k = 3 clusters, but the file has only 2 rows"},
		{"huge.csv", "huge.csv: squared distances overflow: rescale numbers as large as 1e+200"},
		{"flat.csv", `flat.csv: every column is constant ("a" is 5 in all 4 rows)`},
		{"long.csv", "long.csv:3"},
	} {
		for _, command := range []string{"compare", "train"} {
			args := []string{command, "--data", c.file, "--k", "3"}
			if command == "train" {
				args = append(args, "kmeans-softmax")
			}
			code, out, errOut := tapestry(t, args...)
			if code != 1 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, c.want) {
				t.Errorf("%s %s: exit code %d, printed %q and %q, want one line with %q", command, c.file, code, out, errOut, c.want)
			}
		}
	}
	if left, _ := filepath.Glob("*.html"); left != nil {
		t.Errorf("a report is left: %v", left)
	}
	if left, _ := filepath.Glob(".report*"); left != nil {
		t.Errorf("a part of a report is left: %v", left)
	}
}

// A constant column beside others, as digits has, is no mistake.
func TestConstantColumn(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("flat.csv", []byte("a,b\n1,5\n2,5\n9,5\n10,5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "train", "kmeans-lloyd", "--data", "flat.csv", "--k", "2")
	if !strings.Contains(out, "inertia 1 ") {
		t.Errorf("got %s", out)
	}
}

func TestTrainReachesLloyd(t *testing.T) {
	var got struct {
		Inertia float64 `json:"inertia"`
		ARI     float64 `json:"ari"`
	}
	for model, limit := range map[string]float64{"kmeans-lloyd": 78.8515, "kmeans-softmax": 78.85 * 1.01} {
		if err := json.Unmarshal([]byte(ok(t, "train", model, "--json")), &got); err != nil {
			t.Fatal(err)
		}
		if got.Inertia > limit || got.ARI < 0.71 {
			t.Errorf("%s: inertia %v, ARI %v", model, got.Inertia, got.ARI)
		}
	}
}

func TestPredict(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("train.csv", []byte("a\n0\n1\n10\n11\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("new.csv", []byte("a\n-5\n50\n0.4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var got struct{ Predicted []int }
	if err := json.Unmarshal([]byte(ok(t, "train", "kmeans-lloyd", "--data", "train.csv", "--k", "2", "--predict", "new.csv", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if p := got.Predicted; len(p) != 3 || p[0] == p[1] || p[0] != p[2] {
		t.Errorf("predicted %v", p)
	}
}

func TestGorgoniaTrainsAlike(t *testing.T) {
	type result struct {
		Loss, Inertia float64
		Centres       [][]float64
	}
	var native, gorgonia result
	args := []string{"train", "kmeans-softmax", "--steps", "20", "--seeds", "1", "--json"}
	if err := json.Unmarshal([]byte(ok(t, args...)), &native); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--engine", "gorgonia")...)), &gorgonia); err != nil {
		t.Fatal(err)
	}
	for j, c := range native.Centres {
		for d, x := range c {
			if diff := x - gorgonia.Centres[j][d]; diff > 1e-9 || diff < -1e-9 {
				t.Errorf("centre %d, feature %d: native %v, gorgonia %v", j, d, x, gorgonia.Centres[j][d])
			}
		}
	}
	code, _, errOut := tapestry(t, "train", "kmeans-lloyd", "--engine", "gorgonia")
	if code != 1 || !strings.Contains(errOut, "Select: gorgonia cannot run it") || strings.Count(errOut, "\n") != 1 {
		t.Errorf("exit code %d, %q: want a line that names Select", code, errOut)
	}
}

func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	out := ok(t, "compare", "--seeds", "2", "--steps", "20", "--restarts", "3")
	if !strings.Contains(out, "report.html") {
		t.Errorf("compare does not say where the report is:\n%s", out)
	}
	page, err := os.ReadFile("report.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<svg", "soft k-means", "goofy alternative", "spread"} {
		if !bytes.Contains(page, []byte(part)) {
			t.Errorf("the report lacks %q", part)
		}
	}
	if code, _, errOut := tapestry(t, "compare", "--seeds", "1", "--steps", "2", "--restarts", "1", "--out", "absent/report.html"); code != 1 || !strings.Contains(errOut, "absent/report.html") {
		t.Errorf("exit code %d, %q: want an error that names the file", code, errOut)
	}
}
