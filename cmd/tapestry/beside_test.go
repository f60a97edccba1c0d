package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compared is the output of compare --json for a matrix.
type compared struct {
	Models []struct {
		Name    string
		Setting string    `json:"best_setting"`
		Ends    []float64 `json:"end_by_seed"`
	}
	Pairs   []struct{ A, B string }
	Metrics []struct {
		Name    string
		Higher  bool       `json:"higher_is_better"`
		Medians []*float64 `json:"median_by_model"`
		Marks   []string   `json:"letters_by_model"`
	}
	Trainings []struct {
		Model, Optimiser, Start string
		Seed                    int
		Measures                []*float64
	}
}

func comparedTo(t *testing.T, args ...string) (c compared, page string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.html")
	if err := json.Unmarshal([]byte(ok(t, append([]string{"compare", "--json", "--out", path}, args...)...)), &c); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return c, string(text)
}

// A matrix of clusterings is trained on the data, from the start centres that a single
// training has.
func TestCompareMatrixOfClusterings(t *testing.T) {
	c, page := comparedTo(t, "kmeans-softmax", "kmeans-goofy", "kmeans-sgd", "--optimisers", "adam:0.05,sgd", "--rate", "0.1", "--starts", "1,0.5,normal(0,1)",
		"--seeds", "2", "--steps", "8", "--pair", "kmeans-goofy,kmeans-sgd")
	if len(c.Trainings) != 3*2*3*2 || len(c.Models) != 3 || len(c.Pairs) != 3 {
		t.Fatalf("%d trainings, %d models, %d pairs", len(c.Trainings), len(c.Models), len(c.Pairs))
	}
	if tr := c.Trainings[6+4]; tr.Model != "kmeans-softmax" || tr.Optimiser != "sgd(0.1)" || tr.Start != "normal(0,1)" || tr.Seed != 0 {
		t.Errorf("training 10 is %+v", tr)
	}
	var names []string
	for _, y := range c.Metrics {
		names = append(names, y.Name)
	}
	if got := strings.Join(names, ", "); got != "loss at the end, loss of kmeans-softmax, loss of kmeans-goofy, loss of kmeans-sgd, inertia, ARI, silhouette" {
		t.Errorf("metrics %s", got)
	}
	var single struct{ Inertia float64 }
	if err := json.Unmarshal([]byte(ok(t, "train", "kmeans-softmax", "--optimiser", "adam", "--rate", "0.05", "--seeds", "1", "--steps", "8", "--json")), &single); err != nil {
		t.Fatal(err)
	}
	if got := *c.Trainings[0].Measures[4]; abs(got-single.Inertia) > 1e-9 {
		t.Errorf("inertia %v, trained alone %v", got, single.Inertia)
	}
	for _, part := range []string{"sgd(0.1) from k-means++ × 0.5", `id="settings"`, `id="judged"`, "The graphs of goofy alternative and k", "ARI ↑"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if n := strings.Count(page, `class="drawing"`); n != 1 {
		t.Errorf("%d drawings, want that of the pair", n)
	}
}

// Three models of one task: each judges the others where it can, and each is drawn
// beside the first.
func TestCompareMatrixOfModels(t *testing.T) {
	c, page := comparedTo(t, "test-perceptron", "test-deep", "test-frozen", "--optimisers", "adam:0.01,sgd:0.1", "--seeds", "3", "--steps", "20", "--level", "0.5")
	if len(c.Trainings) != 3*2*3 {
		t.Errorf("%d trainings", len(c.Trainings))
	}
	for _, y := range c.Metrics[1:] {
		for v, m := range y.Medians {
			own := y.Name == "loss of "+c.Models[v].Name
			if own && m == nil {
				t.Errorf("%s is not measured by its own loss", c.Models[v].Name)
			}
			if (m == nil) != (y.Marks[v] == "") {
				t.Errorf("%s by the %s: letters %q", c.Models[v].Name, y.Name, y.Marks[v])
			}
		}
	}
	if n := strings.Count(page, `class="drawing"`); n != 2 {
		t.Errorf("%d drawings, want two", n)
	}
}

// The same command prints the same tables, within 100 columns, and what exceeds the
// noise is marked.
func TestCompareText(t *testing.T) {
	args := []string{"compare", "kmeans-softmax", "kmeans-goofy", "--optimisers", "adam:0.05,sgd:1e6", "--starts", "1,0.5", "--seeds", "3", "--steps", "20", "--out", filepath.Join(t.TempDir(), "r.html")}
	out := ok(t, args...)
	if again := ok(t, args...); out != again {
		t.Errorf("again it is\n%s\nnot\n%s", again, out)
	}
	for _, part := range []string{"2 objectives × 2 optimisers × 2 starts × 3 seeds: 24 trainings of 20 steps", "  best, 0 of 3 converged\n", "3 of 3 diverged\n", "(p = ",
		"Trained by the row, judged by the column", "1  kmeans-softmax", "kmeans-goofy − kmeans-softmax: ", "The report is in "} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 100 && !strings.HasPrefix(line, "The report is in") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

func TestParseSettings(t *testing.T) {
	o, err := parseOptimisers("adam:0.01, sgd", 0.5, asNotes{}.named)
	if err != nil || texts(o) != "adam(0.01), sgd(0.5)" {
		t.Errorf("optimisers %v, %v", o, err)
	}
	s, err := parseStarts("1,-2,normal(0,0.1),glorot")
	if err != nil || texts(s) != "own start, start × -2, normal(0,0.1), glorot" {
		t.Errorf("starts %s, %v", texts(s), err)
	}
}

func TestBadMatrix(t *testing.T) {
	for args, want := range map[string]string{
		"--optimisers adam:x":                       "--optimisers adam:x: want NAME or NAME:RATE with a positive rate, as adam:0.01",
		"--rates cosine(0.1)":                       `--rates: schedule "cosine(0.1)", character 11: cosine wants a value, a number of steps, and perhaps the least value`,
		"--rates 0.1,0.10":                          "--rates: 0.1 is there twice",
		"--rates 0.1,-1":                            "--rates -1: want a positive rate",
		"--rates 0.1 --rate 0.2":                    "--rates: the rates of the matrix take the place of --rate",
		"--optimisers adam:0":                       "--optimisers adam:0: want NAME or NAME:RATE with a positive rate, as adam:0.01",
		"--optimisers lion":                         `--optimisers "lion": want sgd, momentum, smoothed-momentum, nesterov, nesterov-peek, adam, adamw, lazyadam, rmsprop, adagrad or lbfgs`,
		"--optimisers sgd:1,sgd:1":                  "--optimisers: sgd(1) is there twice",
		"--optimisers sgd --optimiser adam":         "--optimisers: the optimisers of the matrix take the place of --optimiser",
		"--starts 0":                                "--starts 0: want a finite factor other than 0",
		"--starts 1,1":                              "--starts: 1 is there twice",
		"--starts gloro":                            `--starts "gloro": want a factor on the initial values, or an initialiser such as glorot or normal(0,0.1)`,
		"--pair kmeans-softmax":                     "--pair kmeans-softmax: want two of kmeans-softmax, kmeans-goofy",
		"--pair kmeans-softmax,kmeans-gofy":         `--pair: "kmeans-gofy" is not compared: did you mean "kmeans-goofy"?`,
		"test-deep --data iris --batches one":       "--batches: the rows of the data are the examples",
		"test-deep --optimisers sgd --k 3":          "--k is for clusterings, and test-deep is none",
		"kmeans-softmax --optimisers sgd --set d=3": "--set: kmeans-softmax is a clustering, which takes its sizes and its points from the data",
	} {
		code, out, errOut := tapestry(t, append([]string{"compare"}, strings.Fields(args)...)...)
		if code != 2 || out != "" || errOut != "tapestry: "+want+"\n" {
			t.Errorf("compare %s: exit code %d, printed %q and %q, want %q", args, code, out, errOut, want)
		}
	}
}

func TestShortNames(t *testing.T) {
	for _, c := range [][2][]string{
		{{"kmeans-softmax", "own/soft.tapestry"}, {"kmeans-softmax", "soft.tapestry"}},
		{{"a/soft.tapestry", "b/soft.tapestry"}, {"a/soft.tapestry", "b/soft.tapestry"}}, // to be told apart
	} {
		if got := shortNames(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%q become %q, want %q", c[0], got, c[1])
		}
	}
}

// TestClusteringBesideHeld: clusterings and another model are compared on rows that are held out and
// standardised, and the other gets the sizes of the data.
func TestClusteringBesideHeld(t *testing.T) {
	page := filepath.Join(t.TempDir(), "r.html")
	out := ok(t, "compare", "kmeans-softmax", "autoencoder-linear", "--data", "wine", "--seeds", "2", "--steps", "3", "--validation", "0.25", "--standardise", "--out", page)
	for _, part := range []string{"on 133 rows of wine.csv, measured on 45 others", "held inertia", "autoencoder-linear"} {
		if !strings.Contains(out, part) {
			t.Errorf("the summary does not say %q:\n%s", part, out)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "and 45\u00a0rows held out") || !strings.Contains(string(text), "columns standardised") {
		t.Errorf("the page does not say how the data were prepared: %v", err)
	}
}

// TestGradientsUnderRates: the gradients of the report are followed along trainings at the best of
// the schedules, and where a model has an optimiser of its own, by that.
func TestGradientsUnderRates(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"init{weights=he}", "init{weights=xavier}", "--rates", "warmup(2,cosine(0.01,18)),0.01"},
		{"regression-ols", "regression-ridge{lambda=0.5}", "--as-notes"},
		{"regression-ols", "regression-ridge{lambda=0.5}"},
	} {
		ok(t, append([]string{"compare", "--steps", "20", "--seeds", "5", "--out", "r.html"}, args...)...)
		page, err := os.ReadFile("r.html")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), `id="gradients`) {
			t.Errorf("%q: the report has no gradients", args)
		}
	}
}
