package browser

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLiveReport: the page inside a report opens the models that the report compares, with their
// settings, and trains them; also where the report is a fragment of another page.
func TestLiveReport(t *testing.T) {
	chromium(t)
	engine, err := standing()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"compare", "--live", "--wasm", filepath.Join(engine, "assets", "tapestry.wasm"), "--seeds", "1", "--steps", "20", "--out", filepath.Join(dir, "report.html"), "regression-relu{h=9}", "regression-ridge-features"}
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	host := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(host.Close)
	p := browse(t, 1440, 900, host.URL)
	p.do(chromedp.Navigate(host.URL + "/report.html"))
	p.do(chromedp.Click("#live-open"))
	const inside = `document.querySelector("iframe.live").contentDocument`
	p.until("the page inside", inside+`?.body?.dataset.ready !== undefined && `+inside+`.querySelectorAll("#documents li").length === 2`)
	p.until("the size of the model", inside+`.querySelector("#panes").textContent.includes("h=9")`)
	p.do(chromedp.Evaluate(inside+`.querySelector("#train").click()`, nil))
	p.until("the end of training", inside+`.querySelector("#train").textContent === "Train" && +`+inside+`.querySelector("#step").max > 0`)
	p.do(chromedp.ScrollIntoView("iframe.live"))
	p.picture("live")
	p.do(chromedp.EmulateViewport(390, 844))
	p.do(chromedp.ScrollIntoView("iframe.live"))
	p.picture("live-390")
}
