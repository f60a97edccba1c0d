package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// word is what a drawing says at a constant size.
type word struct {
	Text       string
	Size       float64 // of the smallest letters, indices aside
	X, Y, W, H float64
}

// words gives the words that lie over the drawing.
func (p *tab) words() []word {
	p.Helper()
	return eval[[]word](p, `[...document.querySelectorAll(".words .word")].map((e) => {
		const r = e.getBoundingClientRect();
		return { Text: e.innerText, Size: Math.min(...[...e.children].map((c) => parseFloat(getComputedStyle(c).fontSize))), X: r.x, Y: r.y, W: r.width, H: r.height };
	})`)
}

// saying is the text of all words that lie over the drawing.
func (p *tab) saying() string {
	var text []string
	for _, w := range p.words() {
		text = append(text, w.Text)
	}
	return strings.Join(text, "\n")
}

// legible fails where words lie over each other, are too small, or say more than they have room for, and
// gives how many words there are and how many texts of the drawing are in view.
func (p *tab) legible(what string) (words, texts int) {
	p.Helper()
	all := p.words()
	for i, a := range all {
		if a.Size < 9 {
			p.Errorf("%s: %q has %.1f px", what, a.Text, a.Size)
		}
		for _, b := range all[:i] {
			if a.X < b.X+b.W-1 && b.X < a.X+a.W-1 && a.Y < b.Y+b.H-1 && b.Y < a.Y+a.H-1 {
				p.Errorf("%s: %q lies over %q", what, a.Text, b.Text)
			}
		}
	}
	if over := eval[string](p, `[...document.querySelectorAll(".words .word")].find((e) => e.scrollWidth > e.clientWidth + 1)?.innerText ?? ""`); over != "" {
		p.Errorf("%s: %q is wider than its place", what, over)
	}
	seen := eval[struct {
		Small string
		Texts int
	}](p, `(() => {
		const items = document.querySelector(".items");
		const k = parseFloat(items.style.width) / items.viewBox.baseVal.width;
		const o = document.querySelector(".pane").getBoundingClientRect();
		const shown = [...items.querySelectorAll("text")].filter((e) => getComputedStyle(e).display !== "none");
		const inside = (e) => { const r = e.getBoundingClientRect(); return r.right > o.left && r.left < o.right && r.bottom > o.top && r.top < o.bottom; };
		return { Small: shown.find((e) => e.getAttribute("font-size") * k < 8.99)?.textContent ?? "", Texts: shown.filter(inside).length };
	})()`)
	if seen.Small != "" {
		p.Errorf("%s: %q of the drawing cannot be read", what, seen.Small)
	}
	return len(all), seen.Texts
}

// whole fits all of the drawing into the window.
func (p *tab) whole() {
	p.Helper()
	for range 2 {
		p.do(chromedp.Evaluate(`document.querySelector("#fit").click()`, nil), chromedp.Sleep(250*time.Millisecond))
		p.still()
	}
}

// TestWordsAtEveryScale looks at a transformer of 12 layers with its gradients, with its blocks drawn
// once and with all modules open: at no scale is it without words that can be read, and at the smallest
// the modules say what they are, in numbers that the server gives.
func TestWordsAtEveryScale(t *testing.T) {
	p := open(t, 1440, 900)
	p.openModel("transformer-gpt", 12)
	p.still()
	p.whole()
	p.until("what the modules hold", `document.querySelector(".words").innerText.includes("of ∂")`)
	if words, _ := p.legible("folded"); words < 15 {
		t.Errorf("folded: %d words: %q", words, p.saying())
	}
	p.picture("zoom-folded")
	p.do(chromedp.Evaluate(`document.querySelector("#open-all").click()`, nil), chromedp.Sleep(300*time.Millisecond))
	p.until("all modules", `!document.querySelector("#panes[aria-busy]")`)
	p.still()
	p.whole()
	p.until("what the modules hold", `document.querySelector(".words").innerText.includes("%")`)
	if words, _ := p.legible("open"); words < 20 {
		t.Errorf("open: %d words: %q", words, p.saying())
	}
	p.picture("zoom-open")
	known := ask[struct {
		Modules map[string]struct {
			Params int
			Share  float64
		}
	}](p, "/api/docs/d1/words?grad=1&open=*").Modules
	said := p.saying()
	for i := range 12 {
		m := known[fmt.Sprintf("decoder/block%d", i+1)]
		if want := fmt.Sprintf("block%d\n", i+1); !strings.Contains(said, want) {
			t.Errorf("nothing says %q: %q", want, said)
		}
		if want := fmt.Sprintf("%.*f %%", map[bool]int{true: 1}[m.Share < 0.0995], 100*m.Share); !strings.Contains(said, want) {
			t.Errorf("nothing says that block %d has %s of the gradient: %q", i+1, want, said)
		}
		if want := fmt.Sprintf("%d parameters", m.Params); !strings.Contains(said, want) {
			t.Errorf("nothing says %q: %q", want, said)
		}
	}
	p.frames()
	p.do(chromedp.Focus("#panes .pane"))
	p.press(kb.Home) // scaling holds what is selected in view
	p.whole()
	for i := 0; ; i++ {
		p.do(chromedp.Evaluate(`document.querySelector("#zoom-in").click()`, nil), chromedp.Sleep(220*time.Millisecond))
		scale := p.text("#scale")
		words, texts := p.legible(scale)
		if words+texts < 4 {
			t.Errorf("%s: %d words and %d texts", scale, words, texts)
		}
		if i%5 == 0 {
			p.picture("zoom-" + strings.Trim(scale, " %"))
		}
		if scale == "400 %" {
			break
		}
	}
}

// frames scales the drawing from its whole up and down again by the wheel and logs the frames.
func (p *tab) frames() {
	p.Helper()
	f := eval[struct{ N, Mean, Fast, Worst, Late float64 }](p, `new Promise((done) => {
		const pane = document.querySelector(".pane"), r = pane.getBoundingClientRect();
		const at = []; let n = 0;
		const tick = (now) => {
			at.push(now);
			if (++n > 180) {
				const d = at.slice(1).map((t, i) => t - at[i]);
				done({ N: d.length, Fast: [...d].sort((a, b) => a - b)[d.length / 10 | 0], Mean: d.reduce((a, b) => a + b) / d.length, Worst: Math.max(...d), Late: d.filter((x) => x > 25).length });
				return;
			}
			const way = n % 90 < 45 ? -1 : 1;
			pane.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: 14 * way, clientX: r.x + r.width / 2.4, clientY: r.y + r.height / 2, bubbles: true, cancelable: true }));
			requestAnimationFrame(tick);
		};
		requestAnimationFrame(tick);
	})`)
	p.Logf("scaling: %.0f frames of %.1f ms on average, %.0f of them late, the longest %.0f ms", f.N, f.Mean, f.Late, f.Worst)
	if f.Fast > 50 { // of a busy machine most frames are late
		p.Errorf("9 of 10 frames take more than %.0f ms", f.Fast)
	}
}

// TestTapeWhereThereIsRoom: at the largest scale boxes say which instructions compute them, and how long
// these take once that was measured.
func TestTapeWhereThereIsRoom(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.clickNode("α", 1)
	p.settle("α")
	if n := len(p.words()); n != 0 {
		t.Errorf("at reading size there are %d words: %q", n, p.saying())
	}
	for range 6 {
		p.do(chromedp.Evaluate(`document.querySelector("#zoom-in").click()`, nil), chromedp.Sleep(200*time.Millisecond))
	}
	p.until("instructions", `document.querySelector(".words .word")`)
	p.legible("large")
	p.picture("zoom-tape")
	type listing struct {
		Listing []struct {
			I    int
			Op   string
			Node *string
			Time *float64
		}
	}
	node := eval[string](p, `(() => { const k = location.hash.match(/node=(\w+)/); return k ? k[1] : ""; })()`)
	shown := func() (found bool) {
		for _, row := range ask[listing](p, "/api/docs/d1/tape").Listing {
			if row.Node != nil && *row.Node == node {
				want := fmt.Sprintf("%d %s", row.I, row.Op)
				if row.Time != nil {
					want += " · "
				}
				found = true
				if !strings.Contains(p.saying(), want) {
					t.Errorf("%s is computed by %q, but the words are %q", node, want, p.saying())
				}
			}
		}
		return found
	}
	if !shown() {
		t.Errorf("no instruction computes %q", node)
	}
	p.choose("#overlay", "time")
	p.until("times", `/ [nµm]?s/.test(document.querySelector(".words").innerText)`)
	shown()
}

// TestSharesFollowTheStep: what the modules say of the gradient is of the step that is shown.
func TestSharesFollowTheStep(t *testing.T) {
	p := open(t, 1440, 900, "rnn-lstm")
	p.still()
	p.train(30)
	p.do(chromedp.Evaluate(`document.querySelector("#zoom-out").click()`, nil), chromedp.Sleep(200*time.Millisecond))
	for range 6 {
		p.do(chromedp.Evaluate(`document.querySelector("#zoom-out").click()`, nil), chromedp.Sleep(200*time.Millisecond))
	}
	share := func(step int) string {
		m := ask[struct {
			Modules map[string]struct{ Share float64 }
		}](p, fmt.Sprintf("/api/docs/d1/words?grad=1&step=%d", step)).Modules["output"]
		return fmt.Sprintf("%.*f %%", map[bool]int{true: 1}[m.Share < 0.0995], 100*m.Share)
	}
	for _, step := range []int{30, 2} {
		p.slide(step)
		p.until("the share of the output", fmt.Sprintf(`document.querySelector(".words").innerText.includes(%q)`, share(step)))
	}
	if a, b := share(30), share(2); a == b {
		t.Errorf("steps 2 and 30 are told apart by nothing: %s", a)
	}
	p.picture("zoom-lstm")
}
