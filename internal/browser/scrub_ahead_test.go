package browser

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// walk are steps one after another.
func walk(from, n int) (to []int) {
	for k := range n {
		to = append(to, from+k)
	}
	return to
}

// TestScrubEach: of 2000 steps gone through one after another, each is painted within 100 ms; in
// the short tier a part of them, at the beginning of which the rate and γ are others at each.
func TestScrubEach(t *testing.T) {
	for _, models := range [][]string{{"kmeans-softmax"}, {"kmeans-softmax", "kmeans-goofy"}} {
		t.Run(fmt.Sprint(len(models)), func(t *testing.T) {
			p := scrubbable(t, models...)
			to := append(walk(1, 40), walk(1000, 60)...)
			if os.Getenv("TAPESTRY_LONG") == "1" {
				to = walk(0, 2000)
			}
			took, limit := p.paintedWithin(to, 2000, 100)
			for i, ms := range took {
				if ms >= limit {
					t.Errorf("step %d takes %.0f ms", to[i], ms)
				}
			}
		})
	}
}

// countFrames counts the frames that are asked for at once and ahead from now on.
func (p *tab) countFrames() (atOnce, ahead func() int) {
	p.do(chromedp.Evaluate(`(() => {
		const ask = window.fetch;
		window.frames = { atOnce: 0, ahead: 0 };
		window.fetch = (...question) => {
			if (/frame$/.test(question[0])) window.frames.atOnce++;
			if (/frame\?ahead$/.test(question[0])) window.frames.ahead++;
			return ask(...question);
		};
	})()`, nil))
	count := func(which string) func() int { return func() int { return eval[int](p, "window.frames."+which) } }
	return count("atOnce"), count("ahead")
}

// TestScrubAhead: a reader who goes from step to step waits for none but the first: the one that
// comes next is asked for ahead, and the last ones are kept. What is shown is of that step, and
// after more training nothing is shown that was kept before.
func TestScrubAhead(t *testing.T) {
	p := scrubbable(t, "kmeans-softmax")
	atOnce, ahead := p.countFrames()
	drawn := ask[sheet](p, "/api/docs/d1/sheet?level=notes&grad=1")
	α := drawn.node(t, "α")
	shows := func(step int) {
		t.Helper()
		drawn, own := chartTexts(p, step)
		if !slices.Equal(drawn, own) {
			t.Errorf("at step %d the chart says %q, want %q", step, drawn, own)
		}
		values := ask[struct{ Cells [][]string }](p, fmt.Sprintf("/api/docs/d1/node/%s/values?rows=12&cols=6&step=%d", α, step))
		got := eval[[]string](p, `[...document.querySelectorAll("#node-panel .values tbody td .cell")].map((c) => c.textContent.replaceAll("−", "-"))`)
		if want := slices.Concat(values.Cells...); !slices.Equal(got, want) {
			t.Errorf("at step %d the values %v are shown, want %v", step, got, want)
		}
	}
	waits := func(to []int, most int) {
		t.Helper()
		before := atOnce()
		p.scrubbed(to)
		if n := atOnce() - before; n != most {
			t.Errorf("%v: %d steps are waited for, want %d", to, n, most)
		}
		shows(to[len(to)-1])
	}
	waits([]int{500, 501}, 2)
	if ahead() != 1 {
		t.Errorf("after one step further %d are asked for ahead, want 1", ahead())
	}
	waits([]int{502, 503, 504}, 0)
	waits([]int{503, 502}, 0)
	waits([]int{501, 500, 499}, 0)
	before := ahead()
	waits([]int{1000, 300}, 2)
	if n := ahead() - before; n != 0 {
		t.Errorf("%d frames are asked for ahead where nothing says which", n)
	}
	waits([]int{310, 320}, 2)
	waits([]int{330, 340}, 0) // as far apart as the last two
	p.train(2000)
	p.scrub(340)
	before = atOnce()
	p.scrubbed([]int{350})
	if atOnce() != before+1 {
		t.Errorf("after more training %d frames are asked for, want 1", atOnce()-before)
	}
	shows(350)
}

// chartTexts are the texts of the chart of the loss, as it is shown and as the server draws it at a
// step.
func chartTexts(p *tab, step int) (shown, own []string) {
	p.Helper()
	both := eval[[2][]string](p, fmt.Sprintf(`(async () => {
		const own = new DOMParser().parseFromString(await (await fetch("api/docs/d1/chart?kind=loss&step=%d")).text(), "text/html");
		return [document.querySelector("#loss-chart svg"), own.querySelector("svg")].map((svg) => [...svg.querySelectorAll("text")].map((t) => t.textContent));
	})()`, step))
	return both[0], both[1]
}
