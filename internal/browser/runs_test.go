package browser

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A journal is a log that a test writes as a training would.
type journal struct {
	testing.TB
	path string
	at   time.Time
}

func (j *journal) write(text string) {
	j.Helper()
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		j.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		j.Fatal(err)
	}
}

func (j *journal) begin() {
	j.write(fmt.Sprintf(`{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":840,"epochs":30,"time":%q}`+"\n", j.at.Format(time.RFC3339Nano)))
}

// steps logs steps, with a measurement at every 28th.
func (j *journal) steps(from, to int, slow float64) {
	var b strings.Builder
	for s := from; s <= to; s++ {
		j.at = j.at.Add(5 * time.Millisecond)
		t, x := j.at.Format(time.RFC3339Nano), float64(s)
		fmt.Fprintf(&b, `{"event":"stepped","step":%d,"epoch":%d,"batch":%d,"loss":%v,"rate":%v,"time":%q}`+"\n", s, s/28, s%28,
			2.3*math.Exp(-x/slow)+0.1+0.05*math.Sin(x*x), 0.0005*(1+math.Cos(math.Pi*x/840)), t)
		if s%28 == 0 {
			fmt.Fprintf(&b, `{"event":"validated","step":%d,"epoch":%d,"batch":0,"scores":{"loss":%v,"accuracy":%v},"time":%q}`+"\n", s, s/28,
				2.3*math.Exp(-x/slow)+0.15, 0.97-0.8*math.Exp(-x/slow), t)
		}
	}
	j.write(b.String())
}

func (j *journal) end(step int, failure string) {
	if failure != "" {
		failure = fmt.Sprintf(`,"error":%q`, failure)
	}
	j.write(fmt.Sprintf(`{"event":"ended","step":%d,"epoch":%d,"batch":0%s}`+"\n", step, step/28, failure))
}

const row = `#runs-rows tr:nth-child(%d)`

// cell waits until a cell of a run's row says something.
func (p *tab) cell(run, column int, says string) {
	p.Helper()
	p.until(fmt.Sprintf("%q in column %d of run %d", says, column, run), fmt.Sprintf(`document.querySelector("`+row+` > :nth-child(%d)")?.textContent.includes(%q)`, run, column, says))
}

// TestRuns follows two logs that are not there at first: one grows, has a line that is
// none, is cut and written anew, and is replaced; the other fails.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	first, second := &journal{TB: t, path: filepath.Join(dir, "first.jsonl"), at: time.Now()}, &journal{TB: t, path: filepath.Join(dir, "second.jsonl"), at: time.Now()}
	p := open(t, 1440, 900, "--log", first.path, "--log", second.path)
	p.until("the runs, since nothing else is open", `document.body.dataset.view === "runs" && document.querySelectorAll("#runs-rows tr").length === 2`)
	p.cell(1, 2, "waiting for the file")
	p.picture("runs-empty")

	first.begin()
	first.steps(1, 60, 100)
	p.cell(1, 3, "60 of 840")
	p.cell(1, 2, "running")
	p.cell(1, 9, "accuracy 0.")
	p.cell(1, 7, "200")
	p.until("five charts", `document.querySelectorAll("#runs-charts svg").length === 5`)
	if got := eval[string](p, `[...document.querySelectorAll("#runs-charts svg")].map((s) => s.querySelector("title").textContent).join("; ")`); got != "Loss of the batches; Measured: loss; Measured: accuracy; Learning rate; Steps per second" {
		t.Errorf("the charts are %s", got)
	}
	curve := func() string {
		return eval[string](p, `document.querySelector("#runs-charts svg").outerHTML`)
	}
	before := curve()
	first.steps(61, 400, 100)
	p.cell(1, 3, "400 of 840")
	p.until("the curve to grow", fmt.Sprintf(`document.querySelector("#runs-charts svg").outerHTML.length !== %d`, len(before)))

	first.write("{\"event\":\"ste\n<b>bold</b>\n")
	first.steps(401, 420, 100)
	p.cell(1, 3, "420 of 840")
	p.until("the complaint", `document.querySelector("#runs-problems").innerText.includes("first.jsonl: 2 lines could not be read")`)
	p.do(chromedp.Click("#runs-problems summary"))
	contains(p, "the lines", p.text("#runs-problems"), "line 416: no JSON object", "line 417: no JSON object")

	second.begin()
	second.steps(1, 300, 180)
	p.cell(2, 3, "300 of 840")
	names := `[...document.querySelectorAll("#runs-charts svg:first-of-type text")].map((e) => e.textContent).join("|")`
	p.until("both names in the chart", names+`.includes("first.jsonl") && `+names+`.includes("second.jsonl")`)
	p.picture("runs")
	p.do(chromedp.Click(fmt.Sprintf(row+" input", 2)))
	p.until("one line less", `!`+names+`.includes("second.jsonl")`)
	p.do(chromedp.Click(fmt.Sprintf(row+" input", 2)))
	p.until("the line again", names+`.includes("second.jsonl")`)
	second.end(300, "step 301: log of a negative: loss is NaN")
	p.cell(2, 2, "stopped: step 301: log of a negative")

	// What is smoothed less is another line; so is one over powers of ten.
	rough := curve()
	p.do(chromedp.Focus("#runs-smooth"))
	p.press(kb.Home)
	p.until("the raw loss", fmt.Sprintf(`document.querySelector("#runs-smooth-shown").textContent === "0.00" && document.querySelector("#runs-charts svg").outerHTML.length < %d`, len(rough)))
	p.do(chromedp.Click("#runs-log"))
	p.until("powers of ten", names+`.includes("|0.05|")`)

	// Cut and written anew, it is read anew; and so is another file of the name.
	if err := os.Truncate(first.path, 0); err != nil {
		t.Fatal(err)
	}
	first.begin()
	first.steps(1, 30, 60)
	p.cell(1, 3, "30 of 840")
	p.until("no complaint any more", `document.querySelector("#runs-problems").hidden`)
	if err := os.Rename(first.path, first.path+".1"); err != nil {
		t.Fatal(err)
	}
	p.cell(1, 2, "the file is gone")
	first.begin()
	first.steps(1, 840, 60)
	first.end(840, "")
	p.cell(1, 2, "ended")
	p.cell(1, 3, "840 of 840")

	// By key to the models and back.
	p.do(chromedp.Evaluate(`document.activeElement.blur()`, nil))
	p.press("r")
	p.until("the models", `document.querySelector("#empty").getBoundingClientRect().width > 0 && document.querySelector("#runs").hidden`)
	p.press("r")
	p.until("the runs", `document.querySelector("#runs").getBoundingClientRect().width > 0`)
}

// TestRunsAnywhere: on a phone nothing is too wide; in the dark the charts are dark; and
// axe-core has nothing to say.
func TestRunsAnywhere(t *testing.T) {
	j := &journal{TB: t, path: filepath.Join(t.TempDir(), "a run with quite a long name.jsonl"), at: time.Now()}
	j.begin()
	j.steps(1, 500, 100)
	j.write("nothing\n")
	for _, c := range []struct {
		name          string
		width, height int64
		theme, ground string
	}{{"light", 1440, 900, "light", "rgb(255, 255, 255)"}, {"dark", 1440, 900, "dark", "rgb(20, 25, 31)"}, {"phone", 390, 844, "light", "rgb(255, 255, 255)"}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.width, c.height, "--log", j.path, "--log", j.path+".none")
			p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.theme}}))
			p.until("the charts", `document.querySelectorAll("#runs-charts svg").length === 4`)
			p.until("the colour of the page under the charts", fmt.Sprintf(`getComputedStyle(document.querySelector("#runs-charts .ch-page")).fill === %q`, c.ground))
			if wide := eval[string](p, overflow); wide != "" && c.name == "phone" { // a desk's screen is as wide as its browser says
				t.Error(wide)
			}
			p.picture("runs-" + c.name)
			if os.Getenv("TAPESTRY_AXE") == "" {
				t.Log("without TAPESTRY_AXE nothing is asked of axe-core")
				return
			}
			p.do(chromedp.Evaluate(axe(t), nil))
			p.accessible("runs, " + c.name)
		})
	}
}

// TestNoRuns: without a log there is nothing to turn to.
func TestNoRuns(t *testing.T) {
	p := open(t, 1440, 900)
	p.press("r")
	if !eval[bool](p, `document.querySelector("#runs-tab").hidden && document.querySelector("#runs").hidden && document.body.dataset.view !== "runs"`) {
		t.Error("runs are shown where there are none")
	}
}
