package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLoopAtATime opens an LSTM, whose gates are boxes: the slider of the loop's time chooses of which
// step they show the values, the gradients and the reasons, in the drawing and in the details, and the
// address keeps it.
func TestLoopAtATime(t *testing.T) {
	p := open(t, 1440, 900, "rnn-lstm")
	p.still()
	p.train(5)
	gate := ""
	for _, it := range ask[struct{ Items []struct{ ID, Label string } }](p, "/api/docs/d1/sheet?grad=1").Items {
		if strings.HasPrefix(it.Label, "iₜ = ") {
			gate = it.ID
		}
	}
	if gate == "" {
		t.Fatal("the input gate is not drawn")
	}
	if text := p.text("#times"); !strings.Contains(text, "0 of 0…4") {
		t.Errorf("the loop is offered as %q", text)
	}
	type values struct {
		Cells, Gradcells [][]string
	}
	at := func(time int) (v values) {
		return ask[values](p, fmt.Sprintf("/api/docs/d1/node/%s@%d/values?step=5", gate, time))
	}
	p.whole()
	p.clickBox(gate)
	for _, time := range []int{0, 3, 4, 1} {
		p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const e = document.querySelector("#time"); e.value = %d; e.dispatchEvent(new Event("input")); })()`, time), nil))
		want := at(time)
		p.until(fmt.Sprintf("the gate at t = %d", time), fmt.Sprintf(`document.querySelector('#node-panel [data-fact="at"]')?.textContent.includes("t = %d of 0…4") && document.querySelector("#node-panel .values .cell")?.textContent.trim() === %q`, time, strings.ReplaceAll(want.Cells[0][0], "-", "−")))
		if len(want.Gradcells) == 0 {
			t.Fatal("the gate has no gradient")
		}
		if got := p.text("#node-panel .values .grad"); got != strings.ReplaceAll(want.Gradcells[0][0], "-", "−") {
			t.Errorf("t = %d: the gradient begins with %q, want %q", time, got, want.Gradcells[0][0])
		}
	}
	if at(0).Cells[0][0] == at(3).Cells[0][0] {
		t.Error("the times are told apart by nothing")
	}
	p.do(chromedp.Evaluate(`document.querySelector("#node-panel .values .cell").click()`, nil))
	p.until("a reason", `document.querySelector("#node-panel .why .share")`)
	contains(p, "the reason", p.text("#node-panel .why"), "iₜ[b=0 h=0]", "recurrent/loop at t = 1", "zₜ[")
	p.choose("#overlay", "grad")
	p.still()
	p.until("the gradient of the step", fmt.Sprintf(`document.querySelector('g.node[id$="-n-%s"]').getAttribute("aria-label").includes("at t = 1")`, gate))
	p.picture("loop-at-1")
	p.do(chromedp.Evaluate(`(() => { const e = document.querySelector("#time"); e.value = 2; e.dispatchEvent(new Event("input")); })()`, nil))
	p.until("the reason of the next step", `document.querySelector("#node-panel .why")?.innerText.includes("at t = 2")`)
	p.until("the address", fmt.Sprintf(`location.hash.includes("times=2@recurrent/loop") && location.hash.includes("node=%s@2")`, gate))
	p.until("the values", `document.querySelector("#node-panel .values table")?.checkVisibility() && document.querySelector('#node-panel [data-fact="at"]')?.textContent.includes("t = 2")`)
	p.still()
	shown := p.text("#node-panel .values table")
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.still()
	p.until("the same after a reload", fmt.Sprintf(`document.querySelector("#time-shown")?.textContent === "2 of 0…4" && document.querySelector("#node-panel .values table")?.innerText.trim() === %q`, shown))
	p.until("its reason too", `document.querySelector("#node-panel .why")?.innerText.includes("at t = 2")`)
	// Closed, the loop has no time to choose.
	p.do(chromedp.Evaluate(`document.querySelector('#outline [data-path="recurrent/loop"]').click()`, nil))
	p.until("a closed loop", `document.querySelector("#times").hidden`)
}

// clickBox clicks the middle of a box that is in view.
func (p *tab) clickBox(id string) {
	p.Helper()
	at := p.place(fmt.Sprintf(`g.node[id$="-n-%s"]`, id))
	p.do(chromedp.MouseClickXY(at.X+at.W/2, at.Y+at.H/2))
}
