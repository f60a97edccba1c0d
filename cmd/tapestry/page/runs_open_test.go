package page

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// logFile writes a log of three steps that begins with settings, and the path of a checkpoint if there
// is one.
func logFile(t *testing.T, name, settings, saved string) string {
	t.Helper()
	text := `{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":3,"epochs":0` + settings + "}\n"
	for s := 1; s <= 3; s++ {
		text += fmt.Sprintf(`{"event":"stepped","step":%d,"epoch":0,"batch":%d,"loss":%v,"rate":0.25}`+"\n", s, s, 1/float64(s))
	}
	if saved != "" {
		text += fmt.Sprintf(`{"event":"saved","step":3,"epoch":0,"batch":3,"path":%q}`+"\n", saved)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpensRuns: a run opens its model with its settings and the weights of its checkpoint, or says
// what is missing of them.
func TestOpensRuns(t *testing.T) {
	const settings = `,"settings":{"model":"regression-relu","dtype":"f64","seed":"7","optimiser":"sgd","rate":"0.125","steps":"3","clip-norm":"2"}`
	made := newClient(t, Options{})
	id := made.open(`{"model":"regression-relu","dtype":"f64","seed":7}`)
	made.ask(http.MethodPost, "/api/docs/"+id+"/train", `{"steps":3}`)
	d, err := made.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	store := d.session.store
	saved, err := checkpoint.Folder{Dir: t.TempDir()}.Save(&checkpoint.State{Store: store, Position: data.Position{Batch: 3}, Model: checkpoint.Identify(1, d.model.Loss, d.session.step, d.model.Result())})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Options{Trained: trainedAnew, Logs: []string{logFile(t, "kept", settings, saved), logFile(t, "unkept", settings, ""), logFile(t, "nameless", "", saved),
		logFile(t, "other", strings.Replace(settings, "regression-relu", "regression-ols", 1), saved), logFile(t, "gone", settings, saved+".none"), logFile(t, "endless", settings, "/dev/zero")}})
	var listed runsView
	c.get("/api/runs", &listed)
	if listed.Runs[0].Settings["rate"] != "0.125" || listed.Runs[2].Settings != nil {
		t.Errorf("the runs are told of as %+v", listed.Runs)
	}
	open := func(run string) (out openedRun) {
		c.read(c.ask(http.MethodPost, "/api/runs/"+run+"/open", "{}"), run, &out)
		return out
	}
	kept := open("r1")
	if kept.Doc.Optimiser != "sgd" || float64(kept.Doc.Rate) != 0.125 || kept.Steps != 0 || kept.Doc.Resumed == nil || kept.Doc.Resumed.Step != 3 || !slices.ContainsFunc(kept.Notes, func(n string) bool { return strings.Contains(n, "something else") }) {
		t.Errorf("opened: %+v of %+v", kept, kept.Doc)
	}
	if slices.ContainsFunc(kept.Notes, func(n string) bool { return strings.Contains(n, "another training") }) {
		t.Errorf("its own checkpoint is told of as that of another: %q", kept.Notes)
	}
	stale := logFile(t, "stale", settings, saved)
	text, err := os.ReadFile(stale)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, []byte(strings.Replace(string(text), `"saved","step":3`, `"saved","step":2`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newClient(t, Options{Trained: trainedAnew, Logs: []string{stale}})
	var out openedRun
	o.read(o.ask(http.MethodPost, "/api/runs/r1/open", "{}"), "stale", &out)
	if want := saved + " is of step 3, and the log of the run says that it is of step 2: another training has written it since, or the log is that of another."; !slices.Contains(out.Notes, want) {
		t.Errorf("of a checkpoint of another step: %q\nwant %q", out.Notes, want)
	}
	now, err := c.s.shelf.find(kept.Doc.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range d.model.Graph.Params() {
		want, got := elements(t, store, n.Type(), n.Path()), elements(t, now.session.store, n.Type(), n.Path())
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, in the checkpoint %v", n.Path(), got, want)
		}
	}
	for run, says := range map[string]string{"r2": "no checkpoint", "r4": "cannot be used", "r5": "The model is as it begins: Train, and it is trained anew", "r6": "not a regular file"} {
		if out := open(run); out.Steps != 3 || !strings.Contains(strings.Join(out.Notes, " "), says) || out.Doc == nil {
			t.Errorf("%s: %+v", run, out)
		}
	}
	c.s.options.Trained = nil
	if out := open("r1"); out.Steps != 3 || !strings.Contains(strings.Join(out.Notes, " "), "without --clip-norm 2") {
		t.Errorf("where nothing reads the settings: %+v", out)
	}
	for run, status := range map[string]int{"r3": unprocessable, "r9": notFound} {
		if w := c.ask(http.MethodPost, "/api/runs/"+run+"/open", "{}"); w.Code != status {
			t.Errorf("%s: status %d, %s", run, w.Code, w.Body)
		}
	}
}

// trainedAnew reads the few settings of the logs of these tests.
func trainedAnew(_ context.Context, settings map[string]string, _ string) (t Training, err error) {
	b, err := builders.Lookup(settings["model"])
	if err != nil {
		return t, err
	}
	m, err := b.Build(nil, graph.F64)
	if err != nil {
		return t, err
	}
	t.Task, err = lab.Config{Seeds: 1, Steps: 3, Optimisers: []train.Optimiser{train.SGD(0.125)}}.Task(m, 7)
	return t, err
}

func elements(t *testing.T, s *tape.Store, typ graph.Type, path string) []float64 {
	t.Helper()
	x, err := s.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tape.ArrayOf(typ, x)
	if err != nil {
		t.Fatal(err)
	}
	return numbersOf(a)
}

// TestRunsAtAStep: the values of all runs at a step are those that were logged last; what never moves
// is told in words.
func TestRunsAtAStep(t *testing.T) {
	c := newClient(t, Options{Logs: []string{logFile(t, "a", "", ""), logFile(t, "b", "", "")}})
	var listed runsView
	c.get("/api/runs", &listed)
	still := map[string]string{}
	for _, chart := range listed.Charts {
		still[chart.Kind] = chart.Still
	}
	if still["rate"] != "0.25 at every step of all runs" || still["loss"] != "" {
		t.Errorf("in words: %q", still)
	}
	var at atView
	c.get("/api/runs/at?kind=loss&step=2&smooth=0", &at)
	if len(at.Runs) != 2 || at.Runs[1] != (runPoint{"b", 1, 2, 0.5, 0.5}) {
		t.Errorf("at step 2: %+v", at)
	}
	c.get("/api/runs/at?kind=loss&step=2&hide=r1", &at)
	if len(at.Runs) != 1 || at.Runs[0].Smoothed == 0.5 {
		t.Errorf("smoothed: %+v", at)
	}
	c.get("/api/runs/at?kind=loss&step=4", &at)
	if len(at.Runs) != 0 {
		t.Errorf("beyond the end: %+v", at)
	}
}

// TestPaceWithoutItsStart: what happens before the first step, such as compiling, is no time of steps.
func TestPaceWithoutItsStart(t *testing.T) {
	var c course
	addAt := func(r watch.Record, at float64) {
		r.Time = time.UnixMicro(int64(1e6 * at))
		c.add(r)
	}
	addAt(watch.Record{Event: train.Event{Kind: train.Begun}}, 1)
	for s := 1; s <= 500; s++ {
		addAt(watch.Record{Event: train.Event{Kind: train.Stepped, Step: s}}, 61+0.01*float64(s))
	}
	pace := c.pace()
	for i, v := range pace.y {
		if math.Abs(v-100) > 1e-3 {
			t.Fatalf("at step %v the pace is %v", pace.x[i], v)
		}
	}
	if pace.len() == 0 {
		t.Error("no pace")
	}
}
