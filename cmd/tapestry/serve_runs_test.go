package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// trainedLosses runs the command train and returns the losses of its log.
func trainedLosses(t *testing.T, log string, args ...string) []float64 {
	t.Helper()
	if code, _, complaint := tapestry(t, append([]string{"train", "--seeds", "1", "--log", log}, args...)...); code != 0 {
		t.Fatal(complaint)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for line := range strings.Lines(string(text)) {
		var e struct {
			Event string
			Loss  float64
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil && strings.TrimSpace(line) != "" {
			t.Fatal(err)
		}
		if e.Event == "stepped" {
			out = append(out, e.Loss)
		}
	}
	return out
}

// answer asks the page, and reads what it answers.
func answer(t *testing.T, s *web.Service, method, path, body string, into any) int {
	t.Helper()
	a := s.Answer(t.Context(), web.Request{Method: method, Path: path, Body: []byte(body)})
	if a.Lines != nil {
		a.Lines(t.Context(), func([]byte) error { return nil })
	}
	if into != nil {
		if err := json.Unmarshal(a.Text, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, a.Text)
		}
	}
	return a.Status
}

// openedRun is what the page answers when a run is opened.
type openedRun struct {
	Doc struct {
		ID        string
		Optimiser string
		Data      string
		Resumed   *struct {
			Step    int
			Differs []string
		}
	}
	Notes []string
	Steps int
}

// openLog opens the run of a log in a page of its own, trains it there and returns what was said and
// the losses.
func openLog(t *testing.T, log string, steps int) (out openedRun, losses []float64) {
	t.Helper()
	s := web.New(web.Options{Logs: []string{log}, Trained: logged})
	t.Cleanup(s.Close)
	if status := answer(t, s, http.MethodPost, "/api/runs/r1/open", "{}", &out); status != http.StatusOK {
		t.Fatalf("%s: status %d", log, status)
	}
	answer(t, s, http.MethodPost, "/api/docs/"+out.Doc.ID+"/train", fmt.Sprintf(`{"steps":%d}`, steps), nil)
	var h struct{ Loss []float64 }
	answer(t, s, http.MethodGet, "/api/docs/"+out.Doc.ID+"/history", "", &h)
	return out, h.Loss
}

// TestPageGoesOnWithRuns: from the checkpoint of a run the page trains on with the losses of train
// --resume, bit for bit: with the optimiser's states, schedules, what is done to gradients, data and
// models of files.
func TestPageGoesOnWithRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "line.tapestry")
	if err := os.WriteFile(file, []byte("objective \"line\"\ninput x[i=8, d=4] ~ normal(0, 1)\ninput y[i]\nparam w[d] ~ normal(0, 0.5)\nparam b[]\nz[i] = dot(x, w, d) + b\nloss = mean((z - y)^2)\noutput z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"adam":      {"regression-relu"},
		"scheduled": {"regression-relu", "--rate", "warmup(5,cosine(0.02,40))", "--optimiser", "momentum", "--clip-norm", "1", "--ema", "0.9", "--set", "h=5", "--dtype", "f32"},
		"one batch": {"regression-relu", "--batches", "one", "--weight-decay", "0.1", "--seed", "5"},
		"random":    {"dropout", "--dtype", "f64"},
		"file":      {file, "--data", "iris", "--bind", "x=sepal_length,sepal_width", "--bind", "y=petal_width", "--set", "d=2", "--batch", "16", "--validation", "0.2", "--standardise"},
		"clusters":  {"kmeans-softmax", "--data", "iris", "--k", "4", "--gamma", "0.5..20", "--rate", "cosine(0.1,60)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			kept, log := filepath.Join(dir, "kept"), filepath.Join(dir, "log.jsonl")
			trainedLosses(t, filepath.Join(dir, "first.jsonl"), append(args, "--steps", "20", "--checkpoint", kept)...)
			want := trainedLosses(t, log, append(args, "--steps", "40", "--checkpoint", kept, "--resume")...)
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			begun, _, _ := strings.Cut(strings.TrimLeft(string(text), "\n"), "\n") // it names the checkpoint that the training goes on from
			if err := os.WriteFile(log, []byte(begun+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, got := openLog(t, log, 20)
			if out.Doc.Resumed == nil || out.Doc.Resumed.Step != 20 || len(out.Doc.Resumed.Differs) != 0 || out.Steps != 0 {
				t.Fatalf("opened as %+v", out)
			}
			if len(want) != 20 || !slices.Equal(got, want) {
				t.Errorf("the page goes on with %v, train --resume with %v", got, want)
			}
		})
	}
}

// TestPageSaysWhatOfRunsItLacks: a run in lanes goes on but for rounding, which is said; data or a
// checkpoint that are gone are named, and the rest is opened.
func TestPageSaysWhatOfRunsItLacks(t *testing.T) {
	dir := t.TempDir()
	kept, log := filepath.Join(dir, "kept"), filepath.Join(dir, "lanes.jsonl")
	lanes := []string{"regression-relu", "--lanes", "4", "--optimiser", "momentum"}
	trainedLosses(t, log, append(lanes, "--steps", "10", "--checkpoint", kept)...)
	out, got := openLog(t, log, 10)
	want := trainedLosses(t, filepath.Join(dir, "more.jsonl"), append(lanes, "--steps", "20", "--checkpoint", kept, "--resume")...)
	if out.Doc.Resumed == nil || out.Doc.Resumed.Step != 10 || !strings.Contains(strings.Join(out.Notes, " "), "4 lanes") {
		t.Errorf("a run in lanes is opened as %+v", out)
	}
	for i := range want {
		if d := got[i] - want[i]; d > 1e-9 || d < -1e-9 {
			t.Errorf("step %d: the loss is %v, of the run %v", i, got[i], want[i])
		}
	}

	// The checkpoint is gone: the training begins anew, with its settings.
	first := trainedLosses(t, filepath.Join(dir, "again.jsonl"), append(lanes, "--steps", "10")...)
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
	out, got = openLog(t, log, 10)
	if said := strings.Join(out.Notes, " "); out.Steps != 10 || !strings.Contains(said, "cannot be used") || !strings.Contains(said, ".safetensors") {
		t.Errorf("without its checkpoint it is opened as %+v", out)
	}
	if d := got[9] - first[9]; d > 1e-9 || d < -1e-9 {
		t.Errorf("anew the losses are %v, of the run %v", got, first)
	}

	// The data are gone.
	rows, log := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(rows, []byte("a,b,y\n"+strings.Repeat("1,2,3\n2,1,4\n3,3,5\n", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	trainedLosses(t, log, "regression-ols", "--data", rows, "--bind", "X=a,b", "--bind", "y=y", "--steps", "5", "--checkpoint", filepath.Join(dir, "rows"))
	if err := os.Remove(rows); err != nil {
		t.Fatal(err)
	}
	out, _ = openLog(t, log, 1)
	if said := strings.Join(out.Notes, " "); out.Doc.Resumed != nil || !strings.Contains(said, rows) || !strings.Contains(said, "no such file") || !strings.Contains(said, "trains without") {
		t.Errorf("without its data it is opened as %+v", out)
	}
}

// TestRunWithAnotherRate: beside Train a run's rate and optimiser are changed for those that follow
// its checkpoint.
func TestRunWithAnotherRate(t *testing.T) {
	dir := t.TempDir()
	kept, log := filepath.Join(dir, "kept"), filepath.Join(dir, "log.jsonl")
	trainedLosses(t, log, "regression-relu", "--steps", "10", "--checkpoint", kept)
	s := web.New(web.Options{Logs: []string{log}, Trained: logged})
	defer s.Close()
	losses := func(more string) []float64 {
		var doc struct{ ID, Error string }
		if status := answer(t, s, http.MethodPost, "/api/open", `{"model":"regression-relu","dtype":"f64","run":"r1"`+more+`}`, &doc); status != http.StatusOK {
			t.Fatal(doc.Error)
		}
		answer(t, s, http.MethodPost, "/api/docs/"+doc.ID+"/train", `{"steps":5}`, nil)
		var h struct{ Loss []float64 }
		answer(t, s, http.MethodGet, "/api/docs/"+doc.ID+"/history", "", &h)
		return h.Loss
	}
	want := trainedLosses(t, filepath.Join(dir, "more.jsonl"), "regression-relu", "--steps", "15", "--checkpoint", kept, "--resume")
	if got := losses(`,"rate":0.01`); !slices.Equal(got, want) {
		t.Errorf("with its own rate %v, want %v", got, want)
	}
	if got := losses(`,"rate":0.05`); got[0] != want[0] || got[1] == want[1] {
		t.Errorf("with another rate %v, with its own %v", got, want)
	}
	if a, b := losses(`,"optimiser":"sgd"`), losses(`,"schedule":"cosine(0.05,20)"`); a[0] != want[0] || b[0] != want[0] || a[4] == b[4] || a[4] == want[4] {
		t.Errorf("with another optimiser %v, with a schedule %v, where %v begins", a, b, want[0])
	}
	for body, says := range map[string]string{`"rate":-1`: "positive", `"schedule":"quick"`: "character 1", `"optimiser":"lbfgs"`: "line search", `"courses":{"β":"1"}`: "only γ"} {
		var failed struct{ Error string }
		if answer(t, s, http.MethodPost, "/api/open", `{"model":"regression-relu","run":"r1",`+body+`}`, &failed); !strings.Contains(failed.Error, says) {
			t.Errorf("%s: %q", body, failed.Error)
		}
	}
}
