package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestDark turns dark by the reader's system and by the switch: page, drawing and
// charts.
func TestDark(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	colours := func() [3]string {
		return eval[[3]string](p, `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".items .role-input .box")).fill,
			getComputedStyle(document.querySelector("#scatter-chart .ch-page")).fill]`)
	}
	p.until("the scatter", `document.querySelector("#scatter-chart svg")`)
	light := [3]string{"rgb(255, 255, 255)", "rgb(214, 236, 250)", "rgb(255, 255, 255)"}
	dark := [3]string{"rgb(20, 25, 31)", "rgb(18, 52, 74)", "rgb(20, 25, 31)"}
	if got := colours(); got != light {
		t.Errorf("light: %v, want %v", got, light)
	}
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	p.until("dark by preference", `document.documentElement.dataset.theme === "dark"`)
	if got := colours(); got != dark {
		t.Errorf("dark: %v, want %v", got, dark)
	}
	p.picture("dark")
	p.do(chromedp.Click("#theme"))
	if got := colours(); got != light {
		t.Errorf("light by choice where dark is preferred: %v, want %v", got, light)
	}
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.still()
	p.until("the scatter again", `document.querySelector("#scatter-chart svg")`)
	if got := colours(); got != light {
		t.Errorf("the choice is forgotten: %v, want %v", got, light)
	}
}

// overflow is what reaches out of the window, but for what scrolls by itself, the
// drawing, and what is for screen readers alone. A phone makes its window as wide as what
// is in it, so the screen is the measure.
const overflow = `(() => {
	const scrolls = (e) => e && e !== document.documentElement && e !== document.body &&
		(/auto|scroll/.test(getComputedStyle(e).overflowX) || e.matches(".pane, .unseen, .skip, svg") || scrolls(e.parentElement));
	for (const e of document.body.querySelectorAll("*")) {
		const r = e.getBoundingClientRect();
		if (r.width > 0 && (r.right > screen.width + 1 || r.left < -1) && !scrolls(e)) return e.outerHTML.slice(0, 150) + " from " + r.left + " to " + r.right;
	}
	return "";
})()`

// parts are the panels; on a phone one at a time lies below the drawing.
var parts = []string{"models", "details", "charts", "training"}

// TestPhone shows every part of the page at the width of a phone without anything
// being wider than it.
func TestPhone(t *testing.T) {
	p := open(t, 390, 844)
	p.picture("phone-empty")
	if wide := eval[string](p, overflow); wide != "" {
		t.Errorf("empty: %s", wide)
	}
	p.do(chromedp.Click("#starts button:nth-child(1)"))
	p.until("two documents", `document.querySelectorAll("#documents li").length === 2`)
	p.still()
	time.Sleep(400 * time.Millisecond)
	p.clickNode("r", 1)
	for _, part := range parts {
		p.do(chromedp.Evaluate(`document.querySelector('.places [data-place="`+part+`"][aria-expanded="false"]')?.click()`, nil), chromedp.Sleep(200*time.Millisecond))
		if seen := eval[string](p, `[...document.querySelectorAll("[data-place]:not(button)")].filter((e) => e.getBoundingClientRect().width > 0).map((e) => e.dataset.place).sort().join()`); seen != min("drawing", part)+","+max("drawing", part) {
			t.Errorf("%s is asked for, %s is shown", part, seen)
		}
		if wide := eval[string](p, overflow); wide != "" {
			t.Errorf("%s: %s", part, wide)
		}
		p.picture("phone-" + part)
	}
}

// violation is one of axe-core's.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// axe is the text of axe-core; without it the test is skipped.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TAPESTRY_AXE")
	if path == "" {
		t.Skip("TAPESTRY_AXE does not name axe.min.js of axe-core")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessible lets axe-core, which is there, look at a state of the page.
func (p *tab) accessible(state string) {
	p.Helper()
	var found []violation
	text := eval[string](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.Fatal(err)
	}
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			p.Errorf("%s: %s (%s): %s\n%.200s\n%.300s", state, v.ID, v.Impact, v.Help, v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
		}
	}
}

// TestAccessibility runs axe-core over the states of the page, light, dark and on a
// phone.
func TestAccessibility(t *testing.T) {
	script := axe(t)
	for _, c := range []struct {
		name          string
		width, height int64
		theme         string
	}{{"light", 1440, 900, "light"}, {"dark", 1440, 900, "dark"}, {"phone", 390, 844, "light"}, {"landscape", 844, 390, "dark"}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.width, c.height)
			p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.theme}}), chromedp.Evaluate(script, nil))
			check := p.accessible
			check("empty")
			p.do(chromedp.Click("#starts button:nth-child(1)"))
			p.until("two documents", `document.querySelectorAll("#documents li").length === 2`)
			p.still()
			time.Sleep(300 * time.Millisecond)
			p.do(chromedp.Evaluate(`document.querySelector("#models summary").click(); document.querySelector("#models button.model").click()`, nil))
			if c.height < 500 { // α is out of sight
				p.do(chromedp.Focus("#panes .pane"))
				p.press(kb.Home)
				p.settle("x")
			} else {
				p.clickNode("α", 1)
				p.settle("α")
			}
			for _, part := range parts {
				p.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector('.places [data-place=%q][aria-expanded="false"]')?.click()`, part), nil))
				check(part)
			}
			p.do(chromedp.Evaluate(`document.querySelector('.places [data-place="details"][aria-expanded="false"]')?.click()`, nil), chromedp.Click("#tab-tape"))
			p.until("the listing", `document.querySelector(".present h3")`)
			check("tape")
			p.do(chromedp.Click("#tab-mathematics"))
			p.until("the mathematics", `document.querySelector("#mathematics-panel math")`)
			check("mathematics")
			p.do(chromedp.Click("#tab-rewrites"))
			p.until("the firings", `document.querySelector(".rule")`)
			p.do(chromedp.Click(`[aria-label="Next firing"]`))
			p.until("a firing", `document.querySelector("#rewrites-panel .sides")`)
			p.still()
			check("rewrites")
			p.do(chromedp.Click("#help"))
			check("help")
		})
	}
}
