package browser

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// TestLargeDrawing opens all of transformers of 12 layers, forward and backward, and
// drags them about. It logs how long that took and how many frames a second the browser's
// own trace has; it asserts only that the drawing stays virtual: what is out of sight is
// not in the document.
func TestLargeDrawing(t *testing.T) {
	for _, x := range []struct {
		model string
		boxes int // at least, with all open
	}{{"transformer-gpt", 1500}, {"transformer-seq2seq", 3000}} {
		t.Run(x.model, func(t *testing.T) { large(t, x.model, x.boxes) })
	}
}

// large opens a model with 12 layers and drags it about.
func large(t *testing.T, model string, boxes int) {
	p := open(t, 1440, 900)
	p.openModel(model, 12)
	p.still()
	drawn := func() string { return eval[string](p, `document.querySelector("#panes").dataset.drawn`) }
	p.until("a drawing", `document.querySelector("#panes").dataset.drawn`)
	p.do(chromedp.Evaluate(`document.querySelector("#close-all").click()`, nil), chromedp.Sleep(300*time.Millisecond))
	p.still()
	t.Logf("notes, closed: %s ms", drawn())
	p.choose("#level", "primitive")
	time.Sleep(200 * time.Millisecond)
	p.still()
	t.Logf("every node, modules folded: %s ms", drawn())
	p.do(chromedp.Evaluate(`document.querySelector("#open-all").click()`, nil), chromedp.Sleep(300*time.Millisecond))
	p.until("all modules", `!document.querySelector("#panes[aria-busy]")`)
	s := ask[sheet](p, "/api/docs/d1/sheet?level=primitive&grad=1&open=*")
	t.Logf("open: %d nodes, %d items: %s ms, of which the server's answer %.0f ms", s.count("node", 0), len(s.Items), drawn(),
		eval[float64](p, `performance.getEntriesByType("resource").findLast((e) => e.name.includes("open=*") || e.name.includes("open=%2A")).duration`))
	if s.count("node", 0) < boxes {
		t.Errorf("%d nodes are no large drawing", s.count("node", 0))
	}
	if n := eval[int](p, `document.querySelectorAll(".items > g > g").length`); n == 0 || n > len(s.Items)/4 {
		t.Errorf("%d of %d items are in the document", n, len(s.Items))
	}
	p.picture("large")
	p.drag("at reading size")
	p.do(chromedp.Click("#fit"), chromedp.Sleep(500*time.Millisecond))
	p.picture("large-fit")
	p.do(chromedp.Evaluate(`document.querySelector("#zoom-in").click()`, nil), chromedp.Sleep(500*time.Millisecond))
	p.drag("all in view")
	p.still()
}

// drag drags the drawing to and fro and logs the frames of the browser's trace.
func (p *tab) drag(what string) {
	p.Helper()
	frames, done := 0, make(chan bool, 1)
	chromedp.ListenTarget(p.Context, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var x struct{ Name string }
				if json.Unmarshal([]byte(v), &x) == nil && x.Name == "DrawFrame" {
					frames++
				}
			}
		case *tracing.EventTracingComplete:
			select {
			case done <- true:
			default:
			}
		}
	})
	before := eval[string](p, `document.querySelector(".layer").style.transform`)
	p.do(tracing.Start().WithTraceConfig(&tracing.TraceConfig{IncludedCategories: []string{"disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame", "devtools.timeline", "devtools.timeline.frame"}}).
		WithTransferMode(tracing.TransferModeReportEvents))
	x, y := 700.0, 400.0
	p.do(input.DispatchMouseEvent(input.MousePressed, x, y).WithButton(input.Left).WithClickCount(1))
	start := time.Now()
	for i := range 200 { // to and fro, and to: it does not end where it began
		step := 7.0
		if i/40%2 == 1 {
			step = -7
		}
		x, y = x-step, y-step/2
		p.do(input.DispatchMouseEvent(input.MouseMoved, x, y).WithButton(input.Left))
		time.Sleep(time.Until(start.Add(time.Duration(i) * 12 * time.Millisecond)))
	}
	took := time.Since(start)
	p.do(input.DispatchMouseEvent(input.MouseReleased, x, y).WithButton(input.Left).WithClickCount(1), tracing.End())
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		p.Fatal("the trace does not end")
	}
	p.Logf("panning %s: %d frames in %.2f s: %.0f a second", what, frames, took.Seconds(), float64(frames)/took.Seconds())
	if frames == 0 || eval[string](p, `document.querySelector(".layer").style.transform`) == before {
		p.Error("nothing moved")
	}
}

// openModel opens a model with a number of layers by the list of models.
func (p *tab) openModel(model string, layers int) {
	p.Helper()
	p.do(chromedp.SetValue("#model-search", model), chromedp.Evaluate(`document.querySelector("#model-search").dispatchEvent(new Event("input"))`, nil),
		chromedp.Click(fmt.Sprintf(`button[data-model=%q]`, model)), chromedp.SetValue(`form.settings [name="setting:layers"]`, fmt.Sprint(layers)),
		chromedp.Click(`form.settings button[type="submit"]`))
	p.until("the model", `document.querySelector("#documents li")`)
}
