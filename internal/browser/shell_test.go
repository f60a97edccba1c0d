package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// anew shows the page in a window of another size as to a reader who was never there.
func (p *tab) anew(width, height int64) {
	p.Helper()
	p.do(chromedp.Evaluate(`localStorage.clear()`, nil), emulation.SetDeviceMetricsOverride(width, height, 1, width < 500 || height < 500),
		chromedp.Navigate("about:blank"), chromedp.Navigate(p.at+"/"), chromedp.WaitReady("body[data-ready]"))
	p.still()
}

// share is the part of the window that the drawing has.
const share = `(() => {
	const r = document.querySelector("#panes").getBoundingClientRect();
	return r.width * r.height / (innerWidth * innerHeight);
})()`

// smallest is the size on the screen of the smallest text of the drawing.
const smallest = `Math.min(...[...document.querySelectorAll(".items text")].map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))`

// TestDrawingHasTheWindow: at the first visit the drawing has most of the window, a comparison
// its whole width, and its text can be read.
func TestDrawingHasTheWindow(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{{"one", []string{"kmeans-softmax"}}, {"compare", []string{"kmeans-softmax", "kmeans-goofy", "--data", "iris"}}, {"gpt", []string{"transformer-gpt"}}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, 1440, 900, c.args...)
			for _, size := range [][2]int64{{1440, 900}, {1280, 720}, {390, 844}, {844, 390}} {
				p.anew(size[0], size[1])
				least := map[int64]float64{1440: 0.6, 1280: 0.5, 390: 0.5, 844: 0.5}[size[0]]
				got, text := eval[float64](p, share), eval[float64](p, smallest)
				t.Logf("%d × %d: the drawing has %.0f %% of the window, its smallest text %.1f px", size[0], size[1], 100*got, text)
				if got < least {
					t.Errorf("%d × %d: the drawing has %.0f %% of the window, want %.0f %%", size[0], size[1], 100*got, 100*least)
				}
				if text < 9-1e-3 {
					t.Errorf("%d × %d: text of %.2f px, want 9", size[0], size[1], text)
				}
				if wide := eval[float64](p, `document.querySelector("#panes").getBoundingClientRect().width / innerWidth`); c.name == "compare" && wide != 1 {
					t.Errorf("%d × %d: the comparison has %.2f of the width", size[0], size[1], wide)
				}
				if wide := eval[string](p, overflow); wide != "" && size[0] < 1000 { // a desk's screen is as wide as its browser says
					t.Errorf("%d × %d: %s", size[0], size[1], wide)
				}
				if !eval[bool](p, `[...document.querySelectorAll(".items g.role-loss")].some((g) => { const r = g.getBoundingClientRect(), h = document.querySelector("#panes").getBoundingClientRect(); return r.left >= h.left && r.right <= h.right + 1 && r.top >= h.top && r.bottom <= h.bottom + 1; })`) {
					t.Errorf("%d × %d: the loss is not in view", size[0], size[1])
				}
				p.picture(fmt.Sprintf("shell-%s-%d", c.name, size[0]))
			}
		})
	}
}

// TestDrawingKeepsTheWindow: charts of a comparison open by themselves where the drawing keeps its
// place; elsewhere their button is marked until they are opened.
func TestDrawingKeepsTheWindow(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	for _, c := range []struct {
		width, height int64
		panels        string
		least         float64
		marked        bool
	}{{1440, 900, "training charts", 0.4, false}, {1280, 720, "training", 0.4, true}} {
		p.anew(c.width, c.height)
		p.train(3)
		p.still()
		state := eval[string](p, `document.body.dataset.panels`)
		marked := eval[bool](p, `"news" in document.querySelector("button[data-place=charts]").dataset`)
		if got := eval[float64](p, share); state != c.panels || marked != c.marked || got < c.least {
			t.Errorf("%d × %d: trained, %q is open, the charts' button marked: %v, and the drawing has %.0f %% of the window", c.width, c.height, state, marked, 100*got)
		}
		if eval[bool](p, `!document.querySelector("#hint").hidden`) {
			t.Errorf("%d × %d: trained, and what to click lies over the drawing", c.width, c.height)
		}
		p.picture(fmt.Sprintf("shell-trained-%d", c.width))
	}
	p.press("3")
	if eval[bool](p, `"news" in document.querySelector("button[data-place=charts]").dataset`) {
		t.Error("the charts are open, and their button is marked")
	}
}

// TestPanels: panels go and come by their keys, are sized by keyboard and pointer, and are as the
// reader left them after a reload, for each kind of window; where storage is refused they work too.
func TestPanels(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	open := func() string { return eval[string](p, `document.body.dataset.panels`) }
	if got := open(); got != "details charts training" {
		t.Errorf("open at first: %s", got)
	}
	width := func(id string) float64 {
		return eval[float64](p, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().width`, id))
	}
	p.press("3", "1")
	before := width("#left")
	p.do(chromedp.Focus("#edge-models"))
	p.press(kb.ArrowRight, kb.ArrowRight)
	if got := width("#left"); got != before+32 {
		t.Errorf("the models were %v wide and are %v", before, got)
	}
	side := eval[place](p, `(({x, y, width, height}) => ({X: x, Y: y, W: width, H: height}))(document.querySelector("#edge-side").getBoundingClientRect())`)
	x, y := side.X+side.W/2, side.Y+200
	p.do(chromedp.MouseEvent(input.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseMoved, x-50, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseReleased, x-50, y, chromedp.ButtonLeft))
	if got := width("#right"); got != 382 {
		t.Errorf("the details are %v wide, want 332 and the 50 that were dragged", got)
	}
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.still()
	if got := open(); got != "details training models" || width("#left") != before+32 || width("#right") != 382 {
		t.Errorf("after a reload: %s, %v and %v wide", got, width("#left"), width("#right"))
	}
	p.clickNode("D", 1) // the charts stay closed, since the reader closed them
	p.train(3)
	if got := open(); got != "details training models" {
		t.Errorf("after training: %s", got)
	}
	p.do(emulation.SetDeviceMetricsOverride(390, 844, 1, true))
	p.until("a phone without a sheet", `document.body.dataset.panels === "" && document.body.dataset.screen === "portrait"`)
	p.do(emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	p.until("the panels again", `document.body.dataset.panels === "details training models"`)

	_, err := cdppage.AddScriptToEvaluateOnNewDocument(`Object.defineProperty(window, "localStorage", {get() { throw new DOMException("refused", "SecurityError"); }})`).Do(cdp.WithExecutor(p.Context, chromedp.FromContext(p.Context).Target))
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.still()
	p.press("1")
	if got := open(); got != "details charts training models" {
		t.Errorf("without storage: %s", got)
	}
}

// TestSelectionStaysInView: what is selected stays where it is while the drawing is scaled, and in
// view when a panel takes room from it.
func TestSelectionStaysInView(t *testing.T) {
	p := open(t, 1280, 720, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	p.clickNode("∂loss/∂r", 2)
	p.until("the details", `document.querySelector("#node-panel h2")`)
	p.still()
	inView := func(when string) {
		t.Helper()
		time.Sleep(300 * time.Millisecond)
		if !eval[bool](p, `(() => {
			const h = document.querySelector("#panes").getBoundingClientRect();
			const r = [...document.querySelectorAll(".marks .selected")].at(-1).getBoundingClientRect();
			return r.left >= h.left - 8 && r.right <= h.right + 8 && r.top >= h.top - 8 && r.bottom <= h.bottom + 8;
		})()`) {
			t.Errorf("%s the selected node is out of sight", when)
		}
	}
	inView("when the details open")
	p.do(chromedp.Focus("#panes .pane"))
	p.press("+", "+", "+")
	inView("larger,")
	p.press("3")
	inView("when the charts open")
}

// TestChartLeadsToStep: a click on the loss goes to the step below it, and training begins anew.
func TestChartLeadsToStep(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.train(20)
	p.until("the curve", `document.querySelector("#loss-chart svg.chart")`)
	at := eval[place](p, `(() => {
		const ten = [...document.querySelectorAll('#loss-chart text[text-anchor="middle"]')].find((e) => e.textContent === "10").getBoundingClientRect();
		const chart = document.querySelector("#loss-chart svg").getBoundingClientRect();
		return {X: ten.x + ten.width / 2, Y: chart.y + chart.height / 2, W: 0, H: 0};
	})()`)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
	p.until("the step", `document.querySelector("#step-shown").textContent.startsWith("step 10 of 20")`)
	p.do(chromedp.Click("#restart"))
	p.until("the beginning", `document.querySelector("#step-shown").textContent.startsWith("step 0 of 0") && document.querySelectorAll("#documents li").length === 1`)
	if docs := ask[[]struct{ Steps int }](p, "/api/docs"); len(docs) != 1 || docs[0].Steps != 0 {
		t.Errorf("after a restart there are %v", docs)
	}
}
