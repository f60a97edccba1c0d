package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// eachModel calls f with every model that is no clustering, and whether it can be
// trained.
func eachModel(t *testing.T, f func(t *testing.T, m *builders.Model, trains bool)) {
	for _, family := range families() {
		for _, b := range family.Builders {
			t.Run(b.Name, func(t *testing.T) {
				m, err := b.Build(nil, graph.F32)
				if err != nil {
					t.Fatal(err)
				}
				if m.Centres() == nil {
					f(t, m, m.Loss != nil && m.Examples != nil && len(lab.TrainingStep(m, train.SGD(1))) > 0)
				}
			})
		}
	}
}

// TestEveryModelRuns: every model that is no clustering is drawn, derived, compiled
// and trained for some steps, or it is said why not.
func TestEveryModelRuns(t *testing.T) {
	eachModel(t, func(t *testing.T, m *builders.Model, trains bool) {
		name := m.Builder.Name
		if out := ok(t, "draw", name); !strings.HasSuffix(out, "</svg>\n") {
			t.Errorf("the drawing ends with %q", out[max(0, len(out)-20):])
		}
		if out := ok(t, "tape", name); !strings.HasPrefix(out, "program ") {
			t.Errorf("the tape is %.100s", out)
		}
		if m.Loss != nil && len(lab.Wrt(m)) > 0 {
			if out := ok(t, "grad", name); !strings.Contains(out, "\n\n∂") {
				t.Errorf("no derivative in %s", out)
			}
		}
		if name == "test-explodes" || name == "test-edge" {
			return
		}
		args := []string{"train", name, "--steps", "3", "--seeds", "1"}
		if trains {
			if out := ok(t, args...); !strings.Contains(out, "median loss from ") {
				t.Errorf("training prints %s", out)
			}
		} else if code, _, errOut := tapestry(t, args...); code != 1 || !strings.Contains(errOut, "train") {
			t.Errorf("exit code %d, %s", code, errOut)
		}
	})
}

type learnt struct {
	Optimiser, Batches string

	Params int
	Median float64 `json:"median_end"`
	Runs   []struct {
		Seed int
		End  float64
		Loss []float64
	}
}

func learn(t *testing.T, args ...string) (l learnt) {
	t.Helper()
	if err := json.Unmarshal([]byte(ok(t, append([]string{"train", "--json"}, args...)...)), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTrainLearns(t *testing.T) {
	for _, args := range [][]string{{}, {"--batches", "one"}, {"--set", "act=relu,h=16"}, {"--dtype", "f32"}} {
		l := learn(t, append([]string{"test-perceptron"}, args...)...)
		if len(l.Runs) != 3 || len(l.Runs[0].Loss) != 200 {
			t.Fatalf("%d runs of %d steps, want 3 of 200", len(l.Runs), len(l.Runs[0].Loss))
		}
		for _, r := range l.Runs {
			if !(r.End < r.Loss[0]/2) {
				t.Errorf("%v, seed %d: the loss goes from %v to %v", args, r.Seed, r.Loss[0], r.End)
			}
		}
	}
	if l := learn(t, "test-frozen", "--steps", "1"); l.Params != 1 {
		t.Errorf("%d numbers are trained, want 1: no derivative reaches the other", l.Params)
	}
}

// TestTrainDescends: a model that shows what gradient descent does is trained by it, on one data
// set, unless the flags say otherwise.
func TestTrainDescends(t *testing.T) {
	for args, want := range map[string]string{
		"regression-minimum-norm":                                "sgd(0.1) on one batch",
		"regression-minimum-norm --set n=8,d=9":                  "sgd(0.05) on one batch",
		"regression-minimum-norm --rate 0.02":                    "sgd(0.02) on one batch",
		"regression-minimum-norm --set sample=0":                 "sgd(0.1) on fresh examples",
		"regression-minimum-norm --optimiser adam --batches one": "adam(0.01) on one batch",
		"regression-ridge-features --set lambda=4":               "sgd(0.025) on one batch",
		"regression-ols":                                         "adam(0.01) on fresh examples",
	} {
		l := learn(t, append(strings.Fields(args), "--steps", "20", "--seeds", "1")...)
		on := map[string]string{"one": "one batch", "fresh": "fresh examples"}[l.Batches]
		if got := l.Optimiser + " on " + on; got != want {
			t.Errorf("train %s is by %s, want %s", args, got, want)
		}
	}
	if out := ok(t, "train", "regression-minimum-norm"); !strings.Contains(out, "converged: 3 of 3 runs") {
		t.Errorf("gradient descent does not converge:\n%s", out)
	}
}

// The printed table repeats byte for byte and holds what JSON has.
func TestTrainTable(t *testing.T) {
	args := []string{"train", "test-perceptron", "--steps", "40", "--seeds", "2", "--seed", "5"}
	out := ok(t, args...)
	if again := ok(t, args...); out != again {
		t.Errorf("again it is\n%s\nnot\n%s", again, out)
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 13 || !strings.HasPrefix(lines[7], "converged: 0 of 2 runs; seed 5 has not converged: it went ") || lines[0] != "test-perceptron: 60 numbers in 4 parameters trained on fresh examples, 40 steps of adam(0.01)" ||
		!strings.HasPrefix(lines[3], "     5 ") || !strings.HasPrefix(lines[4], "     6 ") || !strings.HasSuffix(lines[3], "▁") {
		t.Errorf("got\n%s", out)
	}
}

func TestBadUseOfModels(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"train test-distance", "test-distance has no loss: there is nothing to train", 1},
		{"train test-huber", "test-huber has nothing to train: its loss depends on no parameter", 1},
		{"train test-explodes", "test-explodes, seed 0: step 1: overflow of exp: exp(1618.178) is beyond float64's 1.8e308: loss[] is -Inf: nothing was committed (--watch-nan says why)", 1},
		{"train test-deep --bind x=a", "--bind: want --data, too: test-deep is trained on examples of its own", 2},
		{"train test-deep --data iris --batches one", "--batches: the rows of the data are the examples", 2},
		{"train test-deep --data iris --bind x", `--bind: binding "x": want INPUT=COLUMN,COLUMN,…`, 2},
		{"train test-deep --data iris --validation 1", "--validation 1: want a share from 0 to below 1", 2},
		{"train test-deep --data iris --batch 0", "--batch 0: want at least 1", 2},
		{"train test-deep --data iris --patience 2", "--patience: want --validation, too: there is nothing to wait for", 2},
		{"train test-deep --data iris --epochs 2 --steps 3", "--epochs and --steps exclude each other", 2},
		{"train kmeans-goofy --bind y=species", "--bind y=species: a clustering reads its points alone, as in x=species", 2},
		{"train test-deep --batches two", `--batches "two": want fresh or one`, 2},
		{"train test-deep --seeds 0", "--seeds 0: want at least 1", 2},
		{"train test-deep --set h=0", "test-deep: h = 0: want a whole number of at least 1", 2},
		{"train test-deep --set act=gelu", `--set act=gelu: act = "gelu": want one of tanh, relu`, 2},
		{"train kmeans-goofy --set d=3", "--set: kmeans-goofy is a clustering, which takes its sizes and its points from the data", 2},
		{"grad test-distance", "test-distance has no loss to differentiate", 2},
		{"draw test-distance --grad", "test-distance has no loss to differentiate", 2},
		{"grad test-frozen --wrt frozen", "the loss of test-frozen has no derivative by frozen", 2},
		{"grad test-frozen --wrt v", `test-frozen has no quantity "v": did you mean "x"? (it has x, w, frozen, y, loss)`, 2},
		{"compare test-deep kmeans-goofy --data iris", "compare: test-deep has no input for rows of 4 numbers, which iris.csv has: its inputs are x[i=32 d=2], labels[i=32]", 2},
		{"compare test-deep test-perceptron --k 3", "--k is for clusterings, and test-deep is none", 2},
		{"compare test-deep test-perceptron --set width=3", "--set width=3: none of test-deep, test-perceptron has it", 2},
		{"compare test-deep test-distance --seeds 1", "test-distance has no loss: there is nothing to train", 1},
		{"docs", "docs: want --out DIRECTORY", 2},
	} {
		code, out, errOut := tapestry(t, strings.Fields(c.args)...)
		if code != c.code || out != "" || errOut != "tapestry: "+c.want+"\n" {
			t.Errorf("tapestry %s: exit code %d, printed %q and %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
}

// Models with the same inputs are compared on the same examples, seed by seed.
func TestCompareModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.html")
	var got struct {
		Models []struct {
			Name, Task string
			Params     int
			Ends       []float64 `json:"end_by_seed"`
		}
		Pairs []struct {
			A, B       string
			Difference float64
		}
	}
	args := []string{"compare", "test-perceptron", "test-deep", "--steps", "30", "--seeds", "3", "--set", "h=4", "--out", path}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &got); err != nil {
		t.Fatal(err)
	}
	if m := got.Models; len(m) != 2 || m[0].Params != 32 || m[1].Params != 52 || m[1].Task != "test-perceptron" || len(m[1].Ends) != 3 {
		t.Errorf("models %+v", m)
	}
	mean := 0.0
	for i := range 3 {
		mean += (got.Models[1].Ends[i] - got.Models[0].Ends[i]) / 3
	}
	if p := got.Pairs; len(p) != 1 || p[0].A != "test-perceptron" || p[0].B != "test-deep" || abs(p[0].Difference-mean) > 1e-12 {
		t.Errorf("pairs %+v, want one of mean %v", p, mean)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"inputs correspond", "standard error", "nodes, ", "between.w", `id="ends"`, `id="training"`, "parameters"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	for _, part := range []string{"inertia", "centre", "spread"} {
		if _, body, _ := strings.Cut(string(page), "<main"); strings.Contains(strings.Split(body, "<script")[0], part) {
			t.Errorf("the page of models without centres speaks of %q", part)
		}
	}
	out := ok(t, args...)
	if !strings.Contains(out, "test-deep − test-perceptron: ") || !strings.Contains(out, "The report is in "+path) {
		t.Errorf("the terminal is told\n%s", out)
	}
}

func abs(v float64) float64 { return max(v, -v) }

// Where the inputs differ, nothing is compared that cannot be.
func TestCompareTasksThatDiffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.html")
	out := ok(t, "compare", "test-perceptron", "test-frozen", "--steps", "4", "--seeds", "2", "--out", path)
	if !strings.Contains(out, "The tasks differ") || strings.Contains(out, "−") {
		t.Errorf("the terminal is told\n%s", out)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "The tasks differ") || strings.Contains(string(page), "standard error") {
		t.Error("the page does not say that the tasks differ, or compares their losses")
	}
}

// TestPages of one model alone and of three are whole, too.
func TestCompareOneAndThree(t *testing.T) {
	for _, names := range []string{"test-deep", "test-deep test-perceptron test-frozen"} {
		out := ok(t, append([]string{"compare", "--steps", "3", "--seeds", "1", "--out", "-"}, strings.Fields(names)...)...)
		if !strings.HasSuffix(out, "</html>\n") {
			t.Errorf("compare %s: something after the page, or no page", names)
		}
	}
}

// Both the optimiser's updates and the model's own are in the step.
func TestTapeOfModels(t *testing.T) {
	out := ok(t, "tape", "test-perceptron")
	for _, path := range []string{"in/w", "in/b", "out/w", "out/b", "steps"} {
		if !strings.Contains(out, "commit "+path+",") {
			t.Errorf("%s is not updated:\n%s", path, out)
		}
	}
	if out := ok(t, "tape", "test-perceptron", "--forward"); strings.Contains(out, "commit") {
		t.Errorf("forward updates something:\n%s", out)
	}
	if out := ok(t, "tape", "test-distance"); !strings.Contains(out, "Sqrt") || strings.Contains(out, "commit") {
		t.Errorf("a model without a loss is\n%s", out)
	}
	if out := ok(t, "tape", "test-frozen"); !strings.Contains(out, "commit w,") || strings.Contains(out, "commit frozen") {
		t.Errorf("a parameter that nothing reaches is trained, or the other is not:\n%s", out)
	}
	if out := ok(t, "tape", "test-perceptron", "--profile", "--steps", "2"); !strings.Contains(out, "roof") {
		t.Errorf("the profile is\n%s", out)
	}
}

func TestDrawModels(t *testing.T) {
	all := ok(t, "draw", "test-perceptron", "--grad", "--format", "text")
	for _, name := range []string{"in/w", "out/b"} {
		if !strings.Contains(all, name) {
			t.Errorf("no %s in\n%s", name, all)
		}
	}
	if n := strings.Count(all, `"∂loss/∂w"`); n != 2 {
		t.Errorf("%d derivatives by weights, want 2", n)
	}
	one := ok(t, "draw", "test-perceptron", "--wrt", "out/b", "--format", "text")
	if strings.Contains(one, `"∂loss/∂w"`) || !strings.Contains(one, `"∂loss/∂b"`) {
		t.Errorf("derivatives besides the one asked for in\n%s", one)
	}
	ok(t, "draw", "test-perceptron", "--against", "test-deep", "--grad", "--level", "ops")
	ok(t, "draw", "test-distance", "--level", "compiled")
}
