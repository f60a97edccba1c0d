package browser

import (
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// place is where something is in the window.
type place struct{ X, Y, W, H float64 }

// box gives the place of a node of the drawing, by how its title begins, in a panel (1
// for a single drawing).
func (p *tab) box(title string, panel int) place {
	p.Helper()
	find := fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll(".items g.node")].filter((e) => e.getAttribute("aria-label").startsWith(%q));
		const r = found[%d]?.querySelector(".box")?.getBoundingClientRect();
		return r ? {X: r.x, Y: r.y, W: r.width, H: r.height} : null;
	})()`, title, panel-1)
	p.until("a drawn node "+title, find)
	return eval[place](p, find)
}

// clickNode clicks the middle of a node.
func (p *tab) clickNode(title string, panel int) {
	p.Helper()
	b := p.box(title, panel)
	p.do(chromedp.MouseClickXY(b.X+b.W/2, b.Y+b.H/2))
}

// key presses a key as a keyboard does: its text comes from the same event, so that a
// page that takes the key leaves no letter behind.
func (p *tab) key(k string, modifiers input.Modifier) {
	p.Helper()
	for _, r := range k {
		e, known := kb.Keys[r]
		if !known {
			e = &kb.Key{Code: "", Key: string(r), Text: string(r), Unmodified: string(r)}
		}
		down := input.DispatchKeyEvent(input.KeyDown).WithKey(e.Key).WithCode(e.Code).WithText(e.Text).WithUnmodifiedText(e.Unmodified).
			WithWindowsVirtualKeyCode(e.Windows).WithModifiers(modifiers)
		up := input.DispatchKeyEvent(input.KeyUp).WithKey(e.Key).WithCode(e.Code).WithWindowsVirtualKeyCode(e.Windows).WithModifiers(modifiers)
		p.do(down, up)
	}
}

// press presses keys, one after the other, where the focus is, and fails where a
// reader could not see that it is.
func (p *tab) press(keys ...string) {
	p.Helper()
	for _, k := range keys {
		p.key(k, 0)
		p.seesFocus(k)
	}
}

// shift presses a key with Shift.
func (p *tab) shift(key string) {
	p.Helper()
	p.key(key, input.ModifierShift)
}

// seesFocus checks that what has the focus is marked.
func (p *tab) seesFocus(after string) {
	p.Helper()
	seen := eval[string](p, `(() => {
		const e = document.activeElement;
		if (!e || e === document.body) return "";
		const s = getComputedStyle(e);
		const b = e.getBoundingClientRect();
		return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && b.width > 0 ? "" : e.outerHTML.slice(0, 120);
	})()`)
	if seen != "" {
		p.Errorf("after %q the focus is not seen on %s", after, seen)
	}
}

// tabTo presses Tab until a selector has the focus.
func (p *tab) tabTo(selector string) {
	p.Helper()
	for range 120 {
		if eval[bool](p, fmt.Sprintf("document.activeElement?.matches(%q) ?? false", selector)) {
			return
		}
		p.press(kb.Tab)
	}
	p.Fatalf("Tab does not reach %s", selector)
}

// choose sets a select element as a reader does.
func (p *tab) choose(selector, value string) {
	p.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, selector, value), nil))
}

// slide moves the slider of training steps.
func (p *tab) slide(step int) {
	p.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.querySelector("#step"); s.value = %d; s.dispatchEvent(new Event("input", {bubbles: true})); })()`, step), nil))
	p.until("the step", fmt.Sprintf(`document.querySelector("#step-shown").textContent.startsWith("step %d of")`, step))
}

// train makes steps by the button and waits for their end.
func (p *tab) train(steps int) {
	p.Helper()
	before := eval[int](p, `+document.querySelector("#step").max`)
	p.do(chromedp.SetValue("#steps", fmt.Sprint(steps)), chromedp.Click("#train"))
	p.until("the end of training", fmt.Sprintf(`document.querySelector("#train").textContent === "Train" && +document.querySelector("#step").max === %d`, before+steps))
}

// cells are the numbers of the values' table.
func (p *tab) cells() [][]string {
	p.Helper()
	p.until("a table of values", `document.querySelector("#node-panel .values tbody td")`)
	return eval[[][]string](p, `[...document.querySelectorAll("#node-panel .values tbody tr")].map((r) => [...r.querySelectorAll("td .cell")].map((c) => c.textContent.replaceAll("−", "-")))`)
}

// settle waits until the panel of the node shows a node's values and no answer is
// under way.
func (p *tab) settle(label string) {
	p.Helper()
	p.until("the panel of "+label, fmt.Sprintf(`document.querySelector("#node-panel h2")?.textContent === %q && document.querySelector("#node-panel .values table")`, label))
	time.Sleep(150 * time.Millisecond)
}

func contains(p *tab, what, text string, parts ...string) {
	p.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.Errorf("%s is %q, which lacks %q", what, text, part)
		}
	}
}
