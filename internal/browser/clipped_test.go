package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// clipped is what is wider than its box, other than what scrolls by intent, the drawing, which is
// moved about, and what is for screen readers alone.
const clipped = `(() => {
	const found = [];
	const scrolls = ".wide, .formula, .listing, .steps, .code, pre, .top nav, .bar, #charts, [role=tablist], #runs .wide";
	for (const e of document.body.querySelectorAll("*")) {
		if (!e.checkVisibility() || e.closest("svg, math, .pane, .unseen, .skip, select, h1 span") || !e.clientWidth || e.scrollWidth <= e.clientWidth + 1) continue;
		const s = getComputedStyle(e);
		if (e.closest(scrolls) || /inline$|inline-block$/.test(s.display) && e.tagName !== "BUTTON" || s.clipPath !== "none") continue;
		if ([...e.querySelectorAll(".unseen, span")].some((u) => u.offsetParent !== null && getComputedStyle(u).clipPath !== "none")) continue;
		found.push(e.outerHTML.slice(0, 100).replace(/\s+/g, " ") + " " + e.scrollWidth + " in " + e.clientWidth);
	}
	return found.join("\n");
})()`

// TestNothingIsClipped looks at every view in every window: nothing is wider than its box, unless
// it is to be scrolled.
func TestNothingIsClipped(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	p.train(5)
	for _, c := range []struct {
		width, height int64
		theme         string
	}{{1440, 900, "light"}, {1280, 720, "dark"}, {390, 844, "light"}, {844, 390, "dark"}} {
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.theme}}))
		p.anew(c.width, c.height)
		small := c.width < 1000
		look := func(view string) {
			t.Helper()
			time.Sleep(250 * time.Millisecond)
			if wide := eval[string](p, clipped); wide != "" {
				t.Errorf("%d × %d, %s:\n%s", c.width, c.height, view, wide)
			}
			if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > int(c.width) {
				t.Errorf("%d × %d, %s: the page is %d wide", c.width, c.height, view, wide)
			}
			p.picture(fmt.Sprintf("view-%d-%s-%s", c.width, c.theme, strings.ReplaceAll(view, " ", "-")))
		}
		show := func(panel string) {
			p.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector('.places [data-place=%q][aria-expanded="false"]')?.click()`, panel), nil))
		}
		look("comparison")
		show("models")
		p.do(chromedp.Evaluate(`document.querySelector("#models summary").click(); document.querySelector("#models button.model").click()`, nil))
		look("models")
		p.do(chromedp.Evaluate(`document.querySelector('.places [data-place="models"][aria-expanded="true"]')?.click()`, nil))
		p.do(chromedp.Focus("#panes .pane"))
		p.press(kb.Home, "t") // and its gradient
		p.until("the node", `document.querySelector("#node-panel .values table")`)
		if small && !eval[bool](p, `document.querySelector("#node-panel").checkVisibility()`) {
			t.Errorf("%d × %d: the node's details do not open", c.width, c.height)
		}
		look("node")
		for tab, there := range map[string]string{"tape": ".listing .line", "mathematics": "#mathematics-panel math", "rewrites": ".rule"} {
			p.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector("#tab-%s").click()`, tab), nil))
			p.until(tab, fmt.Sprintf(`document.querySelector(%q)`, there))
			look(tab)
		}
		show("charts")
		p.until("charts", `document.querySelector("#loss-chart svg")`)
		look("charts")
		show("training")
		look("training")
		p.do(chromedp.Evaluate(`document.querySelector("#legend").open = true`, nil))
		look("legend")
		p.do(chromedp.Evaluate(`document.querySelector("#help").click()`, nil))
		look("help")
		p.do(chromedp.Evaluate(`document.querySelector("#help-dialogue").close(); document.querySelector("#write").click()`, nil))
		look("editor")
		p.do(chromedp.Evaluate(`document.querySelector("#editor").close()`, nil))
	}
}
