package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// extent is where something is, in pixels of the window: where the drawing's corner is, and its size.
type extent struct{ X, Y, W, H float64 }

func (p *tab) extent() extent {
	p.Helper()
	return eval[extent](p, `(() => { const r = document.querySelector(".pane .items").getBoundingClientRect(), o = document.querySelector(".pane").getBoundingClientRect(); return { X: r.x - o.x, Y: r.y - o.y, W: r.width, H: r.height }; })()`)
}

// place is where a thing is in the window.
func (p *tab) place(selector string) extent {
	p.Helper()
	return eval[extent](p, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x, Y: r.y, W: r.width, H: r.height }; })()`, selector))
}

// TestOverview moves a drawing that is larger than its window by the overview in its corner, whose frame
// is where the camera is; where all of the drawing is seen there is none.
func TestOverview(t *testing.T) {
	p := open(t, 1440, 900)
	p.openModel("transformer-gpt", 12)
	p.still()
	shown := func() bool { return eval[bool](p, `Boolean(document.querySelector(".minimap")?.checkVisibility())`) }
	if !shown() {
		t.Fatal("there is no overview of a large drawing")
	}
	// frame fails unless the frame is where the camera is.
	frame := func(when string) {
		t.Helper()
		time.Sleep(250 * time.Millisecond)
		s, pane, m, f := p.extent(), p.place(".pane"), p.place(".map"), p.place(".map .window")
		scale := m.W / s.W
		left, right := max(0, -s.X*scale), min(m.W, (pane.W-s.X)*scale)
		top, bottom := max(0, -s.Y*scale), min(m.H, (pane.H-s.Y)*scale)
		if d := max(abs(f.X-m.X-left), abs(f.Y-m.Y-top), abs(f.W-max(right-left, 7)), abs(f.H-max(bottom-top, 7))); d > 1.5 {
			t.Errorf("%s: the frame is %+v in %+v, the drawing %+v in %+v", when, f, m, s, pane)
		}
	}
	frame("at first")
	p.picture("overview")
	if n := eval[int](p, `(() => { const c = document.querySelector(".map canvas"); return new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size; })()`); n < 6 {
		t.Errorf("the overview has %d colours", n)
	}
	m, before := p.place(".map"), p.extent()
	p.do(chromedp.MouseClickXY(m.X+m.W*0.7, m.Y+m.H*0.8))
	time.Sleep(200 * time.Millisecond)
	pane := p.place(".pane")
	if s := p.extent(); abs((pane.W/2-s.X)/s.W-0.7) > 0.03 || abs((pane.H/2-s.Y)/s.H-0.8) > 0.03 {
		t.Errorf("after a click on the overview the drawing is at %+v, before at %+v", s, before)
	}
	frame("after a click")
	p.do(input.DispatchMouseEvent(input.MousePressed, m.X+m.W*0.7, m.Y+m.H*0.8).WithButton(input.Left).WithClickCount(1),
		input.DispatchMouseEvent(input.MouseMoved, m.X+m.W*0.4, m.Y+m.H*0.5).WithButton(input.Left),
		input.DispatchMouseEvent(input.MouseReleased, m.X+m.W*0.4, m.Y+m.H*0.5).WithButton(input.Left).WithClickCount(1))
	time.Sleep(200 * time.Millisecond)
	if s := p.extent(); abs((pane.H/2-s.Y)/s.H-0.5) > 0.03 {
		t.Errorf("dragged to the middle, the drawing is at %+v", s)
	}
	frame("dragged")
	before = p.extent()
	p.do(chromedp.Focus(".map"))
	p.press(kb.ArrowDown)
	time.Sleep(200 * time.Millisecond)
	if s := p.extent(); abs(s.Y-before.Y+pane.H/4) > 2 {
		t.Errorf("a key moved the drawing from %+v to %+v", before, s)
	}
	frame("by a key")
	p.choose("#overlay", "grad")
	p.still()
	frame("with an overlay")
	p.picture("overview-grad")
	p.do(chromedp.Click(".minimap summary"))
	if eval[bool](p, `document.querySelector(".map").checkVisibility()`) {
		t.Error("the overview does not close")
	}
	p.do(chromedp.Click(".minimap summary"))
	p.whole()
	p.until("no overview where all of the drawing is seen", `!document.querySelector(".minimap").checkVisibility()`)
}

func abs(v float64) float64 { return max(v, -v) }

// TestOverviewForAll: the overview and the times of a loop are accessible, light and dark, and the overview
// is closed on a phone.
func TestOverviewForAll(t *testing.T) {
	script := axe(t)
	p := open(t, 1440, 900, "rnn-lstm")
	p.still()
	p.do(chromedp.Evaluate(script, nil))
	for _, theme := range []string{"light", "dark"} {
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		p.until(theme, `document.querySelector(".minimap").checkVisibility() && document.documentElement.dataset.theme === "`+theme+`"`)
		p.accessible(theme)
	}
	p.picture("overview-dark")
	phone := open(t, 390, 844, "transformer-gpt")
	phone.still()
	if eval[bool](phone, `document.querySelector(".map").checkVisibility()`) {
		t.Error("the overview is open on a phone")
	}
	phone.do(chromedp.Click(".minimap summary"))
	if wide := eval[string](phone, overflow); wide != "" {
		t.Errorf("open on a phone: %s", wide)
	}
	phone.picture("overview-phone")
}
