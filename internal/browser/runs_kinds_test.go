package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A workshop is a folder in which trainings run.
type workshop struct {
	testing.TB
	dir string
}

func newWorkshop(t testing.TB) workshop {
	t.Helper()
	w := workshop{t, t.TempDir()}
	w.put("line.tapestry", "objective \"line\"\ninput x[i=8, d=2] ~ normal(0, 1)\ninput y[i]\nparam w[d] ~ normal(0, 0.5)\nparam b[]\nz[i] = dot(x, w, d) + b\nloss = mean((z - y)^2)\noutput z\n")
	w.put("wide.tapestry", "objective \"wide\"\ninput x[i=64, d=64] ~ normal(0, 1)\ninput y[i, h=64] ~ normal(0, 1)\nparam w[d, h] ~ normal(0, 0.1)\nz[i, h] = dot(x, w, d)\nloss = mean((z - y)^2)\noutput z\n")
	var rows strings.Builder
	rows.WriteString("area,rooms,price\n")
	for i := range 60 {
		area, rooms := float64(30+7*(i%13)), float64(1+i%5)
		fmt.Fprintf(&rows, "%v,%v,%v\n", area, rooms, 2*area+10*rooms+float64(i*i%7))
	}
	w.put("houses.csv", rows.String())
	return w
}

func (w workshop) put(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

// train runs the command train there, to its end, and returns the losses of its log.
func (w workshop) train(log string, args ...string) (losses []float64) {
	w.Helper()
	cmd := exec.Command(command, append([]string{"train", "--seeds", "1", "--log", log}, args...)...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "overflow") {
		w.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	text, err := os.ReadFile(filepath.Join(w.dir, log))
	if err != nil {
		w.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Event string
			Loss  float64
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == "stepped" {
			losses = append(losses, e.Loss)
		}
	}
	return losses
}

// TestRunsOfEveryKind opens runs of all kinds from a folder that is not the one in which they were trained:
// each goes on as its training would, or says precisely what is missing.
func TestRunsOfEveryKind(t *testing.T) {
	chromium(t)
	w := newWorkshop(t)
	net, err := os.ReadFile(filepath.Join("..", "..", "cmd", "tapestry", "testdata", "flowers.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	w.put("flowers.onnx", string(net))
	data := []string{"line.tapestry", "--data", "houses.csv", "--bind", "x=area,rooms", "--bind", "y=price", "--standardise", "--rate", "0.5"}
	with := func(more ...string) []string { return append(data[:len(data):len(data)], more...) }
	w.train("rows.jsonl", with("--steps", "30", "--checkpoint", "rows")...)
	w.train("patience.jsonl", with("--validation", "0.2", "--patience", "2", "--batch", "8", "--epochs", "300", "--checkpoint", "patience")...)
	w.train("mixed.jsonl", "wide.tapestry", "--dtype", "f32", "--mixed", "--steps", "10", "--checkpoint", "mixed")
	w.train("lanes.jsonl", "regression-relu", "--lanes", "4", "--steps", "10", "--checkpoint", "lanes")
	w.train("onnx.jsonl", "flowers.onnx{loss=squares}", "--steps", "10", "--checkpoint", "onnx")
	w.train("diverged.jsonl", "regression-relu", "--optimiser", "sgd", "--rate", "1e6", "--steps", "300")
	resumed := []string{"regression-relu", "--checkpoint", "resumed", "--resume", "--steps"}
	for _, steps := range []string{"10", "20", "30"} {
		w.train("resumed.jsonl", append(resumed, steps)...)
	}
	w.train("torn.jsonl", "regression-relu", "--steps", "20", "--checkpoint", "torn")
	torn := filepath.Join(w.dir, "torn.jsonl")
	text, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.LastIndex(string(text), `{"event":"ended"`)
	w.put("torn.jsonl", string(text[:kept])+`{"event":"en`)
	w.train("gone.jsonl", with("--steps", "5")...)
	moved := t.TempDir() // the log alone
	if err := os.Rename(filepath.Join(w.dir, "gone.jsonl"), filepath.Join(moved, "gone.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"a", "b"} { // two of one name
		if err := os.Mkdir(filepath.Join(w.dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
		w.train(filepath.Join(sub, "same.jsonl"), with("--steps", "5", "--checkpoint", sub+"/kept", "--seed", map[string]string{"a": "1", "b": "2"}[sub])...)
	}

	p := open(t, 1440, 900, "--log", w.dir, "--log", moved)
	p.until("all runs", `document.querySelectorAll("#runs-rows tr").length === 11`)
	names := eval[[]string](p, `[...document.querySelectorAll("#runs-rows th")].map((e) => e.textContent)`)
	ids := map[string]string{}
	for i, id := range eval[[]string](p, `[...document.querySelectorAll("#runs-rows [data-run]")].map((e) => e.dataset.run)`) {
		ids[filepath.ToSlash(names[i])] = id
	}
	row := func(name string) string {
		return eval[string](p, fmt.Sprintf(`document.querySelector('[data-run=%q]').closest("tr").innerText`, ids[name]))
	}
	for name, says := range map[string]string{"diverged.jsonl": "stopped: step 4: overflow", "patience.jsonl": "ended by patience", "rows.jsonl": "x=area,rooms; y=price", "torn.jsonl": "20 of 20", "resumed.jsonl": "30 of 30", "a/same.jsonl": "5 of 5", "gone.jsonl": "ended"} {
		contains(p, name, row(name), says)
	}
	p.picture("runs-kinds")

	for name, says := range map[string][]string{
		"rows.jsonl":     {"step 0 here is step 30 of the run"},
		"patience.jsonl": {"goes on from its checkpoint", "The page does not end when patience would", "Patience ended the run at step", "best.safetensors"},
		"mixed.jsonl":    {"step 0 here is step 10", "rounds the operands of large products"},
		"lanes.jsonl":    {"step 0 here is step 10", "4 lanes"},
		"onnx.jsonl":     {"step 0 here is step 10"},
		"diverged.jsonl": {"The run stopped: step 4: overflow", "no checkpoint", "trained anew"},
		"resumed.jsonl":  {"step 0 here is step 30"},
		"torn.jsonl":     {"step 0 here is step 20"},
		"b/same.jsonl":   {"step 0 here is step 5"},
	} {
		p.do(chromedp.Click(`[data-run="` + ids[name] + `"]`))
		p.until("what is said of "+name, fmt.Sprintf(`!document.querySelector("#run-opened").hidden && document.querySelector("#run-notes").textContent.includes(%q)`, "as trained in "+filepath.FromSlash(name)))
		p.still()
		contains(p, name, p.text("#run-notes"), says...)
		if name == "patience.jsonl" {
			p.picture("run-patience")
		}
		p.press("r")
		p.until("the runs", `document.body.dataset.view === "runs"`)
	}
	// Of a run whose files are not where its log says, the page says which, and goes on.
	p.do(chromedp.Click(`[data-run="` + ids["gone.jsonl"] + `"]`))
	p.until("what is missing", `!document.querySelector("#failure").hidden`)
	contains(p, "what is missing", p.text("#failure"), "gone.jsonl cannot be opened", filepath.Join(moved, "line.tapestry")+": no such file")
	p.picture("run-gone")
	time.Sleep(300 * time.Millisecond)
	p.forgive("422 (Unprocessable Entity)")

	// The numbers are those of train --resume, and a report has the run's own.
	p.do(chromedp.Click(`[data-run="` + ids["rows.jsonl"] + `"]`))
	p.until("the model", `document.querySelector("#run-notes").textContent.includes("as trained in rows.jsonl")`)
	p.still()
	p.do(chromedp.SetValue("#steps", "10"), chromedp.Click("#train"))
	p.trained(10)
	id := eval[string](p, `document.querySelector("#documents .current [data-doc]").dataset.doc`)
	want := w.train("more.jsonl", with("--steps", "40", "--checkpoint", "rows", "--resume")...)
	got := ask[struct{ Loss []float64 }](p, "/api/docs/"+id+"/history").Loss
	for i := range got {
		if len(want) != len(got) || math.Abs(got[i]-want[i]) > 1e-9*math.Abs(want[i]) {
			t.Fatalf("losses %v, of the command %v", got, want)
		}
	}
	report := eval[string](p, fmt.Sprintf(`(async () => { const a = await fetch("api/docs/%s/download/report"); return a.status + (await a.text()); })()`, id))
	if !strings.HasPrefix(report, "200") || !strings.Contains(report, "tapestry compare ") || !strings.Contains(report, filepath.Join(w.dir, "houses.csv")) {
		t.Errorf("the report is %.300s", report)
	}
}

// TestRunStillWritten opens the model of a run that goes on: from the checkpoint that it has by then, while
// its row goes on.
func TestRunStillWritten(t *testing.T) {
	chromium(t)
	w := newWorkshop(t)
	cmd := exec.Command(command, "train", "regression-relu", "--seeds", "1", "--steps", "100000000", "--log", "long.jsonl", "--checkpoint", "long")
	cmd.Dir = w.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	end := func() {
		if done {
			return
		}
		done = true
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it says that it was interrupted
	}
	t.Cleanup(end)
	for range 200 {
		if text, _ := os.ReadFile(filepath.Join(w.dir, "long.jsonl")); strings.Contains(string(text), `"event":"saved"`) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	p := open(t, 1440, 900, "--log", w.dir)
	p.until("the run", `document.querySelector("#runs-rows td")?.textContent.match(/running|being read/)`)
	p.do(chromedp.Click(`[data-run="r1"]`))
	p.until("its model", `!document.querySelector("#run-opened").hidden`)
	p.still()
	contains(p, "what is said", p.text("#run-notes"), "It goes on from its checkpoint")
	p.do(chromedp.SetValue("#steps", "5"), chromedp.Click("#train"))
	p.trained(5)
	p.press("r")
	step := `document.querySelector("#runs-rows tr > :nth-child(3)").textContent`
	before := eval[string](p, step)
	p.until("further steps", fmt.Sprintf(`%s !== %q`, step, before))
	end()
	p.until("its end", `document.querySelector("#runs-rows td").textContent === "interrupted"`)
}

// TestManyRuns: of a folder with hundreds of runs the table has the first hundred, the charts the first
// of these, and a search finds others; what is looked at is in the URL.
func TestManyRuns(t *testing.T) {
	dir := t.TempDir()
	for i := range 400 {
		j := &journal{TB: t, path: filepath.Join(dir, fmt.Sprintf("sweep%03d.jsonl", i)), at: time.Now()}
		j.write(fmt.Sprintf(`{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":840,"epochs":30,"settings":{"model":"regression-relu","rate":"%v","seed":"%d"},"time":%q}`+"\n", 0.001*float64(i+1), i, j.at.Format(time.RFC3339Nano)))
		j.steps(1, 60, 50+float64(i))
		j.end(60, "")
	}
	for _, c := range []struct {
		name          string
		width, height int64
	}{{"desk", 1440, 900}, {"phone", 390, 844}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.width, c.height, "--log", dir)
			rows, lines := `document.querySelectorAll("#runs-rows tr").length`, `[...document.querySelectorAll("#runs-charts svg")][0]?.textContent.match(/sweep\d+/g)?.length`
			p.until("a hundred rows", rows+` === 100`)
			p.until("the charts", `document.querySelector("#runs-charts svg")`)
			contains(p, "what is said", p.text("#runs-found"), "The table has the first 100", "The charts have the first 24")
			if n := eval[int](p, `document.querySelectorAll("#runs-rows input:checked").length`); n != 24 {
				t.Errorf("%d runs are ticked", n)
			}
			p.picture("runs-many-" + c.name)
			p.do(chromedp.SetValue("#runs-find", "rate=0.399"), chromedp.Evaluate(`document.querySelector("#runs-find").dispatchEvent(new Event("input"))`, nil))
			p.until("what is found", rows+` === 1 && document.querySelector("#runs-rows").textContent.includes("sweep398")`)
			p.until("its line alone", `(`+lines+`) >= 1 && !document.querySelector("#runs-charts").textContent.includes("sweep000")`)
			contains(p, "what is said", p.text("#runs-found"), "1 of 400 runs are found")
			p.until("the URL", `location.hash.includes("find:rate")`)
			p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
			p.until("the same after a reload", rows+` === 1 && document.querySelector("#runs-find").value === "rate=0.399"`)
			if wide := eval[string](p, overflow); wide != "" && c.name == "phone" {
				t.Error(wide)
			}
			p.picture("runs-found-" + c.name)
		})
	}
}
