package browser

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// sheet is what of /sheet the tests look at.
type sheet struct {
	Summary  string
	Sentence string
	Items    []struct {
		Kind, ID, Node, SVG string
		Panel               int
	}
}

func (s *sheet) count(kind string, panel int) (n int) {
	for _, it := range s.Items {
		if it.Kind == kind && (panel == 0 || it.Panel == panel) {
			n++
		}
	}
	return n
}

// node finds the node whose title begins so.
func (s *sheet) node(t testing.TB, title string) string {
	t.Helper()
	for _, it := range s.Items {
		if it.Kind == "node" && strings.Contains(it.SVG, `aria-label="`+title) {
			return it.Node
		}
	}
	t.Fatalf("no node is titled %q", title)
	return ""
}

// values are those of a node of rank 1 or 2 at a step, all of them, as the server tells.
func (p *tab) values(doc, node string, step int) [][]float64 {
	p.Helper()
	answer := ask[struct {
		Axes  []struct{ Size int }
		Cells [][]string
	}](p, fmt.Sprintf("/api/docs/%s/node/%s/values?step=%d&rows=200&cols=50", doc, node, step))
	var out [][]float64
	for _, row := range answer.Cells {
		out = append(out, nil)
		for _, c := range row {
			v, err := strconv.ParseFloat(strings.ReplaceAll(c, "−", "-"), 64)
			if err != nil {
				p.Fatal(err)
			}
			out[len(out)-1] = append(out[len(out)-1], v)
		}
	}
	return out
}

// distances are ‖x_i − r_j‖², computed here.
func distances(x, r [][]float64) [][]float64 {
	var out [][]float64
	for _, a := range x {
		row := make([]float64, len(r))
		for j, b := range r {
			for d := range a {
				row[j] += (a[d] - b[d]) * (a[d] - b[d])
			}
		}
		out = append(out, row)
	}
	return out
}

// shows compares the table of the page with numbers.
func (p *tab) shows(want [][]float64) {
	p.Helper()
	for i, row := range p.cells() {
		for j, cell := range row {
			got, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				p.Fatal(err)
			}
			if math.Abs(got-want[i][j]) > 2e-4*math.Max(1, math.Abs(want[i][j])) {
				p.Fatalf("row %d, column %d of the table is %v, want %v", i, j, got, want[i][j])
			}
		}
	}
}

type history struct {
	Steps int
	Loss  []float64
}

// TestReadsNodeAndItsValues clicks the distances of soft k-means: what the panel says
// of them is what x and r give by hand, at the present step and at one before.
func TestReadsNodeAndItsValues(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	doc := ask[[]struct{ ID string }](p, "/api/docs")[0].ID
	s := ask[sheet](p, "/api/docs/"+doc+"/sheet?level=notes&grad=1")
	if got := eval[int](p, `document.querySelectorAll(".items g.node").length`); got != s.count("node", 0) {
		t.Errorf("%d nodes are drawn, want %d", got, s.count("node", 0))
	}
	p.clickNode("D", 1)
	p.settle("D")
	contains(p, "the kind", p.text("#node-panel .kind"), "sum over axes")
	contains(p, "the shape", p.text(`#node-panel [data-fact="shape"]`), "i", "j")
	if n := eval[int](p, `document.querySelectorAll("#node-panel .formula math").length`); n != 2 {
		t.Errorf("%d formulas, want the value's and the derivative's", n)
	}
	if n := eval[int](p, `document.querySelectorAll(".marks .selected").length`); n != 1 {
		t.Errorf("%d nodes are marked as selected", n)
	}
	if n := eval[int](p, `document.querySelectorAll(".marks .twin").length`); n != 1 {
		t.Errorf("%d nodes are marked as the gradient", n)
	}
	x, r := s.node(t, "x"), s.node(t, "r")
	p.shows(distances(p.values(doc, x, 0), p.values(doc, r, 0)))
	before := p.cells()
	p.picture("node")

	// Under the pointer a gradient shows the value that it belongs to.
	g := p.box("∂loss/∂α", 1)
	p.do(chromedp.MouseEvent(input.MouseMoved, g.X+g.W/2, g.Y+g.H/2))
	p.until("two pairs", `document.querySelectorAll(".marks .hovered").length === 1 && document.querySelectorAll(".marks .twin").length === 2`)

	// The time of a node is measured when it is asked for.
	p.do(chromedp.Click("#node-panel [data-measure]"))
	p.until("a time", `/\d+ (ns|µs|ms)/.test(document.querySelector('#node-panel [data-fact="time"]')?.textContent)`)
	p.choose("#overlay", "none")
	p.still()

	p.train(40)
	p.slide(7)
	time.Sleep(400 * time.Millisecond)
	p.settle("D")
	p.shows(distances(p.values(doc, x, 7), p.values(doc, r, 7)))
	if fmt.Sprint(before) == fmt.Sprint(p.cells()) {
		t.Error("seven steps of training changed no distance")
	}

	p.do(chromedp.Click(`#node-panel [data-control="rows+"]`))
	p.until("the second page", `document.querySelector("#node-panel .values tbody th").textContent === "12"`)
	if got := p.cells(); len(got) == 0 {
		t.Error("the second page is empty")
	}
}

// TestTrainsAndScrubs trains, goes back, and finds curve, scatter and drawing there.
func TestTrainsAndScrubs(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.choose("#overlay", "grad")
	p.still()
	p.train(60)
	h := ask[history](p, "/api/docs/"+ask[[]struct{ ID string }](p, "/api/docs")[0].ID+"/history")
	if h.Steps != 60 || len(h.Loss) < 60 {
		t.Fatalf("the history has %d steps, %d losses", h.Steps, len(h.Loss))
	}
	badges := func() string {
		return eval[string](p, `[...document.querySelectorAll(".items g.node")].map((e) => e.textContent).join()`)
	}
	for _, step := range []int{60, 3} {
		p.slide(step)
		p.until("the scatter", fmt.Sprintf(`document.querySelector("#scatter-chart").textContent.includes("step %d")`, step))
		p.until("the curve", `document.querySelector("#loss-chart svg.chart")`)
	}
	shown := p.text("#step-shown")
	contains(p, "the loss", strings.ReplaceAll(shown, " ", " "), "step 3 of 60", strconv.FormatFloat(h.Loss[3], 'g', 5, 64))
	p.still()
	time.Sleep(300 * time.Millisecond)
	early := badges()
	p.slide(60)
	p.until("other marks of the drawing", fmt.Sprintf(`[...document.querySelectorAll(".items g.node")].map((e) => e.textContent).join() !== %q`, early))
	p.picture("trained")

	p.slide(0)
	p.do(chromedp.Click("#play"))
	p.until("playing to the end", `document.querySelector("#step-shown").textContent.startsWith("step 60 of")`)
}

// TestComparesTwoObjectives opens the two k-means objectives beside each other.
func TestComparesTwoObjectives(t *testing.T) {
	p := open(t, 1440, 900)
	p.do(chromedp.Click("#starts button:nth-child(1)"))
	p.until("the comparison", `document.querySelector("#difference .summary")`)
	p.still()
	s := ask[sheet](p, "/api/compare?a=d1&b=d2&level=notes&grad=1")
	if got := p.text("#difference .summary"); got == "" || got != s.Sentence {
		t.Errorf("the summary is %q, want %q", got, s.Sentence)
	}
	if eval[int](p, `document.querySelectorAll("#difference math").length`) != 1 {
		t.Error("the difference is not said as mathematics")
	}
	if got, want := eval[int](p, `document.querySelectorAll(".items g.node").length`), s.count("node", 1)+s.count("node", 2); got != want {
		t.Errorf("%d nodes in both panels, want %d", got, want)
	}
	a, b := p.box("α", 1), p.box("α", 2)
	if math.Abs(a.Y-b.Y) > 0.5 || b.X <= a.X {
		t.Errorf("α stands at %v and %v", a, b)
	}
	p.clickNode("α", 2)
	p.settle("α")
	contains(p, "the document of the node", p.text("#node-panel .among"), "goofy alternative", "see in soft k-means")
	p.do(chromedp.Click("#node-panel .among button"))
	p.until("the same in the other", `document.querySelector("#node-panel .among b").textContent === "soft k-means"`)
	p.picture("compare")

	p.train(20)
	for _, doc := range []string{"d1", "d2"} {
		if h := ask[history](p, "/api/docs/"+doc+"/history"); h.Steps != 20 {
			t.Errorf("%s has %d steps, want 20", doc, h.Steps)
		}
	}
	p.until("two scatters", `document.querySelectorAll("#scatter-chart svg.chart").length === 2`)

	p.do(chromedp.Evaluate(`document.querySelector("#align").click()`, nil))
	p.until("two panes", `document.querySelectorAll("#panes .pane").length === 2`)
	p.still()
	cameras := func() [2]string {
		return eval[[2]string](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done([...document.querySelectorAll(".layer")].map((l) => l.style.transform)))))`)
	}
	before := cameras()
	p.do(chromedp.Focus("#panes .pane:last-child"), chromedp.KeyEvent("+"))
	time.Sleep(300 * time.Millisecond)
	if after := cameras(); after == before || after[0] != after[1] {
		t.Errorf("the panes were at %v and are at %v", before, after)
	}
	p.picture("beside")
}

// TestStepsTheTape walks the listing forwards and backwards.
func TestStepsTheTape(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.do(chromedp.Click("#tab-tape"))
	p.until("the listing", `document.querySelector(".listing .line")`)
	tape := ask[struct {
		Listing []struct {
			Op, Result, Node string
		}
	}](p, "/api/docs/d1/tape?step=0")
	n := len(tape.Listing)
	for range 6 {
		p.do(chromedp.Click(`.walk button[aria-label="Step forward"]`))
	}
	p.do(chromedp.Click(`.walk button[aria-label="Step back"]`))
	if got, want := p.text(".walk output"), fmt.Sprintf("6 of %d", n); got != want {
		t.Errorf("the tape is at %q, want %q", got, want)
	}
	p.until("the present line", `document.querySelector('.line[aria-selected="true"]').dataset.i === "5"`)
	p.until("the instruction", `document.querySelector(".present h3")?.textContent === "Instruction 5"`)
	present := ask[struct {
		Result struct{ Cells [][]any }
	}](p, "/api/docs/d1/instruction/5?step=0")
	got := eval[string](p, `document.querySelector(".present details td").textContent.replaceAll("−", "-")`)
	if want := fmt.Sprint(present.Result.Cells[0][0]); got != want {
		t.Errorf("the first value of the result is %q, want %q", got, want)
	}
	p.do(chromedp.Click(`.walk button[aria-label="Last instruction"]`))
	if got, want := p.text(".walk output"), fmt.Sprintf("%d of %d", n, n); got != want {
		t.Errorf("the tape is at %q, want %q", got, want)
	}
	p.picture("tape")
}

// TestOpensModules opens and closes a module of a large model; its title stays where
// the pointer is.
func TestOpensModules(t *testing.T) {
	p := open(t, 1440, 900)
	p.do(chromedp.Click("#starts button:nth-child(3)"))
	p.still()
	title := func() place {
		return eval[place](p, `(() => {
			const r = [...document.querySelectorAll(".items text")].find((e) => e.textContent === "decoder").getBoundingClientRect();
			return {X: r.x, Y: r.y, W: r.width, H: r.height};
		})()`)
	}
	near := func(a, b place) {
		t.Helper()
		if math.Abs(a.X-b.X) > 80 || math.Abs(a.Y-b.Y) > 40 {
			t.Errorf("the module was at %v and is at %v", a, b)
		}
	}
	opened := func(yes bool) {
		t.Helper()
		p.until("the list of modules", fmt.Sprintf(`document.querySelector('#outline [data-path="decoder"]')?.getAttribute("aria-expanded") === "%v" && !document.querySelector("#panes[aria-busy]")`, yes))
		time.Sleep(400 * time.Millisecond) // boxes glide to their places
	}
	twice := func(b place) {
		p.do(chromedp.MouseClickXY(b.X+b.W/2, b.Y+b.H/2, chromedp.ClickCount(2)))
	}
	opened(true)
	// The page begins at the loss; the title is at the other end.
	p.do(chromedp.Focus("#panes .pane"))
	p.press(kb.Home)
	p.still() // a key ends the way to the first box
	for _, way := range []struct{ key, seen string }{{kb.ArrowDown, "r.top > h.top && r.bottom < h.bottom"}, {kb.ArrowLeft, "r.left > h.left && r.right < h.right"}} {
		for range 60 {
			if eval[bool](p, `(() => {
				const h = document.querySelector("#panes").getBoundingClientRect();
				const r = [...document.querySelectorAll(".items text")].find((e) => e.textContent === "decoder")?.getBoundingClientRect();
				return Boolean(r) && `+way.seen+`;
			})()`) {
				break
			}
			p.press(way.key)
			time.Sleep(30 * time.Millisecond)
		}
	}
	time.Sleep(300 * time.Millisecond)
	p.picture("transformer-open")
	open := title()
	twice(open)
	opened(false)
	p.picture("transformer-closed")
	closed := p.box("scope decoder, closed", 1)
	near(open, closed)
	twice(closed)
	opened(true)
	near(closed, title())
}

// TestDownloadsTheDrawing saves the drawing as a file that is SVG, with every node.
func TestDownloadsTheDrawing(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	dir := t.TempDir()
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir),
		chromedp.Click("#download"), chromedp.WaitVisible(`#downloads [data-kind="svg"]`))
	links := eval[map[string]string](p, `Object.fromEntries([...document.querySelectorAll("#downloads a")].map((a) => [a.dataset.kind, a.href]))`)
	for kind, href := range links {
		u, err := url.Parse(href)
		if err != nil || u.Scheme+"://"+u.Host != p.at || !strings.Contains(u.Path, "/download/"+kind) {
			t.Errorf("%s is at %s", kind, href)
		}
	}
	for _, kind := range []string{"svg", "dot", "latex", "listing", "report", "tapestry"} {
		if links[kind] == "" {
			t.Errorf("%s is not offered", kind)
		}
	}
	p.do(chromedp.Click(`#downloads [data-kind="svg"]`))
	var file string
	for deadline := time.Now().Add(10 * time.Second); file == ""; time.Sleep(50 * time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(dir, "*.svg"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 {
			file = found[0]
		} else if time.Now().After(deadline) {
			t.Fatal("no file was saved")
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nodes, in := 0, xml.NewDecoder(f)
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if a.Name.Local == "class" && strings.HasPrefix(a.Value, "node ") {
					nodes++
				}
			}
		}
	}
	if drawn := eval[int](p, `document.querySelectorAll(".items g.node").length`); nodes != drawn {
		t.Errorf("the file has %d nodes, the page %d", nodes, drawn)
	}
}
