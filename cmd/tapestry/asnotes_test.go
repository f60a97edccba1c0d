package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// TestAsNotesTrains: with --as-notes every model of the registry trains with a finite loss, says what
// is as the notes have it, and does otherwise than by default exactly where something is.
func TestAsNotesTrains(t *testing.T) {
	type trained struct {
		Taken []string  `json:"as_notes"`
		Loss  float64   `json:"loss"` // of a clustering
		Runs  []runLoss `json:"runs"`
	}
	run := func(name string, more ...string) (trained, string) {
		args := append([]string{"train", name, "--json", "--steps", "12", "--seeds", "1"}, more...)
		if name == "kmeans-lloyd" {
			args = append([]string{"train", name, "--json", "--restarts", "2"}, more...)
		}
		out := ok(t, args...)
		var v trained
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return v, out
	}
	differ := 0
	for _, b := range builders.All() {
		if testing.Short() && !b.AsNotes.Differs() {
			continue
		}
		m, err := b.Build(nil, graph.F32)
		if err != nil || m.Loss == nil {
			t.Fatalf("%s: %v, loss %v", b.Name, err, m.Loss)
		}
		plain, _ := run(b.Name)
		got, text := run(b.Name, "--as-notes")
		if plain.Taken != nil || !strings.Contains(text, `"as_notes":[`) {
			t.Errorf("%s: the output says %q by default, and as the notes have it\n%.300s", b.Name, plain.Taken, text)
		}
		losses := []float64{got.Loss}
		for _, r := range got.Runs {
			losses = append(losses, r.Loss...)
		}
		if slices.ContainsFunc(losses, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) || len(got.Runs) > 0 && len(got.Runs[0].Loss) != 12 {
			t.Errorf("%s: losses %v", b.Name, losses)
		}
		same := plain.Loss == got.Loss && slices.EqualFunc(plain.Runs, got.Runs, func(a, b runLoss) bool { return slices.Equal(a.Loss, b.Loss) })
		if same == b.AsNotes.Differs() || b.AsNotes.Differs() == (len(got.Taken) == 0) {
			t.Errorf("%s: the notes have %q, taken is %q, and the losses are the same: %v", b.Name, b.AsNotes.Says, got.Taken, same)
		}
		for name, v := range b.AsNotes.Settings { // each by itself
			i := slices.IndexFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == name })
			alone, _ := run(b.Name, "--set", name+"="+b.Hyperparameters[i].Format(v))
			if slices.Equal(alone.Runs[0].Loss, plain.Runs[0].Loss) {
				t.Errorf("%s: %s = %v changes no loss", b.Name, name, v)
			}
		}
		if listed := ok(t, "list", b.Name); strings.Contains(listed, "--as-notes") != b.AsNotes.Differs() {
			t.Errorf("list %s: %s", b.Name, listed)
		}
		if b.AsNotes.Differs() {
			differ++
		}
	}
	if differ < 20 {
		t.Errorf("the notes differ in %d models alone", differ)
	}
}

type runLoss struct {
	Loss []float64 `json:"loss"`
}

// TestFlagsBesideAsNotes: what is taken of the notes is said, and a flag that is given beside
// --as-notes wins.
func TestFlagsBesideAsNotes(t *testing.T) {
	taken := func(args string) []string {
		t.Helper()
		var v struct {
			Taken []string `json:"as_notes"`
		}
		if err := json.Unmarshal([]byte(ok(t, strings.Fields(args+" --json --steps 5 --seeds 1")...)), &v); err != nil {
			t.Fatal(err)
		}
		return v.Taken
	}
	for args, want := range map[string]string{
		"train kmeans-sgd --as-notes":                              "sgd(0.05), batch 1, start points",
		"train kmeans-sgd --as-notes --batch 7":                    "sgd(0.05), start points",
		"train kmeans-sgd --as-notes --start plusplus":             "sgd(0.05), batch 1",
		"train kmeans-sgd --as-notes --optimiser adam":             "batch 1, start points",
		"train kmeans-sgd --as-notes --rate 0.2":                   "sgd(0.2), batch 1, start points",
		"train kmeans-sgd --as-notes --rate 1/t(0.2,9)":            "sgd(1/t(0.2,9)), batch 1, start points",
		"train kmeans-softmax --as-notes":                          "sgd(0.5), start points, γ fixed at 3.3",
		"train kmeans-softmax --as-notes --gamma 0.1..50":          "sgd(0.5), start points",
		"train kmeans-softmax{gamma=2} --as-notes":                 "sgd(0.5), start points",
		"train transformer-gpt --as-notes":                         "norm=post",
		"train transformer-gpt --as-notes --set norm=pre":          "",
		"train transformer-gpt{norm=pre} --as-notes":               "",
		"train convnext --as-notes":                                "drop=0.2, smoothing=0.1, cutmix=0.5, adamw(cosine(0.01,5))",
		"train convnext --as-notes --optimiser sgd --set cutmix=0": "drop=0.2, smoothing=0.1",
		"train regression-ols --as-notes":                          "sgd(0.0156), one data set",
		"train regression-ols --as-notes --batches fresh":          "sgd(0.0156)",
		"train attention-dot --as-notes":                           "",
		"train seq2seq-bottleneck --as-notes":                      "cell=elman, feedback=argmax",
	} {
		if got := strings.Join(taken(args), ", "); got != want {
			t.Errorf("tapestry %s takes %q, want %q", args, got, want)
		}
	}
	// Momentum in the notes is the smoothed gradient.
	for _, c := range [][2]string{{"momentum", "smoothed-momentum"}, {"nesterov", "nesterov-peek"}} {
		notes := learn(t, "attention-dot", "--as-notes", "--optimiser", c[0], "--steps", "5", "--seeds", "1").Runs[0].Loss
		form := learn(t, "attention-dot", "--optimiser", c[1], "--steps", "5", "--seeds", "1").Runs[0].Loss
		plain := learn(t, "attention-dot", "--optimiser", c[0], "--steps", "5", "--seeds", "1").Runs[0].Loss
		if !slices.Equal(notes, form) || slices.Equal(notes, plain) {
			t.Errorf("%s as the notes have it: %v, %s: %v, by default %v", c[0], notes, c[1], form, plain)
		}
	}
}

// TestLogAsNotes: the log of a training says that it is as the notes have it, and with what.
func TestLogAsNotes(t *testing.T) {
	for model, want := range map[string]string{
		"kmeans-softmax": "as the notes have it: sgd(0.5), start points, γ fixed at 3.3", "transformer-gpt": "as the notes have it: norm=post",
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		ok(t, "train", model, "--as-notes", "--steps", "3", "--seeds", "1", "--log", path)
		text, err := os.ReadFile(path)
		if line, _, _ := strings.Cut(string(text), "\n"); err != nil || !strings.Contains(line, `"about":"`+want+`"`) {
			t.Errorf("%s: %s, %v", model, line, err)
		}
	}
}

// TestAsNotesOfEveryCommand: commands that show, step and compare models take the notes' settings,
// and say so.
func TestAsNotesOfEveryCommand(t *testing.T) {
	own := written(t, ownText)
	page := filepath.Join(t.TempDir(), "r.html")
	for args, want := range map[string]string{
		"draw transformer-encoder --as-notes":                                               "tapestry: transformer-encoder has the settings of the notes: norm=post\n",
		"draw kmeans-softmax --as-notes":                                                    "tapestry: kmeans-softmax has the settings of the notes by default\n",
		"grad attention-self --as-notes":                                                    "tapestry: attention-self has the settings of the notes: scale=0\n",
		"tape transformer-gpt --as-notes":                                                   "norm=post",
		"eval attention-self --as-notes":                                                    "scale=0",
		"step kmeans-softmax --as-notes --print":                                            "as the notes have it: sgd(0.5), start points, γ fixed at 3.3",
		"step transformer-gpt --as-notes --print":                                           "as the notes have it: norm=post",
		"step attention-dot --as-notes --json":                                              `"as_notes":[]`,
		"geometry kmeans-softmax --as-notes --steps 2":                                      "kmeans-softmax as the notes have it: sgd(0.5), start points, γ fixed at 3.3",
		"geometry kmeans-softmax --as-notes --steps 2 --json":                               `"as_notes":["sgd(0.5)","start points","γ fixed at 3.3"]`,
		"geometry attention-self --as-notes --steps 2 --set b=1,t=2,m=2":                    "attention-self as the notes have it: scale=0",
		"compare kmeans-sgd transformer-gpt --as-notes --seeds 1 --steps 3 -o PAGE":         "transformer-gpt as the notes have it: norm=post",
		"compare kmeans-sgd attention-kernel --as-notes --seeds 1 --steps 3 -o PAGE":        "  sgd(0.05)",
		"compare kmeans-softmax kmeans-goofy --as-notes --seeds 1 --steps 3 -o PAGE":        "kmeans-goofy as the notes have it: sgd(0.5), start points, γ fixed at 3.3",
		"compare kmeans-softmax kmeans-goofy --as-notes --seeds 1 --steps 3 -o PAGE --json": `"as_notes":["sgd(0.5)","start points","γ fixed at 3.3"]`,
		"compare convnext regression-ols --as-notes --seeds 1 --steps 3 -o PAGE --json":     `"optimiser":"adamw(cosine(0.01,3))"`,
	} {
		code, out, errOut := tapestry(t, arguments(args, "PAGE", page)...)
		if code != 0 || !strings.Contains(out+errOut, want) {
			t.Errorf("tapestry %s: exit code %d, no %q in\n%.2000s%s", args, code, want, out, errOut)
		}
	}
	for _, command := range []string{"draw", "train", "step", "grad", "eval", "geometry", "compare"} {
		code, _, errOut := tapestry(t, command, own, "--as-notes")
		if want := "tapestry: --as-notes: the notes do not have " + own + ": a file is as it says\n"; code != 2 || errOut != want {
			t.Errorf("%s: exit code %d, %s, want %s", command, code, errOut, want)
		}
	}
}

// TestNotesAreOfTheRegistry: what is declared of the notes is of settings that there are, with values
// that they take, other than the defaults.
func TestNotesAreOfTheRegistry(t *testing.T) {
	for _, b := range builders.All() {
		m, err := b.ByNotes().Build(nil, graph.F32)
		if err != nil {
			t.Errorf("%s: %v", b.Name, err)
			continue
		}
		for name, v := range b.AsNotes.Settings {
			plain, err := b.Build(nil, graph.F32)
			if err != nil || m.Settings[name] != v {
				t.Errorf("%s: %s = %v, want %v (%v)", b.Name, name, m.Settings[name], v, err)
			}
			if plain.Settings[name] == v {
				t.Errorf("%s: %s is %v by default", b.Name, name, v)
			}
		}
		n := b.AsNotes
		if says := n.Says != ""; says != (len(n.Settings) > 0 || n.Optimiser != "" || n.OneBatch || n.Batch != 0 || n.Start != "" || n.Steady) {
			t.Errorf("%s says %q of %+v", b.Name, n.Says, n)
		}
		if (n.Optimiser != "") != (n.Rate != nil) {
			t.Errorf("%s: an optimiser %q without a rate, or the other way about", b.Name, n.Optimiser)
		}
	}
	// With another builder of the same name and settings in braces these win.
	b, err := builders.Lookup("transformer-gpt")
	if err != nil {
		t.Fatal(err)
	}
	with, err := b.With(builders.Settings{"norm": 0})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := with.ByNotes().Build(nil, graph.F32); err != nil || m.Settings["norm"] != 0 {
		t.Errorf("norm = %v of %v, %v", m.Settings["norm"], with.Fixed, err)
	}
}
