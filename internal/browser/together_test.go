package browser

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// trained waits until the first document has been trained to a step and the page shows it.
func (p *tab) trained(step int) {
	p.Helper()
	p.until(fmt.Sprint("step ", step), fmt.Sprintf(`document.querySelector("#train").textContent === "Train" && document.querySelector("#step-shown").textContent.startsWith("step %d of")`, step))
	p.still()
}

// scrub moves the slider to a step.
func (p *tab) scrub(step int) {
	p.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.querySelector("#step"); s.value = %d; s.dispatchEvent(new Event("input", { bubbles: true })); })()`, step), nil))
	p.until(fmt.Sprint("step ", step), fmt.Sprintf(`document.querySelector("#step-shown").textContent.startsWith("step %d of")`, step))
	p.still()
}

// TestDrawsWhatIsFed: the temperature is annealed, and at every step the box, the plan
// beside Train and the values are one number.
func TestDrawsWhatIsFed(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-goofy", "--data", "iris")
	p.still()
	p.do(chromedp.SetValue("#steps", "60"), chromedp.Click("#train"))
	p.trained(60)
	id := eval[string](p, `[...document.querySelectorAll(".items g.node")].map((g) => g.id).find((id) => document.getElementById(id).querySelector("text")?.textContent.startsWith("γ"))`)
	seen := map[string]bool{}
	for _, step := range []int{60, 30, 1, 0} {
		p.scrub(step)
		box := eval[string](p, fmt.Sprintf(`document.getElementById(%q).querySelector("text").textContent`, id))
		plan := p.text("#plan")
		want := p.fed("d1", "γ")[step]
		got, err := strconv.ParseFloat(strings.TrimPrefix(box, "γ = "), 64)
		if err != nil || math.Abs(got-want) > 1e-3*want {
			t.Errorf("step %d: the box says %q, fed is %v", step, box, want)
		}
		if !strings.Contains(plan, "now "+strconv.FormatFloat(want, 'g', 5, 64)) && !strings.Contains(plan, "now "+strings.TrimRight(strconv.FormatFloat(want, 'g', 5, 64), "0")) {
			t.Errorf("step %d: beside Train stands %q, fed is %v", step, plan, want)
		}
		if !strings.Contains(plan, "over 250 steps") || !strings.Contains(plan, "falling rate") || eval[string](p, `document.querySelector("#plan-0-optimiser").value`) != "adam" || !strings.Contains(plan, "so the loss may rise") {
			t.Errorf("the plan is %q", plan)
		}
		seen[box] = true
	}
	p.picture("fed-light")
	if len(seen) != 4 {
		t.Errorf("the box says %v in four steps", seen)
	}
}

// TestOneStepForAll: what is compared is shown at one step, whoever has come further, and
// one button brings all to it.
func TestOneStepForAll(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	// Models that were named together are compared from the beginning.
	if got := eval[int](p, `document.querySelectorAll("#documents .beside").length`); got != 1 {
		t.Fatalf("%d documents are compared with the first", got)
	}
	p.until("two panels", `document.querySelector("#difference .summary").textContent.startsWith("Same ")`)
	p.picture("together-start")
	// The first alone goes ahead.
	p.do(chromedp.Click(`#documents [data-doc="d1"]`))
	p.still()
	p.do(chromedp.SetValue("#steps", "20"), chromedp.Click("#train"))
	p.trained(20)
	p.do(chromedp.Click("#compare"), chromedp.Click(`#compare-with [data-doc="d2"]`))
	p.until("a common step", `document.querySelector("#step-shown").textContent.startsWith("step 0 of 0")`)
	p.still()
	if said := p.text("#uneven"); !strings.Contains(said, "20 steps") || !strings.Contains(said, "0 steps") {
		t.Errorf("of the uneven steps it says %q", said)
	}
	p.picture("together-uneven")
	p.do(chromedp.Click("#catch-up"))
	p.trained(20)
	if eval[bool](p, `document.querySelector("#uneven").checkVisibility()`) {
		t.Errorf("all have 20 steps and it says %q", p.text("#uneven"))
	}
	// Further training takes all as far.
	p.do(chromedp.Click("#train"))
	p.trained(40)
	for _, id := range []string{"d1", "d2"} {
		if n := ask[struct{ Steps int }](p, "/api/docs/"+id).Steps; n != 40 {
			t.Errorf("%s has %d steps", id, n)
		}
	}
	p.scrub(10)
	scatters := eval[[]string](p, `[...document.querySelectorAll("#scatter-chart svg")].map((s) => s.textContent)`)
	for _, s := range scatters {
		if !strings.Contains(s, "step 10") {
			t.Errorf("a scatter is of another step: %.200s", s)
		}
	}
	if len(scatters) != 2 {
		t.Errorf("%d scatters", len(scatters))
	}
	// One axis for what both measure, one each for what they do not.
	if n := eval[int](p, `document.querySelectorAll("#loss-chart svg.chart").length`); n != 3 {
		t.Errorf("%d charts: want the inertia of both and a loss each", n)
	}
	said := p.text("#step-shown")
	for _, want := range []string{"kmeans-softmax inertia", "kmeans-goofy inertia"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	p.picture("together-light")
	for _, overlay := range []string{"grad", "memory", "time", "fusion", "precision"} {
		p.do(chromedp.SetValue("#overlay", overlay), chromedp.Evaluate(`document.querySelector("#overlay").dispatchEvent(new Event("change", { bubbles: true }))`, nil))
		p.still()
		p.do(chromedp.Evaluate(`document.querySelector("#legend").open = true`, nil))
		p.picture("together-" + overlay)
	}
	p.do(chromedp.Evaluate(`document.querySelector("#legend").open = false`, nil), chromedp.Click("#theme"))
	p.still()
	p.picture("together-dark")
}

// second is another tab of the browser on the same page.
func (p *tab) second() *tab {
	p.Helper()
	ctx, end := chromedp.NewContext(p.Context)
	p.Cleanup(end)
	q := &tab{TB: p.TB, Context: ctx, at: p.at, under: map[network.RequestID]bool{}}
	chromedp.ListenTarget(ctx, q.hear)
	q.do(network.Enable(), chromedp.Navigate(p.at+"/"), chromedp.WaitReady("body[data-ready]"))
	q.still()
	return q
}

// TestTwoWindows: what one window opens, trains and closes is so in the other, and what the other
// still looks at opens again, at its step, when it is used.
func TestTwoWindows(t *testing.T) {
	a := open(t, 1440, 900, "kmeans-softmax")
	a.still()
	b := a.second()
	b.train(7)
	a.until("the training of the other", `document.querySelector("#step-shown").textContent.startsWith("step 7 of 7")`)
	// A question of the page's own that is under way as the other window closes is not a use.
	a.do(chromedp.Evaluate(`setTimeout(async () => { const { doc } = await import(new URL("assets/api.js", document.baseURI)); for (let i = 0; i < 40; i++) { await doc("d1").catch(() => {}); await new Promise((is) => setTimeout(is, 100)); } })`, nil))
	b.do(chromedp.Click("#documents .close"))
	b.until("no document", `document.querySelectorAll("#documents li").length === 0`)
	a.until("the closed one", `document.querySelector("#documents .closed")`)
	time.Sleep(time.Second)
	if !eval[bool](a, `Boolean(document.querySelector("#documents .closed"))`) {
		t.Error("what the other window closed is open again, and nobody has used it")
	}
	// The drawing comes late, so that the click is on one of the document that was closed.
	a.do(chromedp.Evaluate(`{ const ask = window.fetch; window.fetch = async (path, init) => { if (String(path).includes("/sheet")) await new Promise((done) => setTimeout(done, 1000)); return ask(path, init); }; }`, nil))
	a.slide(4)
	a.until("the document again", `!document.querySelector("#documents .closed") && document.querySelectorAll("#documents li").length === 1`)
	a.clickNode("D", 1)
	a.settle("D")
	a.until("its step", `document.querySelector("#step-shown").textContent.startsWith("step 4 of 7")`)
	if said := a.text("#failure p"); said != "" {
		t.Errorf("it says %q", said)
	}
	b.until("it in the other", `document.querySelectorAll("#documents li").length === 1 && document.querySelector("#step-shown").textContent.startsWith("step 7 of 7")`)
	a.forgive("410")
}
