package page

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// logOf is the log of steps first to last, each of which takes 10 ms.
func logOf(t *testing.T, first, last int, end error) string {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(first) * 10 * time.Millisecond)
	var b bytes.Buffer
	o := watch.JSONLines(&b, watch.Timed(), watch.Clock(func() time.Time { return at }))
	events := []train.Event{{Kind: train.Begun, Step: first - 1, Steps: 1000, Epochs: 10}}
	for s := first; s <= last; s++ {
		events = append(events, train.Event{Kind: train.Stepped, Step: s, Position: data.Position{Epoch: s / 100}, Loss: 1 / float64(s), Rate: 0.5})
		if s%100 == 0 {
			events = append(events, train.Event{Kind: train.Validated, Step: s, Scores: metric.Scores{{Name: "accuracy", Value: float64(s) / 1000}}})
		}
	}
	for i, e := range append(events, train.Event{Kind: train.Ended, Step: last, Err: end}) {
		if i > 0 && e.Kind == train.Stepped {
			at = at.Add(10 * time.Millisecond)
		}
		if e.Kind == train.Ended && end == nil && last < 1000 {
			e = train.Event{Kind: train.Saved, Step: last, Path: "run/step"}
		}
		if err := o.Observe(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestFollowing is the life of a log: not there, growing by pieces that cut lines, gone,
// replaced, cut, written over, ended.
func TestFollowing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	c := newClient(t, Options{Logs: []string{path}})
	version := -1
	see := func(what string, state runState, step, steps int, trouble string) runView {
		t.Helper()
		var v runsView
		c.get("/api/runs", &v)
		r := v.Runs[0]
		if r.State != state || r.Step != step || r.Steps != steps || !strings.Contains(r.Trouble, trouble) || r.Name != "run.jsonl" {
			t.Errorf("%s: %+v, want %s at step %d of %d", what, r, state, step, steps)
		}
		if v.Version <= version {
			t.Errorf("%s: version %d after %d", what, v.Version, version)
		}
		version = v.Version
		again := runsView{}
		if c.get("/api/runs", &again); again.Version != version {
			t.Errorf("%s: where nothing is new the version is %d after %d", what, again.Version, version)
		}
		return r
	}
	put := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o666)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text := logOf(t, 1, 250, nil)
	version = -2
	see("no file", waiting, 0, 0, "")
	half := len(text) / 2
	put(text[:half], os.O_APPEND)
	var first runsView
	c.get("/api/runs", &first)
	put(text[half:], os.O_APPEND)
	r := see("all of it", running, 250, 1000, "")
	if first.Runs[0].Step < 100 || first.Runs[0].Step >= 250 || r.Wrong != 0 || r.Epoch != 0 || r.Saved != "run/step" {
		t.Errorf("half of it ends at step %d; then %+v", first.Runs[0].Step, r)
	}
	if math.Abs(float64(r.Pace)-100) > 1e-6 || math.Abs(float64(r.Left)-7.5) > 1e-6 || len(r.Scores) != 1 || r.Scores[0].Value != 0.2 {
		t.Errorf("%+v: want 100 steps a second, 7.5 s left", r)
	}
	put("hello\n", os.O_APPEND)
	if r := see("a line that is none", running, 250, 1000, ""); r.Wrong != 1 || r.Problems[0].Line != strings.Count(text, "\n")+1 {
		t.Errorf("%+v", r)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	see("renamed", running, 250, 1000, "gone")
	put(logOf(t, 1, 20, nil), os.O_APPEND)
	if r := see("another file", running, 20, 1000, ""); r.Wrong != 0 {
		t.Errorf("%+v", r)
	}
	put(logOf(t, 1, 10, nil), os.O_TRUNC)
	see("shorter", running, 10, 1000, "")
	put(logOf(t, 1, 300, nil), os.O_TRUNC)
	see("written anew, and longer", running, 300, 1000, "")
	put(logOf(t, 201, 280, fmt.Errorf("step 281: loss is NaN")), os.O_APPEND) // resumed at 200
	if r := see("resumed, and failed", failed, 280, 1000, ""); r.Failure != "step 281: loss is NaN" || r.Left != 0 {
		t.Errorf("%+v", r)
	}
	put(logOf(t, 281, 500, context.Canceled), os.O_APPEND)
	if r := see("resumed, and interrupted", interrupted, 500, 1000, ""); r.Left != 0 {
		t.Errorf("%+v", r)
	}
	put(logOf(t, 501, 1000, nil), os.O_APPEND)
	see("resumed, and ended", ended, 1000, 1000, "")
}

// TestUnreadable: only regular files are read, errors do not reveal their paths, and names are as long as
// it takes to tell them apart.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	c := newClient(t, Options{Logs: []string{pipe, filepath.Join(dir, "a", "x.jsonl"), filepath.Join(dir, "b", "x.jsonl"), os.DevNull}})
	var v runsView
	c.get("/api/runs", &v)
	if r := v.Runs[0]; r.State != unreadable || r.Trouble != "not a regular file" || r.Name != "pipe" {
		t.Errorf("a pipe: %+v", r)
	}
	if r := v.Runs[3]; r.State != unreadable || r.Trouble != "not a regular file" {
		t.Errorf("a device: %+v", r)
	}
	if a, b := v.Runs[1], v.Runs[2]; a.State != waiting || a.Name != filepath.Join("a", "x.jsonl") || b.Name != filepath.Join("b", "x.jsonl") {
		t.Errorf("two of one name are called %s and %s", a.Name, b.Name)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c.get("/api/runs", &v)
	if r := v.Runs[1]; runtime.GOOS == "linux" && (r.State != unreadable || r.Trouble != "stat: not a directory") {
		t.Errorf("below a file: %+v", r)
	}
}

// TestRunCharts: every chart that is told of can be drawn, with a line for each run that is
// not hidden; no other is, and no path is taken from a request.
func TestRunCharts(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "two <b>.jsonl"), filepath.Join(dir, "none.jsonl")}
	for i, p := range paths[:2] {
		if err := os.WriteFile(p, []byte(logOf(t, 1, 150+50*i, nil)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, Options{Logs: paths})
	var v runsView
	c.get("/api/runs", &v)
	var kinds []string
	for _, chart := range v.Charts {
		kinds = append(kinds, chart.Kind)
		w := c.ask(http.MethodGet, "/api/runs/chart?kind="+chart.Kind, "")
		if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, ">"+chart.Title+"<") || !strings.Contains(text, "one.jsonl") || !strings.Contains(text, "two &lt;b&gt;.jsonl") {
			t.Errorf("%s: %d %.300s", chart.Kind, w.Code, text)
		}
		if text := c.ask(http.MethodGet, "/api/runs/chart?kind="+chart.Kind+"&hide=r1,r9", "").Body.String(); strings.Contains(text, "one.jsonl") {
			t.Errorf("%s: r1 is not hidden", chart.Kind)
		}
	}
	if want := []string{"loss", "score:accuracy", "rate", "pace"}; !slices.Equal(kinds, want) {
		t.Errorf("charts %q, want %q", kinds, want)
	}
	if a, b := c.ask(http.MethodGet, "/api/runs/chart?kind=loss", "").Body.String(), c.ask(http.MethodGet, "/api/runs/chart?kind=loss&smooth=0", "").Body.String(); strings.Count(a, `stroke-opacity=".3"`) != 2 || strings.Contains(b, `stroke-opacity=".3"`) {
		t.Error("the raw loss is not drawn beside the smoothed")
	}
	for path, want := range map[string]int{
		"/api/runs/chart": 400, "/api/runs/chart?kind=pie": 400, "/api/runs/chart?kind=loss&smooth=100": 400, "/api/runs/chart?kind=loss&smooth=x": 400,
		"/api/runs/chart?kind=loss&log=2": 400, "/api/runs/chart?kind=loss&log=1": 200, "/api/runs/chart?kind=score:nothing": 200,
		"/api/runs/chart?kind=/etc/passwd": 400, "/api/runs?log=/etc/passwd": 200, "/api/runs/..%2f": 404, "/api/runs/r1": 404,
	} {
		if w := c.ask(http.MethodGet, path, ""); w.Code != want || strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s: status %d, want %d; %.200s", path, w.Code, want, w.Body)
		}
	}
	if w := c.ask(http.MethodPost, "/api/runs", `{"log":"/etc/passwd"}`); w.Code == 200 {
		t.Errorf("a log can be asked for: %d", w.Code)
	}
	var none runsView
	if newClient(t, Options{}).get("/api/runs", &none); none.Runs == nil || len(none.Runs) > 0 {
		t.Errorf("without logs there are %+v", none)
	}
}

// TestCourse: resumption replaces, clocks may jump, and no series grows without end.
func TestCourse(t *testing.T) {
	var c course
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	begin := func(step int) {
		c.add(watch.Record{Event: train.Event{Kind: train.Begun, Step: step, Steps: 400}, Time: at})
	}
	steps := func(from, to int, each time.Duration) {
		for s := from; s <= to; s++ {
			at = at.Add(each)
			c.add(watch.Record{Event: train.Event{Kind: train.Stepped, Step: s, Loss: float64(s)}, Time: at})
		}
	}
	begin(0)
	steps(1, 100, 100*time.Millisecond)
	at = at.Add(time.Hour)
	begin(60)
	steps(61, 200, 50*time.Millisecond)
	at = at.Add(-2 * time.Hour)
	steps(201, 300, 25*time.Millisecond)
	if n := c.loss.len(); n != 300 || c.loss.y[99] != 100 || c.loss.last() != 300 {
		t.Errorf("%d losses, %v the hundredth", n, c.loss.y[99])
	}
	if c.saved != "" {
		t.Errorf("saved is %s", c.saved)
	}
	if c.add(watch.Record{Event: train.Event{Kind: train.Begun, Step: 300, Steps: 400, Path: "step-00000300.safetensors"}, Time: at}); c.saved != "step-00000300.safetensors" {
		t.Errorf("it goes on from %q", c.saved)
	}
	pace := c.pace()
	for i, v := range pace.y {
		want := map[bool]float64{true: 10, false: 20}[pace.x[i] <= 60]
		if pace.x[i] > 200 {
			want = 40
		}
		if math.Abs(v-want) > 1e-3 {
			t.Errorf("at step %v %v steps a second, want %v", pace.x[i], v, want)
			break
		}
	}
	if pace.len() < 100 {
		t.Errorf("the pace is known at %d steps", pace.len())
	}
	for i := range maxScores + 5 {
		c.add(watch.Record{Event: train.Event{Kind: train.Validated, Step: 300, Scores: metric.Scores{{Name: fmt.Sprint(i), Value: 1}}}})
	}
	if len(c.scores) != maxScores {
		t.Errorf("%d scores are kept", len(c.scores))
	}
	for i := range 3 * maxProblems {
		c.complain(&watch.Error{Line: i, Err: os.ErrInvalid})
	}
	if len(c.problems) != maxProblems || c.wrong != 3*maxProblems {
		t.Errorf("%d problems of %d", len(c.problems), c.wrong)
	}
	var long series
	for i := range 5 * maxPoints {
		long.add(float64(i), float64(i))
	}
	if n := long.len(); n > maxPoints || n < maxPoints/2 || !slices.IsSorted(long.x) || long.x[1]-long.x[0] != long.x[n-1]-long.x[n-2] {
		t.Errorf("%d of %d points are kept", n, 5*maxPoints)
	}
	odd := series{y: []float64{2, 2, math.NaN(), 2, math.Inf(1), 4}}
	if got := odd.smooth(0.5); fmt.Sprint(got[:5]) != "[2 2 NaN 2 NaN]" || !(got[5] > 3 && got[5] < 4) {
		t.Errorf("smoothed: %v", got)
	}
}
