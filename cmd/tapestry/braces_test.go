package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// ownText is an objective with an axis and a scalar to set.
const ownText = `objective "own"
scalar lambda = 0.5
input x[i=6] ~ uniform(-2, 2)
input y[i] ~ sin(2*x)
param w[h=8] ~ normal(0, 1)
elbows[i,h] = relu(w*x)
ŷ[i] = mean(elbows, h)
loss = mean((ŷ - y)^2, i) + lambda*sum(w^2, h)
`

// TestEveryCommandTakesSettings: where a model may stand, so may a model with settings in braces,
// one of the registry or a file.
func TestEveryCommandTakesSettings(t *testing.T) {
	own := written(t, ownText)
	dir := filepath.Dir(own)
	const few = " --steps 3 --seeds 1"
	for args, want := range map[string]string{
		"train init{weights=xavier,d=4}" + few:                                             "init{weights=xavier,d=4}: 85 numbers",
		"train OWN{h=3}" + few:                                                             "OWN{h=3}: 3 numbers",
		"train OWN{h=3} --set lambda=2" + few:                                              "OWN{h=3}: 3 numbers",
		"train init{d=4} --set d=4" + few:                                                  "85 numbers",
		"compare init{weights=he} init{weights=xavier} -o DIR/a.html" + few:                "init{weights=xavier}: 297 numbers",
		"compare init{d=4} init{d=5} --set weights=xavier -o DIR/b.html" + few:             "init{d=5}: 126 numbers",
		"compare init{d=4} init --set d=3 -o DIR/c.html" + few:                             "init: 52 numbers",
		"compare OWN{h=3} OWN{h=4,lambda=0} -o DIR/d.html" + few:                           "\nmine.tapestry{h=4,lambda=0}: 4 numbers",
		"compare OWN{h=3} OWN{h=4} OWN --pair OWN{h=4},OWN -o DIR/e.html" + few:            "\nmine.tapestry{h=3}: 3 numbers",
		"compare kmeans-softmax{gamma=1} kmeans-softmax{gamma=9} -o DIR/f.html --steps 9":  "kmeans-softmax{gamma=9}: 12 numbers",
		"compare kmeans-softmax{gamma=1} kmeans-softmax --gamma 2 -o DIR/g.html --steps 9": "kmeans-softmax{gamma=1}: 12 numbers",
		"step init{weights=xavier} --print":                                                "deep net from its initialisation (weights = xavier)",
		"step OWN{h=3} --print":                                                            "own (h = 3)",
		"grad init{layers=1,d=2} --wrt layer1/w":                                           "∂loss/∂layer1.w",
		"grad OWN{h=3}":                                                                    "∂loss/∂w",
		"draw init{layers=1} --format text":                                                `graph "deep net from its initialisation (layers = 1)"`,
		"draw init{layers=1} --grad":                                                       "(layers = 1)</title>",
		"draw OWN{h=3} --against OWN{h=4} --format dot":                                    "B · own (h = 4)",
		"draw OWN{h=3} --format text":                                                      "h=3",
		"tape kmeans-softmax{n=50,k=2,gamma=2}":                                            "SqDist x[i=50 d=4], r[j=2 d=4]",
		"tape OWN{h=3}":                                                                    "w[h=3]",
		"check init{d=2,layers=1}":                                                         "init{d=2,layers=1} tape      ok",
		"check OWN{h=3}":                                                                   "0 failed",
		"list init{weights=xavier} OWN{h=3} init{weights=xavier}":                          "--set weights=xavier",
		"list OWN{h=3}":       "--set h=3",
		"precision init{d=4}": "digits lost",
		"precision OWN{h=3}":  "digits lost",
		"autopsy init{d=4}":   "init{d=4}, step 0: every value",
		"autopsy OWN{h=3}":    "OWN{h=3}, step 0: every value",
		"rewrite init{d=4}":   "init{d=4}: ",
		"rewrite OWN{h=3}":    "OWN{h=3}: ",
		"geometry init{d=2,weights=he} init{d=2,weights=xavier} --steps 2": "init{d=2,weights=xavier}: second derivatives by 27 numbers",
		"geometry OWN{h=3} --steps 2":                                      "mine.tapestry{h=3}: second derivatives by 3 numbers",
		"train kmeans-softmax{gamma=2} --steps 9":                          "kmeans-softmax{gamma=2} on iris.csv",
		"step kmeans-softmax{gamma=2} --print":                             "soft k-means (gamma = 2)",
		"geometry kmeans-softmax{gamma=2} --steps 2":                       "kmeans-softmax{gamma=2}: second derivatives by 12 numbers",
		"tape init{d=4} --profile":                                         "(d = 4)",
	} {
		if out := ok(t, arguments(args, "DIR", dir, "OWN", own)...); !strings.Contains(out, strings.ReplaceAll(want, "OWN", own)) {
			t.Errorf("tapestry %s does not say %q:\n%.1500s", args, want, out)
		}
	}
}

// TestSettingsInBracesAreSet: settings in braces do what --set does, spaces or not, and two settings
// of a model differ.
func TestSettingsInBracesAreSet(t *testing.T) {
	own := written(t, ownText)
	loss := func(args ...string) []float64 {
		return learn(t, append(args, "--steps", "4", "--seeds", "1")...).Runs[0].Loss
	}
	for _, c := range []struct{ model, settings string }{{"init", "weights=xavier,d=4"}, {own, "h=3,lambda=0.25"}} {
		with, plain := loss(c.model+"{"+c.settings+"}"), loss(c.model)
		spaced := loss(c.model + "{ " + strings.NewReplacer("=", " = ", ",", " , ").Replace(c.settings) + " }")
		if set := loss(c.model, "--set", c.settings); !slices.Equal(with, set) || !slices.Equal(with, spaced) || slices.Equal(with, plain) {
			t.Errorf("%s{%s}: losses %v, with spaces %v, with --set %v, without settings %v", c.model, c.settings, with, spaced, set, plain)
		}
	}
}

// TestTemperatureInBraces: γ in braces is the constant that --gamma gives.
func TestTemperatureInBraces(t *testing.T) {
	for _, args := range []string{"train MODEL --steps 9 --seeds 1", "step MODEL --train 3 --print --node loss", "geometry MODEL --steps 3"} {
		run := func(model string, more ...string) string {
			out := ok(t, append(arguments(args, "MODEL", model), more...)...)
			out = strings.ReplaceAll(out, "kmeans-softmax{gamma=2}", "kmeans-softmax")
			return strings.Join(strings.Fields(strings.ReplaceAll(out, " (gamma = 2)", "")), " ") // columns are as wide as names
		}
		with, flag, plain := run("kmeans-softmax{gamma=2}"), run("kmeans-softmax", "--gamma", "2"), run("kmeans-softmax")
		if with != flag || with == plain {
			t.Errorf("%s: with braces\n%s\nwith --gamma\n%s", args, with, flag)
		}
	}
}

// TestSettingsInBracesOfData: what is trained on data has the settings in braces, its checkpoint
// predicts, and the same command resumes.
func TestSettingsInBracesOfData(t *testing.T) {
	own := written(t, "input x[i=9, d=2]\ninput y[i]\nparam w[d, h=8] ~ normal(0, 1)\nparam v[h] ~ normal(0, 1)\nŷ[i] = dot(tanh(dot(x, w, d)), v, h)\noutput ŷ\nloss = mean((ŷ - y)^2, i)\n")
	dir := filepath.Dir(own)
	table := filepath.Join(dir, "table.csv")
	text := "a,b,y\n"
	for i := range 12 {
		text += fmt.Sprintf("%d,%d,%d\n", i, i*i%7, i%3)
	}
	if err := os.WriteFile(table, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	args := []string{"train", own + "{h=3}", "--data", table, "--bind", "x=a,b", "--bind", "y=y", "--checkpoint", kept}
	for _, more := range [][]string{{"--steps", "4"}, {"--steps", "6", "--resume"}} {
		if code, out, errOut := tapestry(t, append(args, more...)...); code != 0 || !strings.Contains(out, "{h=3}: 9 numbers") {
			t.Errorf("%v: exit code %d, %s%s", more, code, out, errOut)
		}
	}
	if out := ok(t, "predict", kept, "--data", table); strings.Count(out, "\n") != 13 {
		t.Errorf("predicted: %s", out)
	}
	if code, _, errOut := tapestry(t, "train", own+"{d=5}", "--data", table, "--bind", "x=a,b", "--bind", "y=y", "--steps", "4"); code == 0 || !strings.Contains(errOut, "with d = 5 the model has 5") {
		t.Errorf("a width that the data do not have: exit code %d, %s", code, errOut)
	}
}

// TestMistakesInBraces: a mistake in the braces, and a flag that contradicts them, are said with the
// model that they are of.
func TestMistakesInBraces(t *testing.T) {
	own := written(t, ownText)
	for args, want := range map[string]string{
		"grad init{wights=he}":      `init{wights=he}: init has no setting "wights": did you mean "weights"? (it has n, d, layers, activation, weights, bias)`,
		"train init{weights=hee}":   `init{weights=hee}: weights = "hee": want one of xavier, he, glorot, glorot-uniform, he-uniform, orthogonal, xavier-with-bias, small`,
		"draw init{d=0}":            "init{d=0}: init: d = 0: want a whole number of at least 1",
		"draw init{d=x}":            `init{d=x}: d = "x": want a number`,
		"draw init{}":               `init{}: "" in the braces: want setting=value`,
		"draw init{d}":              `init{d}: "d" in the braces: want setting=value`,
		"draw init{d=4,}":           `init{d=4,}: "" in the braces: want setting=value`,
		"draw init{d=4,d=5}":        "init{d=4,d=5}: d is there twice",
		"draw int{d=4}":             `unknown model "int": did you mean "init"? (tapestry list shows all)`,
		"draw initd=4":              `unknown model "initd=4": want settings in braces, quoted for the shell: 'MODEL{setting=value,…}'`,
		"draw init{d=4":             `unknown model "init{d=4": want settings in braces, quoted for the shell: 'MODEL{setting=value,…}'`,
		"draw {d=4}":                `unknown model "{d=4}": want settings in braces, quoted for the shell: 'MODEL{setting=value,…}'`,
		"grad OWN{lamda=2}":         `OWN{lamda=2}: OWN has no setting "lamda": did you mean "lambda"? (it has i, h, lambda)`,
		"train init{d=4} --set d=5": "--set d=5: init{d=4} says d = 4",
		"grad init{weights=he} --set weights=small":          "--set weights=small: init{weights=he} says weights = he",
		"compare init{d=4} init{d=5} --set d=6":              "--set d=6: init{d=5} says it in braces, and no other model has it",
		"compare init{d=4} init{d=4}":                        "compare: init{d=4} is named twice",
		"geometry init{d=4} init{d=4}":                       "geometry: init{d=4} is named twice",
		"compare init{d=4,weights=he} init{weights=he,d=4}":  "compare: init{weights=he,d=4} is named twice",
		"geometry init{d=4,weights=he} init{weights=he,d=4}": "geometry: init{weights=he,d=4} is named twice",
		"train kmeans-softmax{n=9}":                          "kmeans-softmax{n=9}: a clustering takes n from the data",
		"train kmeans-sgd{n=4}":                              "kmeans-sgd{n=4}: want --batch 4",
		"serve kmeans-softmax{d=9}":                          "kmeans-softmax{d=9}: a clustering takes d from the data",
		"compare kmeans-softmax{k=4} kmeans-goofy":           "kmeans-softmax{k=4}: the data have one number of clusters for all: want --k 4",
		"step kmeans-softmax{gamma=4} --gamma 2":             "--gamma: kmeans-softmax{gamma=4} has one in braces",
		"train kmeans-softmax{gamma=4} --gamma 2":            "--gamma: kmeans-softmax{gamma=4} has one in braces",
		"geometry kmeans-softmax{gamma=4} --gamma 2":         "--gamma: kmeans-softmax{gamma=4} has one in braces",
		"compare kmeans-softmax{gamma=4} --gamma 2":          "--gamma: kmeans-softmax{gamma=4} has one in braces",
	} {
		code, out, errOut := tapestry(t, arguments(args, "OWN", own)...)
		if want = "tapestry: " + strings.ReplaceAll(want, "OWN", own) + "\n"; code != 2 || out != "" || errOut != want {
			t.Errorf("tapestry %s: exit code %d, %.200s%s, want %s", args, code, out, errOut, want)
		}
	}
}

// TestPairOfFiles: --pair names files as the arguments do, with their folders.
func TestPairOfFiles(t *testing.T) {
	own := written(t, ownText)
	args := []string{"compare", own, "init", "--steps", "2", "--seeds", "1", "-o", filepath.Join(filepath.Dir(own), "r.html"), "--pair", own + ",init"}
	if out := ok(t, args...); !strings.Contains(out, "mine.tapestry: 8 numbers") {
		t.Error(out)
	}
}

// TestServedSettings: the page opens models with the settings in braces, and their report compares
// them.
func TestServedSettings(t *testing.T) {
	own := written(t, ownText)
	with := &servedData{fitting: &fitting{}}
	var models []web.Model
	for _, name := range []string{own + "{h=3}", own + "{h=4}"} {
		m, err := with.served(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != own || m.Text != ownText || len(m.Settings) != 1 {
			t.Errorf("%s opens %s with %v and the text %q", name, m.Name, m.Settings, m.Text)
		}
		m.DType, m.Optimiser, m.Rate = "f64", "adam", 0.01
		m.Settings = builders.Settings{"h": m.Settings["h"], "i": 6, "lambda": 0.5} // the page knows all
		models = append(models, m)
	}
	var page bytes.Buffer
	if err := with.report(t.Context(), &page, models); err != nil {
		t.Fatal(err)
	}
	if text := html.UnescapeString(page.String()); !strings.Contains(text, "compare 'mine.tapestry{h=3}' 'mine.tapestry{h=4}'") || !strings.Contains(text, "own (h = 4)") {
		t.Errorf("the report is not of two settings: %.300s", text)
	}
	m, err := with.served("init{weights=xavier}")
	if err != nil || m.Name != "init" || m.Settings["weights"] != 0 || len(m.Settings) != 1 {
		t.Errorf("opens %+v, %v", m, err)
	}
	// A temperature in braces is one that the page feeds.
	with.name = "iris"
	models = nil
	for _, name := range []string{"kmeans-softmax{gamma=3,k=2}", "kmeans-softmax{k=2}"} {
		m, err := with.served(name)
		if err != nil || m.Name != "kmeans-softmax" || m.Settings["k"] != 2 || len(m.Scalars) != strings.Count(name, "gamma") {
			t.Errorf("%s opens %+v, %v", name, m, err)
		}
		m.DType, m.Optimiser = "f64", "adam"
		models = append(models, m)
	}
	page.Reset()
	if err := with.report(t.Context(), &page, models); err != nil {
		t.Fatal(err)
	}
	if text := html.UnescapeString(page.String()); !strings.Contains(text, "compare 'kmeans-softmax{gamma=3}' kmeans-softmax --out - ") || !strings.Contains(text, " --k 2 ") {
		t.Errorf("the report is not of two temperatures: %.300s", text)
	}
}
