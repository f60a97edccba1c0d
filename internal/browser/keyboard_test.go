package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestKeyboardAlone does without a pointer what the page is for: finds and opens a
// model, walks the drawing, reads a node, steps the tape, trains and goes back, searches
// and turns the lights off. What has the focus is always marked.
func TestKeyboardAlone(t *testing.T) {
	p := open(t, 1440, 900)
	p.press(kb.Tab) // the link past the lists comes first
	if !eval[bool](p, `document.activeElement.matches(".skip")`) {
		t.Error("the first stop is not the link to the drawing")
	}
	p.press("m")
	p.press("s", "o", "f", "t", " ", "k", kb.Enter)
	p.until("the settings", `document.querySelector("form.settings")`)
	p.tabTo(`form.settings button[type="submit"]`)
	p.press(kb.Enter)
	p.until("the drawing", `document.querySelector(".items g.node")`)
	p.still()

	p.press("g")
	before := eval[string](p, `document.querySelector(".layer").style.transform`)
	p.press(kb.ArrowRight, "+")
	p.until("the drawing to move", fmt.Sprintf(`document.querySelector(".layer").style.transform !== %q`, before))
	p.press("0", kb.Home)
	p.until("a selected node", `document.querySelector(".marks .selected")`)
	first := p.text("#node-panel h2")
	for range 3 {
		p.shift(kb.ArrowDown)
	}
	p.until("another node", fmt.Sprintf(`document.querySelector("#node-panel h2") && document.querySelector("#node-panel h2").textContent !== %q`, first))
	p.until("what was said of it", `document.querySelector("#told").textContent.length > 3`)

	p.press("t")
	p.until("the gradient", `document.querySelector("#node-panel h2").textContent.includes("∂")`)
	p.press("n")
	p.press(kb.ArrowRight)
	p.until("the tape", `!document.querySelector("#tape-panel").hidden && document.querySelector(".listing .line")`)
	p.press(".", ".", ",")
	p.until("the second instruction", `document.querySelector(".walk output").textContent.startsWith("2 of")`)
	p.press("f")
	p.until("the mathematics", `document.querySelector("#mathematics-panel math")`)

	p.press("s")
	p.until("training", `+document.querySelector("#step").max === 100 && document.querySelector("#train").textContent === "Train"`)
	p.press("[", "[")
	p.until("two steps back", `document.querySelector("#step-shown").textContent.startsWith("step 98 of")`)
	p.press("]")
	p.until("one forward", `document.querySelector("#step-shown").textContent.startsWith("step 99 of")`)

	p.press("/")
	p.press("l", "o", "s", "s", kb.ArrowDown, kb.Enter)
	p.until("the found node", `document.activeElement.matches(".pane") && document.querySelectorAll(".marks .found").length > 0`)

	p.press("d")
	p.until("the dark", `document.documentElement.dataset.theme === "dark"`)
	p.press("?")
	p.until("the help", `document.querySelector("#help-dialogue").open`)
	p.press(kb.Escape)
	p.until("its end", `!document.querySelector("#help-dialogue").open`)
}
