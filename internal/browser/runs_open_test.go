package browser

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRunsBesideEachOther trains with three rates: the settings that differ are columns, by which the
// rows are sorted; what never moves is told in words; the pointer shows all runs at a step; what is
// looked at is in the URL; and a run opens its model at its checkpoint.
func TestRunsBesideEachOther(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	var args []string
	for i, rate := range []string{"0.05", "0.001", "0.01"} {
		log := filepath.Join(dir, fmt.Sprintf("run%d.jsonl", i))
		train := []string{"train", "regression-relu", "--steps", "300", "--seeds", "1", "--rate", rate, "--log", log}
		if i == 0 {
			train = append(train, "--checkpoint", filepath.Join(dir, "kept"))
		}
		if out, err := exec.Command(command, train...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		args = append(args, "--log", log)
	}
	p := open(t, 1440, 900, args...)
	p.until("the runs", `document.querySelectorAll("#runs-rows tr").length === 3 && document.querySelector("#runs-charts svg")`)
	head := `[...document.querySelectorAll("#runs-head th")].map((e) => e.textContent).join("|")`
	p.until("the settings that differ", head+`.includes("|rate|") && !`+head+`.includes("seed")`)
	names := `[...document.querySelectorAll("#runs-rows th")].map((e) => e.textContent).join(" ")`
	losses := `[...document.querySelectorAll("#runs-rows tr > :nth-child(5)")].map((e) => parseFloat(e.textContent))`
	p.until("the least loss first", `(() => { const l = `+losses+`; return l.every(Number.isFinite) && l.every((x, i) => i === 0 || l[i - 1] <= x); })()`)
	p.do(chromedp.Click(`#runs-head th:nth-last-child(2) button`))
	p.until("the order of the rates", names+` === "run1.jsonl run2.jsonl run0.jsonl"`)
	contains(p, "what never moves", p.text("#runs-still"), "Learning rate: at every step", "0.05 in run0.jsonl")

	at := eval[place](p, `(() => { const r = document.querySelector("#runs-charts svg").getBoundingClientRect(); return {X: r.x, Y: r.y, W: r.width, H: r.height}; })()`)
	p.do(chromedp.MouseEvent("mouseMoved", at.X+at.W/2, at.Y+at.H/2))
	p.until("the values under the pointer", `!document.querySelector("#runs-tip").hidden && document.querySelectorAll("#runs-tip dd").length === 3`)
	p.picture("runs-beside")
	p.do(chromedp.Click("#runs-log"), chromedp.Click("#runs-logx"))
	p.do(chromedp.Click(`#runs-rows tr:nth-child(1) input`))
	p.until("the look in the URL", `location.hash.includes("runs=smooth:90,log,logx,hide:r2,order:set:rate")`)
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.until("the same after a reload", `document.querySelector("#runs-log").checked && document.querySelector("#runs-logx").checked && document.querySelectorAll("#runs-rows tr").length === 3 && `+names+` === "run1.jsonl run2.jsonl run0.jsonl" && !document.querySelector("#runs-rows tr:nth-child(1) input").checked`)

	p.do(chromedp.Click(`[data-run="r1"]`))
	p.still()
	contains(p, "what is said", p.text("#run-notes"), "as trained in run0.jsonl", "It goes on from its checkpoint", "step 0 here is step 300 of the run")
	p.picture("run-opened")
	if loss := eval[float64](p, `(async () => { const a = await fetch("api/docs/d1/train", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({steps: 1})}); return JSON.parse((await a.text()).split("\n")[0]).loss; })()`); loss > 1 {
		t.Errorf("the loss at the checkpoint is %v: the weights are not those of the run", loss)
	}
	p.press("r")
	p.do(chromedp.Click(`[data-run="r2"]`))
	p.until("what is missing", `document.querySelector("#run-notes").textContent.includes("no checkpoint")`)
	if steps := eval[string](p, `document.querySelector("#steps").value`); steps != "300" {
		t.Errorf("%s steps are offered", steps)
	}
	// The instruction that is read is in the URL, too.
	p.do(chromedp.Click("#tab-tape"))
	p.until("the listing", `document.querySelector(".listing .line")`)
	p.do(chromedp.Evaluate(`document.querySelector('.listing [data-i="4"]').click()`, nil))
	p.until("the instruction in the URL", `location.hash.includes("instruction=4")`)
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.until("the instruction again", `document.querySelector('.listing [data-i="4"]')?.getAttribute("aria-selected") === "true"`)
	if said := p.text("#missing-list"); strings.TrimSpace(said) != "" {
		t.Errorf("missing: %s", said)
	}
}
