package page

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestFolderOfRuns: a folder is followed with all logs in it, at any depth, those that come later, too. What
// is no log is none, and ids stay.
func TestFolderOfRuns(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("b/log.jsonl", logOf(t, 1, 20, nil))
	put("b/step-1.safetensors", "no log")
	put("a/deep/log.jsonl", logOf(t, 1, 10, nil))
	other := filepath.Join(t.TempDir(), "log.jsonl")
	c := newClient(t, Options{Logs: []string{dir, other, other}})
	names := func() string {
		t.Helper()
		c.s.logs.looked = time.Time{} // as if some time had passed
		var v runsView
		c.get("/api/runs", &v)
		var out []string
		for _, r := range v.Runs {
			out = append(out, fmt.Sprintf("%s %s %d", r.ID, filepath.ToSlash(r.Name), r.Step))
		}
		return strings.Join(out, "; ")
	}
	want := "r1 deep/log.jsonl 10; r2 b/log.jsonl 20; r3 " + filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(other)), "log.jsonl")) + " 0"
	if got := names(); got != want {
		t.Errorf("the runs are %s, want %s", got, want)
	}
	put("a/0.jsonl", logOf(t, 1, 5, nil))
	if got := names(); got != want+"; r4 0.jsonl 5" {
		t.Errorf("then they are %s", got)
	}
	for name, id := range map[string]string{"deep/log.jsonl": "r1", "0.jsonl": "r4", "a/0.jsonl": "r4", "r2": "r2", "log.jsonl": "", "": "", "eep/log.jsonl": ""} {
		if one := c.s.logs.called(filepath.FromSlash(name)); id == "" && one != nil || id != "" && (one == nil || one.id != id) {
			t.Errorf("%q is %+v, want %q", name, one, id)
		}
	}
	if one := c.s.logs.find("r4"); one == nil || one.path != filepath.Join(dir, "a", "0.jsonl") || c.s.logs.find("r5") != nil || c.s.logs.find("r04") != nil {
		t.Errorf("r4 is %+v", one)
	}
}

// TestThousandsOfRuns: no file stays open, what is new is read in turns, the limit is told, and the points
// that are kept do not grow with the number of runs.
func TestThousandsOfRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes thousands of files")
	}
	dir := t.TempDir()
	text := logOf(t, 1, 400, nil)
	for i := range mostRuns + 3 {
		body := text
		if i > 1000 {
			body = logOf(t, 1, 1, nil)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run%05d.jsonl", i)), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, Options{Logs: []string{dir}})
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(files)
	}
	before := 0
	if runtime.GOOS == "linux" {
		before = open()
	}
	var v runsView
	turns := 0
	for some := true; some; turns++ {
		v, some = runsView{}, false
		c.get("/api/runs", &v)
		for _, r := range v.Runs {
			some = some || r.State == reading
		}
	}
	if len(v.Runs) != mostRuns || v.Left != 3 || v.Runs[1000].Step != 400 || v.Runs[4999].Step != 1 || turns < 3 {
		t.Errorf("%d runs, %d left, in %d turns, steps %d and %d", len(v.Runs), v.Left, turns, v.Runs[1000].Step, v.Runs[4999].Step)
	}
	if runtime.GOOS == "linux" {
		if now := open(); now > before+8 {
			t.Errorf("%d files are open, before %d", now, before)
		}
	}
	points := 0
	for _, one := range c.s.logs.runs {
		points += cap(one.course.loss.x)
	}
	if points > 64*maxPoints {
		t.Errorf("%d points are kept", points)
	}
	if text := c.ask("GET", "/api/runs/chart?kind=loss&only=r3,r1", "").Body.String(); !strings.Contains(text, "run00000") || !strings.Contains(text, "run00002") || strings.Contains(text, "run00001") {
		t.Errorf("the chart of two runs is %.300s", text)
	}
	var at atView
	c.get("/api/runs/at?kind=loss&step=7&only=r3", &at)
	if len(at.Runs) != 1 || at.Runs[0].Name != "run00002.jsonl" {
		t.Errorf("at step 7: %+v", at)
	}
}
