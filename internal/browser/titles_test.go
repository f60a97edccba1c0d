package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTitlesDiffer: documents of one model are told apart wherever one is named: by what was asked
// of them, and by their ids where that is the same.
func TestTitlesDiffer(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "--data", "iris")
	p.still()
	tabs := func() []string {
		return eval[[]string](p, `[...document.querySelectorAll("#documents .tab")].map((e) => e.textContent)`)
	}
	if got := tabs(); !slices.Equal(got, []string{"soft k-means"}) {
		t.Errorf("the tab of one document is called %q", got)
	}
	p.do(chromedp.Evaluate(`(async () => {
		const { open } = await import(new URL("assets/api.js", document.baseURI));
		const usual = { model: "kmeans-softmax", dtype: "f32", data: "iris", seed: 1 };
		for (const more of [{ settings: { k: 5 }, rate: 0.02 }, { dtype: "f64", data: "wine" }, { seed: 7 }, {}]) await open({ ...usual, ...more });
		document.documentElement.dataset.opened = "5";
	})()`, nil))
	p.until("five documents", `document.documentElement.dataset.opened === "5"`)
	p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
	p.until("their tabs", `document.querySelectorAll("#documents .tab").length === 5`)
	p.still()
	want := []string{"soft k-means (d1)", "soft k-means (k=5, rate 0.02)", "soft k-means (f64, wine)", "soft k-means (seed 7)", "soft k-means (d5)"}
	if got := tabs(); !slices.Equal(got, want) {
		t.Errorf("the tabs are called %q, want %q", got, want)
	}
	p.do(chromedp.Click(`#documents [data-doc="d1"]`))
	p.still()
	p.do(chromedp.Click("#compare"), chromedp.Click(`#compare-with [data-doc="d2"]`))
	p.still()
	p.do(chromedp.Click(`#compare-with [data-doc="d5"]`))
	p.still()
	p.train(5)
	for where, names := range map[string][]string{
		"#compare-with": {want[1], want[2], want[3], want[4]},
		"#difference":   {want[1], want[4]},
		"#loss-chart":   {"kmeans-softmax (d1)", "kmeans-softmax (k=5, rate 0.02)", "kmeans-softmax (d5)"},
	} {
		said := p.text(where)
		for _, name := range names {
			if !strings.Contains(said, name) {
				t.Errorf("%s does not say %q: %.300q", where, name, said)
			}
		}
	}
	if got := eval[string](p, `[...document.querySelectorAll("#stage text")].map((e) => e.textContent).find((text) => text.startsWith("B · "))`); !strings.HasPrefix(got, "B · "+want[1]) {
		t.Errorf("the second panel is called %q, want %q", got, want[1])
	}
	if title := eval[string](p, `document.title`); !strings.HasPrefix(title, want[0]) {
		t.Errorf("the window is called %q", title)
	}
	p.picture("titles")
	for i, width := range []int{1280, 390} {
		p.do(chromedp.EmulateViewport(int64(width), 844))
		p.still()
		p.picture(fmt.Sprint("titles-", i))
	}
}
