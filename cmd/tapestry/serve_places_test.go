package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// TestRunsOpenFromAnywhere: the relative paths of a log are read from the folder in which its training ran,
// wherever the page runs, through links, and after the log was moved together with its files. What is
// not there is named with its place.
func TestRunsOpenFromAnywhere(t *testing.T) {
	root := t.TempDir()
	work := filepath.Join(root, "work")
	for _, dir := range []string{work, filepath.Join(work, "runs"), filepath.Join(root, "elsewhere")} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	for name, text := range map[string]string{
		"line.tapestry": "objective \"line\"\ninput x[i=8, d=2] ~ normal(0, 1)\ninput y[i]\nparam w[d] ~ normal(0, 0.5)\nparam b[]\nz[i] = dot(x, w, d) + b\nloss = mean((z - y)^2)\noutput z\n",
		"rows.csv":      "a,b,y\n" + strings.Repeat("1,2,3\n2,1,4\n3,3,5\n", 8),
		"more.csv":      "c\n" + strings.Repeat("1\n2\n3\n", 8),
		"centres.csv":   "sepal_length,sepal_width,petal_length,petal_width\n5,3,1,0\n6,3,5,2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"line.tapestry", "--data", "rows.csv,more.csv", "--bind", "x=a,c", "--bind", "y=y", "--batch", "8"}
	given := []string{"kmeans-softmax", "--data", "iris", "--start", "given", "--centres", "centres.csv", "--gamma", "2", "--rate", "cosine(0.1,20)"}
	from := append(slices.Clone(line), "--from", "runs/line")
	want := map[string][]float64{}
	for name, args := range map[string][]string{"line": line, "given": given} {
		trainedLosses(t, filepath.Join("runs", name+".jsonl"), append(args, "--steps", "10", "--checkpoint", "runs/"+name)...)
	}
	trainedLosses(t, "from.jsonl", append(from, "--steps", "10")...) // anew it begins with what line has learnt
	for name, args := range map[string][]string{"line": line, "given": given} {
		log := "more-" + name + ".jsonl"
		if err := os.CopyFS(filepath.Join(root, "kept-"+name), os.DirFS(filepath.Join("runs", name))); err != nil {
			t.Fatal(err)
		}
		want[name] = trainedLosses(t, log, append(args, "--steps", "20", "--checkpoint", filepath.Join(root, "kept-"+name), "--resume")...)
	}
	want["from"] = trainedLosses(t, "more.jsonl", append(from, "--steps", "10")...)

	check := func(what, at string) {
		t.Helper()
		for name, log := range map[string]string{"line": "runs/line.jsonl", "given": "runs/given.jsonl", "from": "from.jsonl"} {
			out, got := openLog(t, filepath.Join(at, filepath.FromSlash(log)), 10)
			if !slices.Equal(got, want[name]) || name != "from" && out.Doc.Resumed == nil {
				t.Errorf("%s, %s: losses %v, want %v; %v", what, name, got, want[name], out.Notes)
			}
		}
	}
	check("from where it ran", "")
	t.Chdir(filepath.Join(root, "elsewhere"))
	check("from elsewhere", work)
	check("by a relative path", "../work")
	link := filepath.Join(root, "elsewhere", "link")
	if err := os.Symlink(work, link); err == nil {
		check("through a link", link)
	}
	moved := filepath.Join(root, "elsewhere", "moved")
	if err := os.Rename(work, moved); err != nil {
		t.Fatal(err)
	}
	check("moved", moved)

	// Where files are missing, each is named with its place.
	opened := func(log string) string {
		s := web.New(web.Options{Logs: []string{filepath.Join(moved, log)}, Trained: logged})
		defer s.Close()
		var out struct {
			Error string
			Notes []string
		}
		answer(t, s, http.MethodPost, "/api/runs/r1/open", "{}", &out)
		return out.Error + strings.Join(out.Notes, " ")
	}
	for _, missing := range []struct{ log, file string }{{"runs/given.jsonl", "centres.csv"}, {"runs/line.jsonl", "more.csv"}, {"runs/line.jsonl", "rows.csv"}, {"runs/line.jsonl", "line.tapestry"}} {
		if err := os.Remove(filepath.Join(moved, missing.file)); err != nil {
			t.Fatal(err)
		}
		if said := opened(missing.log); !strings.Contains(said, filepath.Join(moved, missing.file)+": no such file") {
			t.Errorf("without %s it says %q", missing.file, said)
		}
	}

	// A log without its folder, as they were written before, says so.
	text, err := os.ReadFile(filepath.Join(moved, "from.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"folder":"."`) {
		t.Fatalf("the log begins with %.300s", text)
	}
	old := strings.Replace(string(text), `"folder":".",`, "", 1)
	if err := os.WriteFile(filepath.Join(moved, "old.jsonl"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := opened("old.jsonl"); !strings.Contains(said, "old.jsonl cannot be opened: line.tapestry: no such file") || !strings.Contains(said, "does not say in which folder it ran") {
		t.Errorf("of an old log it says %q", said)
	}
}

// TestRunEndedByPatience: the weights to which patience went back are not those of the newest checkpoint,
// which is said.
func TestRunEndedByPatience(t *testing.T) {
	dir := t.TempDir()
	rows, kept, log := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "kept"), filepath.Join(dir, "log.jsonl")
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i%7, i%5, 2*(i%7)-3*(i%5)+i*i%3)
	}
	if err := os.WriteFile(rows, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	trainedLosses(t, log, "regression-ols", "--data", rows, "--bind", "X=a,b", "--bind", "y=y", "--batch", "4", "--rate", "0.3", "--validation", "0.3", "--patience", "2", "--epochs", "400", "--checkpoint", kept)
	out, _ := openLog(t, log, 1)
	step := 0
	if out.Doc.Resumed != nil {
		step = out.Doc.Resumed.Step
	}
	best := ok(t, "checkpoint", "show", filepath.Join(kept, "best.safetensors"))
	said := strings.Join(out.Notes, " ")
	_, after, _ := strings.Cut(said, "with the weights of step ")
	number, _, _ := strings.Cut(after, ",")
	if step == 0 || step >= 2800 || !strings.Contains(said, fmt.Sprintf("Patience ended the run at step %d, with the weights of step ", step)) || !strings.Contains(best, "after step "+number+",") {
		t.Errorf("at step %d it says %q; the best is %.100s", step, said, best)
	}
}

// TestRunThatDiverged: a run whose loss overflowed is trained anew up to the step that fails, and fails
// there as it did.
func TestRunThatDiverged(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	if code, _, _ := tapestry(t, "train", "regression-relu", "--seeds", "1", "--optimiser", "sgd", "--rate", "1e6", "--steps", "300", "--log", log); code == 0 {
		t.Fatal("it does not diverge")
	}
	s := web.New(web.Options{Logs: []string{log}, Trained: logged})
	defer s.Close()
	var out openedRun
	if status := answer(t, s, http.MethodPost, "/api/runs/r1/open", "{}", &out); status != http.StatusOK || out.Steps != 4 || !strings.Contains(out.Notes[0], "The run stopped: step 4: overflow: ") {
		t.Fatalf("status %d, %+v", status, out)
	}
	a := s.Answer(t.Context(), web.Request{Method: http.MethodPost, Path: "/api/docs/" + out.Doc.ID + "/train", Body: []byte(`{"steps":4}`)})
	var lines strings.Builder
	a.Lines(t.Context(), func(line []byte) error { lines.Write(line); return nil })
	if !strings.Contains(lines.String(), `"done":false,"steps":3,"error":"step 3 is not done: loss[] is +Inf`) {
		t.Errorf("it is trained to %s", lines.String())
	}
}
