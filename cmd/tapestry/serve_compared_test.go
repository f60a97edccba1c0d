package main

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// reportOf is what a report has, as JSON, of the trainings that it shows.
type reportOf struct {
	Made     struct{ Command string }
	Variants []struct {
		Name string
		Runs []struct {
			Seed uint64
			End  float64
		}
	}
}

var reportData = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// readReport reads the data of a report.
func readReport(t *testing.T, text string) (out reportOf) {
	t.Helper()
	found := reportData.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("this is no report: %.300s", text)
	}
	if err := json.Unmarshal([]byte(found[1]), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// reporting returns a page of logs that makes reports.
func reporting(t *testing.T, logs ...string) *web.Service {
	t.Helper()
	s := web.New(web.Options{Logs: logs, Trained: logged, Report: (&servedData{fitting: &fitting{}}).report, Notation: web.Formulas{}})
	t.Cleanup(s.Close)
	return s
}

// askReport asks for the report of documents.
func askReport(t *testing.T, s *web.Service, doc, with string) (status int, text string) {
	t.Helper()
	a := s.Answer(t.Context(), web.Request{Method: http.MethodGet, Path: "/api/docs/" + doc + "/download/report", Query: "with=" + with})
	return a.Status, string(a.Text)
}

// argumentsOf are the arguments of a command that a report shows.
func argumentsOf(command string) (out []string) {
	for _, part := range regexp.MustCompile(`'[^']*'|[^ ]+`).FindAllString(html.UnescapeString(command), -1) {
		out = append(out, strings.Trim(part, "'"))
	}
	return out
}

// TestReportsOfRuns: the report of a run that goes on from its checkpoint is of the same training from its
// beginning: its seed has the losses that the log has, and the command that the report shows makes it
// again.
func TestReportsOfRuns(t *testing.T) {
	work := t.TempDir()
	t.Chdir(work)
	if err := os.WriteFile("line.tapestry", []byte("objective \"line\"\ninput x[i=8, d=2] ~ normal(0, 1)\ninput y[i]\nparam w[d] ~ normal(0, 0.5)\nparam b[]\nz[i] = dot(x, w, d) + b\nloss = mean((z - y)^2)\noutput z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%d,%d\n", i%7, i%5, 2*(i%7)-3*(i%5))
	}
	if err := os.WriteFile("rows.csv", []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{
		{"regression-relu", "--seed", "4", "--rate", "warmup(5,cosine(0.02,40))", "--optimiser", "momentum", "--set", "h=5"},
		{"line.tapestry", "--data", "rows.csv", "--bind", "x=a,b", "--bind", "y=y", "--batch", "8", "--standardise", "--rate", "0.05"},
		{"kmeans-softmax", "--data", "wine", "--k", "2"},
	} {
		t.Run(args[0], func(t *testing.T) {
			log, kept := fmt.Sprintf("log%d.jsonl", i), fmt.Sprintf("kept%d", i)
			losses := trainedLosses(t, log, append(args, "--steps", "40", "--checkpoint", kept)...)
			elsewhere := t.TempDir()
			t.Chdir(elsewhere)
			s := reporting(t, filepath.Join(work, log))
			var out openedRun
			if status := answer(t, s, http.MethodPost, "/api/runs/r1/open", "{}", &out); status != http.StatusOK || out.Doc.Resumed == nil {
				t.Fatalf("status %d, %+v", status, out)
			}
			status, text := askReport(t, s, out.Doc.ID, "")
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, text)
			}
			r := readReport(t, text)
			if len(r.Variants) != 1 || len(r.Variants[0].Runs) != reportSeeds {
				t.Fatalf("the report is of %+v", r)
			}
			if i < 2 { // of a clustering the report has no losses
				end := 0.0
				for _, v := range losses[36:] {
					end += v / 4
				}
				if got := r.Variants[0].Runs[0].End; math.Abs(got-end) > 1e-6*math.Abs(end) {
					t.Errorf("the loss ends at %v, in the log at %v", got, end)
				}
			}
			code, again, complaint := tapestry(t, argumentsOf(r.Made.Command)[1:]...)
			if code != 0 {
				t.Fatal(complaint)
			}
			if a, b := readReport(t, again), r; fmt.Sprint(a.Variants) != fmt.Sprint(b.Variants) || a.Made.Command != b.Made.Command {
				t.Errorf("%s makes\n%+v, the report has\n%+v", r.Made.Command, a.Variants, b.Variants)
			}
		})
	}
}

// TestReportsSayWhatTheyCannot: a training that compare has no flags for is refused by the name of what it
// lacks, and so are models that are trained differently.
func TestReportsSayWhatTheyCannot(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	trainedLosses(t, at("clipped"), "regression-relu", "--steps", "10", "--clip-norm", "1", "--checkpoint", at("a"))
	trainedLosses(t, at("turned"), "regression-relu", "--steps", "10", "--rate", "cosine(0.02,10)", "--checkpoint", at("b"))
	trainedLosses(t, at("turned"), "regression-relu", "--steps", "20", "--rate", "cosine(0.02,20)", "--checkpoint", at("b"), "--resume")
	trainedLosses(t, at("plain"), "regression-relu", "--steps", "10", "--checkpoint", at("c"))
	trainedLosses(t, at("longer"), "kmeans-softmax", "--steps", "10", "--checkpoint", at("d"))
	trainedLosses(t, at("longer"), "kmeans-softmax", "--steps", "20", "--checkpoint", at("d"), "--resume")
	s := reporting(t, at("clipped"), at("turned"), at("plain"), at("longer"))
	open := func(path, body string) string {
		t.Helper()
		var out struct {
			ID, Error string
			Doc       struct{ ID string }
		}
		if status := answer(t, s, http.MethodPost, path, body, &out); status != http.StatusOK {
			t.Fatal(out.Error)
		}
		return out.ID + out.Doc.ID
	}
	model := func(more string) string { return open("/api/open", `{"dtype":"f64",`+more+`}`) }
	clusters := func(more string) string { return model(`"model":"kmeans-softmax","data":"iris"` + more) }
	for _, c := range []struct {
		shown, with func() string
		says        string
	}{
		{func() string { return open("/api/runs/r1/open", "{}") }, nil, "clipped was trained with --clip-norm 1, which a report does not have"},
		{func() string { return open("/api/runs/r2/open", "{}") }, nil, "turned was resumed with other settings (--rate was cosine(0.02,10) and is cosine(0.02,20))"},
		{func() string { return open("/api/runs/r4/open", "{}") }, nil, "longer was resumed with other settings (--steps was 10 and is 20)"},
		{func() string { return open("/api/open", `{"model":"regression-relu","run":"r3","rate":0.5}`) }, nil, "plain goes on with another rate than it was trained with up to its checkpoint"},
		{func() string { return open("/api/runs/r3/open", "{}") }, func() string { return model(`"model":"regression-ols"`) }, "--steps is 10 of regression-relu, as usual of regression-ols"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-goofy","data":"iris","rate":0.5`) }, "and these differ: --rate is 0.0532"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-goofy","data":"iris","optimiser":"sgd"`) }, "--optimiser is adam of kmeans-softmax, sgd of kmeans-goofy"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-goofy","data":"wine"`) }, "--data is iris of kmeans-softmax, wine of kmeans-goofy"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-goofy","data":"iris","settings":{"k":4}`) }, "--k is 3 of kmeans-softmax, 4 of kmeans-goofy"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-goofy","data":"iris","seed":2`) }, "--seed is 0 of kmeans-softmax, 2 of kmeans-goofy"},
		{func() string { return model(`"model":"kmeans-softmax"`) }, nil, "kmeans-softmax has examples of its own on the page"},
		{func() string { return clusters("") }, func() string { return model(`"model":"kmeans-sgd","data":"iris","settings":{"n":8}`) }, "--batch is as usual of kmeans-softmax, 8 of kmeans-sgd"},
		{func() string { return clusters("") }, func() string { return model(`"model":"regression-ols"`) }, "a report trains clusterings and other models on the same rows"},
		{func() string { return model(`"model":"regression-relu"`) }, func() string { return model(`"model":"regression-ols","schedule":"cosine(0.1,50)"`) }, "--rate is 0.01 of regression-relu, cosine(0.1,50) of regression-ols"},
	} {
		shown, with := c.shown(), ""
		if c.with != nil {
			with = c.with()
		}
		if status, text := askReport(t, s, shown, with); status != http.StatusUnprocessableEntity || !strings.Contains(text, c.says) {
			t.Errorf("status %d: %.300s\nwant %s", status, text, c.says)
		}
	}

	// Models that have optimisers of their own are each trained by its own, as on the page.
	own := model(`"model":"regression-minimum-norm"`)
	status, text := askReport(t, s, own, model(`"model":"regression-relu"`))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	if r := readReport(t, text); strings.Contains(r.Made.Command, "--optimiser") || strings.Contains(r.Made.Command, "--rate") || len(r.Variants) != 2 {
		t.Errorf("the command is %s", r.Made.Command)
	}

	// What changes nothing of a model is no difference, and a size of batches that is the usual one no flag.
	lloyd := model(`"model":"kmeans-lloyd","data":"iris"`)
	status, text = askReport(t, s, lloyd, clusters(`,"optimiser":"sgd","rate":0.125,"courses":{"γ":"3"}`)+","+model(`"model":"kmeans-sgd","data":"iris","optimiser":"sgd","rate":0.125`))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	if r := readReport(t, text); !strings.Contains(r.Made.Command, "--gamma 3 --k 3 --optimiser sgd --rate 0.125 ") || strings.Contains(r.Made.Command, "--batch ") {
		t.Errorf("the command is %s", r.Made.Command)
	}

	// What is typed alike for all is in the command, and the losses are those of the page.
	a, b := model(`"model":"regression-relu","optimiser":"momentum","rate":0.0125,"seed":3`), model(`"model":"regression-relu","settings":{"h":3},"optimiser":"momentum","rate":0.0125,"seed":3`)
	if status, text = askReport(t, s, a, b); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	r := readReport(t, text)
	if !strings.Contains(r.Made.Command, "--optimiser momentum --rate 0.0125") {
		t.Errorf("the command is %s", r.Made.Command)
	}
	for i, id := range []string{a, b} {
		answer(t, s, http.MethodPost, "/api/docs/"+id+"/train", `{"steps":200}`, nil)
		var h struct{ Loss []float64 }
		answer(t, s, http.MethodGet, "/api/docs/"+id+"/history", "", &h)
		end := 0.0
		for _, v := range h.Loss[180:] {
			end += v / 20
		}
		if run := r.Variants[i].Runs[0]; run.Seed != 3 || math.Abs(run.End-end) > 1e-6*math.Abs(end) {
			t.Errorf("%s: the loss ends at %s, on the page at %v", r.Variants[i].Name, strconv.FormatFloat(run.End, 'g', -1, 64), end)
		}
	}
}
