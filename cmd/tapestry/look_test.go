package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// looked runs look, and returns what it prints and the names of its pictures, each of which must be
// well-formed and begin with the line that says what it is of.
func looked(t *testing.T, args ...string) (out string, files []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pictures")
	code, out, errOut := tapestry(t, append([]string{"look", "--out", dir}, args...)...)
	if code != 0 {
		t.Fatalf("look %s: exit code %d, %s", strings.Join(args, " "), code, errOut)
	}
	says, _, _ := strings.Cut(out, "\n")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
		svg, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", e.Name(), err)
			}
			if chars, is := token.(xml.CharData); is {
				text += string(chars)
			}
		}
		if !strings.HasPrefix(says, "{") && !strings.Contains(strings.Join(strings.Fields(text), " "), says) {
			t.Errorf("%s does not say %q", e.Name(), says)
		}
	}
	return strings.ReplaceAll(out, dir+string(filepath.Separator), ""), files
}

// TestLook: the pictures are those that suit what a model is.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own.tapestry")
	putFile(t, own, "input x[n=16] ~ uniform(-2, 2)\ninput y[n] ~ sin(x)\nparam a[u=3] ~ normal(0, 1)\nparam c[u] ~ normal(0, 1)\nparam v[u] ~ normal(0, 1)\nh[n, u] = relu(a*x + c)\nyhat[n] = sum(v*h, u)\nloss = mean((yhat - y)^2, n)\noutput yhat\n")
	for _, c := range []struct {
		args  []string
		files []string
		says  []string
	}{
		{[]string{"regression-relu", "--steps", "20"}, []string{"cauchy.svg", "elbows.svg", "units.svg"},
			[]string{"regression-relu on fresh examples of its own, seed 0: 20 steps of adam(0.01), not converged\n", "no more than chance"}},
		{[]string{own, "--steps", "20"}, []string{"cauchy.svg", "elbows.svg", "units.svg"}, []string{"dead at start"}},
		{[]string{"kmeans-softmax", "--steps", "40", "--seeds", "1"}, []string{"centres.svg"}, []string{"the best of 1 run of 40 steps for each k; converged: 0 of 3 runs\n", "\n   2 ", "\n   3 ", "\n   4 "}},
		{[]string{"kmeans-lloyd", "--restarts", "2", "--k", "3"}, []string{"centres.svg"}, []string{"the best of 2 starts for each k; converged: 2 of 2 runs\n"}},
		{[]string{"attention-self", "--steps", "5"}, []string{"attention.svg"}, []string{"entropy"}},
		{[]string{"regression-ols", "--steps", "30"}, []string{"directions.svg"}, []string{"one batch of examples of its own", "sgd(0.0181)", "loss on rows not trained on"}},
		{[]string{"regression-ols{n=20,d=2}", "--optimiser", "adam", "--steps", "5"}, []string{"directions.svg"}, []string{"adam(0.01)"}},
		{[]string{"unet{size=16}", "--steps", "2"}, []string{"layers.svg", "receptive.svg", "units.svg"}, []string{"transposed convolution"}},
		{[]string{"graph-gcn", "--data", "karate", "--steps", "5"}, []string{"graph.svg", "units.svg"}, []string{"  gcn1/y  0.0", "              0\n"}},
		{[]string{"graph-chebyshev", "--steps", "5"}, []string{"graph.svg", "units.svg"}, []string{"  filter  with A  with"}},
	} {
		out, files := looked(t, c.args...)
		if !slices.Equal(files, c.files) {
			t.Errorf("look %s draws %q, want %q", c.args[0], files, c.files)
		}
		for _, says := range c.says {
			if !strings.Contains(out, says) {
				t.Errorf("look %s does not say %q:\n%s", c.args[0], says, out)
			}
		}
	}
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLookTokens: attention over a text is labelled with its characters.
func TestLookTokens(t *testing.T) {
	out, _ := looked(t, "transformer-gpt", "--data", "constitution", "--steps", "2", "--json")
	var v struct {
		Pictures []struct {
			File    string
			Numbers json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	var heads []struct {
		Queries, Keys []string
		Weights       [][]float64
	}
	if err := json.Unmarshal(v.Pictures[0].Numbers, &heads); err != nil {
		t.Fatal(err)
	}
	for _, q := range heads[0].Queries {
		if len([]rune(q)) != 1 {
			t.Errorf("a query is %q, want a character", q)
		}
	}
	if len(heads[0].Weights) != len(heads[0].Queries) || len(heads[0].Weights[0]) != len(heads[0].Keys) {
		t.Errorf("%d×%d weights for %d queries and %d keys", len(heads[0].Weights), len(heads[0].Weights[0]), len(heads[0].Queries), len(heads[0].Keys))
	}
}

// TestLookParams: with --params nothing is trained, and what the file lacks is said.
func TestLookParams(t *testing.T) {
	dir := t.TempDir()
	params, centres := filepath.Join(dir, "p.json"), filepath.Join(dir, "c.json")
	putFile(t, params, `{"w": [2, -1], "b": [-1, -100]}`)
	putFile(t, centres, `{"r": [[5, 3.4, 1.5, 0.2], [6.3, 2.9, 4.9, 1.7]]}`)
	out, _ := looked(t, "regression-relu", "--params", params)
	for _, part := range []string{"the values of " + params + "; as training begins: v, c\n", "  1              0.500     0.500             2.000   2.000              –       –\n", "dead    dead\n"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing from\n%s", part, out)
		}
	}
	if out, _ = looked(t, "kmeans-softmax", "--params", centres); !strings.Contains(out, "\n   2       153.38       0.6810") {
		t.Errorf("two centres of iris:\n%s", out)
	}
}

// TestLookMistakes: a model with nothing to see, and flags that do not go together.
func TestLookMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	putFile(t, file, "")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"rnn-lstm", "--steps", "2"}, 1, "tapestry: rnn-lstm has nothing that look draws: no centres, no attention, no ReLUs, no loss that is quadratic in its parameters, no convolution or pooling, no graph, and no three layers of weights in a row\n"},
		{[]string{"kmeans-softmax", "--k", "2,2"}, 2, "tapestry: --k: 2 is given twice\n"},
		{[]string{"kmeans-softmax", "--k", "0"}, 2, "tapestry: --k 0: want at least 1\n"},
		{[]string{"kmeans-lloyd", "--steps", "9"}, 2, "tapestry: --steps: Lloyd's algorithm begins --restarts times, and goes on until nothing moves\n"},
		{[]string{"regression-relu", "--k", "2"}, 2, "tapestry: --k is for clusterings, and regression-relu is none\n"},
		{[]string{"regression-relu", "--params", "p.json", "--steps", "2"}, 2, "tapestry: --steps: --params has the values, and nothing is trained\n"},
		{[]string{"regression-relu", "--out", file}, 2, "tapestry: --out " + file + ": this is a file: want a folder\n"},
		{[]string{"position-rotation{i=4}", "--seeds", "2"}, 2, "tapestry: --seeds: it counts the runs of a clustering, and position-rotation{i=4} is none\n"},
		{[]string{"nothing"}, 2, "tapestry: unknown model \"nothing\": did you mean \"conv-2d\"? (tapestry list shows all)\n"},
	} {
		args := append([]string{"look"}, c.args...)
		if !slices.Contains(args, "--out") {
			args = append(args, "--out", filepath.Join(dir, "look"))
		}
		code, _, errOut := tapestry(t, args...)
		if code != c.code || errOut != c.want {
			t.Errorf("%q: exit code %d, %s", c.args, code, errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "look")); err == nil {
		t.Error("a folder was made although there is nothing to draw")
	}
}

// TestLookQuery: what a token attends to, by the text that ends with it.
func TestLookQuery(t *testing.T) {
	text := filepath.Join(t.TempDir(), "t.txt")
	putFile(t, text, strings.Repeat("ab it c\nba it d\n", 20))
	out, _ := looked(t, "transformer-gpt{t=7,heads=1}", "--data", text, "--steps", "2", "--query", "it ")
	if !strings.Contains(out, "what \"it \" attends to: each key with its place and weight\n  head                           query  keys\n  decoder/block1/self-attention  6      ") {
		t.Errorf("it prints\n%s", out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"transformer-gpt{t=7,heads=1}", "--data", text, "--steps", "2", "--query", "x"}, "tapestry: --query \"x\": the first example has it nowhere: it reads a b ␣ i t ␣ c\n"},
		{[]string{"regression-relu", "--steps", "2", "--query", "x"}, "tapestry: --query: regression-relu has no attention\n"},
		{[]string{"kmeans-softmax", "--query", "x"}, "tapestry: --query: kmeans-softmax has no attention\n"},
	} {
		code, _, errOut := tapestry(t, append([]string{"look", "--out", t.TempDir()}, c.args...)...)
		if lines := strings.SplitAfter(errOut, "\n"); code != 2 || !slices.Contains(lines, c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, errOut)
		}
	}
}

// TestLookSchedules: the line above the pictures has the schedule of the rate, and a prediction for
// a constant rate is not drawn under one.
func TestLookSchedules(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := ok(t, "look", "init", "--steps", "5", "--rate", "cosine(0.01,5)"); !strings.Contains(out, "5 steps of adam(cosine(0.01,5))") {
		t.Errorf("the schedule is not said: %.200s", out)
	}
	code, _, got := tapestry(t, "look", "regression-ols", "--steps", "5", "--rate", "cosine(0.01,5)")
	if want := "tapestry: --rate cosine(0.01,5): what descent does to a loss that is quadratic is predicted for a constant rate: want a number"; code == 0 || strings.TrimSpace(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
