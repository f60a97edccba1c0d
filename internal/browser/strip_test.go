package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// fed returns what a document is fed for a scalar, from state to state.
func (p *tab) fed(doc, scalar string) []float64 {
	p.Helper()
	for _, f := range ask[struct {
		Fed []struct {
			Name   string
			Values []float64
		}
	}](p, "/api/docs/"+doc+"/history").Fed {
		if f.Name == scalar {
			return f.Values
		}
	}
	p.Fatalf("%s is fed no %s", doc, scalar)
	return nil
}

// TestStrip: pictures of the training from the first to the last step stand above the slider, one is
// marked where γ passes 1, and a click goes there.
func TestStrip(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	p.do(chromedp.SetValue("#steps", "120"), chromedp.Click("#train"))
	p.trained(120)
	p.until("the pictures", `document.querySelectorAll("#strip .frame").length > 8`)
	p.until("all of them", `[...document.querySelectorAll("#strip .frame canvas")].every((c) => +c.dataset.boxes > 4)`)
	steps := eval[[]int](p, `[...document.querySelectorAll("#strip .frame")].map((f) => +f.dataset.step)`)
	if steps[0] != 0 || steps[len(steps)-1] != 120 {
		t.Errorf("the pictures are of the steps %v", steps)
	}
	fed := p.fed("d1", "γ")
	passes := 0
	for passes = 1; fed[passes] < 1; passes++ {
	}
	mark := eval[string](p, `[...document.querySelectorAll("#strip .events .link")].map((m) => m.textContent).join("; ")`)
	if want := "γ passes 1"; !strings.Contains(mark, want) {
		t.Errorf("the marks are %q, want %q", mark, want)
	}
	p.do(chromedp.Evaluate(`[...document.querySelectorAll("#strip .events .link")].find((f) => f.textContent.includes("γ passes 1")).click()`, nil))
	p.until("the step", `document.querySelector("#step").value !== "120"`)
	if got := eval[int](p, `+document.querySelector("#step").value`); got != passes {
		t.Errorf("the mark leads to step %d, and γ passes 1 at %d", got, passes)
	}
	p.picture("strip")
}
