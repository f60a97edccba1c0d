package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write docs/page.png anew")

// The README's picture of the page: the size of the window, and the width of a README where it is
// usually read.
const (
	pictureWidth, pictureHeight = 1120, 1070
	readmeWidth                 = 880.
)

// leastText has the smallest text in the window, in pixels of a picture that is as wide as a README.
const leastText = `(() => {
	let least = [1e9, ""];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walk.nextNode());) {
		if (!n.data.trim()) continue;
		const e = n.parentElement, range = document.createRange();
		range.selectNodeContents(n);
		const r = range.getBoundingClientRect();
		if (!r.width || r.right < 0 || r.left > innerWidth || r.bottom < 0 || r.top > innerHeight || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
		if (r.width < 2 || r.height < 2) continue;
		const at = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (at && !at.contains(e) && !e.contains(at)) continue;
		const m = e.getScreenCTM && e.getScreenCTM(), px = parseFloat(getComputedStyle(e).fontSize) * (m ? Math.hypot(m.a, m.b) : 1);
		if (e.tagName === "tspan" && e.parentElement.textContent !== n.data) continue; // an index
		if (px < least[0]) least = [px, n.data];
	}
	return least[0] * %v + " px: " + least[1];
})()`

// TestReadmePicture: the page that the README shows, two objectives compared, can be read at the
// width of a README. With -update it takes the picture.
func TestReadmePicture(t *testing.T) {
	p := open(t, pictureWidth, pictureHeight)
	p.do(emulation.SetDeviceMetricsOverride(pictureWidth, pictureHeight, 2, false))
	p.visit(p.at + "/#doc=model=kmeans-softmax;dtype=f32;data=iris;steps=60&doc=model=kmeans-goofy;dtype=f32;data=iris;steps=60&at=0&beside=1&grad=0&camera=447,350,1")
	p.do(chromedp.Evaluate(`document.querySelector("#hint button").click(); for (const e of document.querySelectorAll(".minimap")) e.open = false`, nil))
	p.still()
	var px float64
	said := eval[string](p, fmt.Sprintf(leastText, readmeWidth/pictureWidth))
	if _, err := fmt.Sscan(said, &px); err != nil || px < 9 {
		t.Errorf("the smallest text is of %s", said)
	}
	p.picture("readme")
	if !*update {
		return
	}
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "page.png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}
