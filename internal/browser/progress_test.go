package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLongWorkIsShownAndStopped: work that takes long says what it is; stopped, it leaves what was
// drawn, says so, and keeps nobody waiting.
func TestLongWorkIsShownAndStopped(t *testing.T) {
	p := open(t, 1440, 900, "transformer-gpt{layers=12}")
	p.still()
	before := p.text("#level option:checked")
	boxes := eval[int](p, `document.querySelectorAll(".items g.node").length`)
	p.choose("#overlay", "blame") // every rule against difference quotients
	p.until("the work", `!document.querySelector("#progress").hidden`)
	contains(p, "the work", p.text("#progress p"), "Checking the derivatives")
	p.picture("progress")
	p.do(chromedp.Click("#progress button"))
	p.until("the end of it", `document.querySelector("#progress").hidden && !document.querySelector("#failure").hidden && !document.querySelector("#panes[aria-busy]")`)
	contains(p, "what is said", p.text("#failure p"), "Stopped: checking the derivatives.")
	if now := eval[string](p, `document.querySelector("#overlay").value`); now != "none" {
		t.Errorf("the overlay is said to be %q, and is not drawn", now)
	}
	if now := eval[int](p, `document.querySelectorAll(".items g.node").length`); now != boxes || p.text("#level option:checked") != before {
		t.Errorf("%d boxes are drawn, and were %d", now, boxes)
	}
	// The document is free at once: what comes next is not held up by what was stopped.
	if took := eval[float64](p, `(async () => { const t = performance.now(); await fetch("api/docs/d1/history"); return performance.now() - t; })()`); took > 2000 {
		t.Errorf("the next answer took %.0f ms", took)
	}
	// A training says how far it is, and stops where it is.
	p.do(chromedp.SetValue("#steps", "20000"), chromedp.Click("#train"))
	p.until("how far it is", `/^Training .* of 20.000$/.test(document.querySelector("#progress p").textContent)`)
	p.do(chromedp.Click("#progress button"))
	p.until("the end of training", `document.querySelector("#train").textContent === "Train" && document.querySelector("#progress").hidden`)
	if said := p.text("#step-shown"); !strings.HasPrefix(said, "step ") || strings.HasPrefix(said, "step 0 of 0") {
		t.Errorf("after it was stopped the training stands at %q", said)
	}
}
