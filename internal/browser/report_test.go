package browser

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// quick makes a comparison of clusterings short.
var quick = []string{"--seeds", "2", "--steps", "60", "--restarts", "3"}

// compared writes the report of a comparison into a folder, which a host of files serves.
func compared(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	chromium(t)
	args = append(append([]string{"compare"}, args...), "--out", filepath.Join(dir, name))
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// report opens the report of a comparison in a window.
func report(t *testing.T, width, height int64, args ...string) *tab {
	t.Helper()
	dir := t.TempDir()
	compared(t, dir, "report.html", args...)
	host := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(host.Close)
	p := browse(t, width, height, host.URL)
	p.do(chromedp.Navigate(host.URL+"/report.html"), chromedp.WaitReady("#verdict"))
	return p
}

// firstScreen has what of the verdict is not whole in the window.
const firstScreen = `(() => {
	const missing = [], bottom = Math.min(innerHeight, ...[...document.querySelectorAll(".cursor.whole")].map((e) => e.getBoundingClientRect().top));
	const see = (e, what) => {
		const r = e && e.getBoundingClientRect();
		if (!r || !r.width || r.top < 0 || r.left < 0 || r.right > innerWidth || r.bottom > bottom) missing.push(what + (r ? " ends at " + Math.round(r.bottom) + " of " + Math.round(bottom) : ""));
	};
	for (const p of document.querySelectorAll("#verdict > p")) see(p, p.textContent.slice(0, 40));
	for (const m of document.querySelectorAll("#verdict .identity math > *")) see(m, "identity " + m.textContent);
	const pictures = document.querySelectorAll("#verdict svg.chart");
	for (const e of pictures) see(e, "picture");
	return [missing.join("\n"), pictures.length, document.querySelectorAll("#verdict .identity math").length].join("|");
})()`

// reportClipped is clipped without what of a report is to be scrolled.
var reportClipped = strings.Replace(clipped, `".wide,`, `".view, nav ol, .wide,`, 1)

// TestReportFirstScreen: verdict, identity and end pictures are on the first screen of a desk, and
// the identity is whole on a phone, too. In every window, light and dark, nothing is clipped,
// nothing is wider than the window, and axe-core finds nothing in a report of each kind.
func TestReportFirstScreen(t *testing.T) {
	script := ""
	if os.Getenv("TAPESTRY_AXE") != "" {
		script = axe(t)
	}
	for _, c := range []struct {
		name     string
		args     []string
		pictures int
		identity int
	}{
		{"default", quick, 2, 1},
		{"wine", []string{"--data", "wine", "--standardise", "--seeds", "1", "--steps", "20", "--restarts", "1"}, 2, 1},
		{"others", []string{"norm-layer", "norm-rms", "--seeds", "2", "--steps", "20"}, 1, 0},
		{"matrix", []string{"kmeans-softmax", "kmeans-goofy", "--seeds", "2", "--steps", "20", "--rates", "0.01,0.1"}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := report(t, 1440, 900, c.args...)
			looked := script != "" && (c.name == "default" || c.name == "others") // axe-core takes seconds
			if looked {
				p.do(chromedp.Evaluate(script, nil))
			}
			for _, size := range [][2]int64{{1440, 900}, {1280, 720}} {
				p.do(emulation.SetDeviceMetricsOverride(size[0], size[1], 1, false))
				if got, want := eval[string](p, firstScreen), fmt.Sprintf("|%d|%d", c.pictures, c.identity); got != want {
					t.Errorf("%d × %d: %s, want %s", size[0], size[1], got, want)
				}
				p.picture(fmt.Sprintf("report-%s-%d", c.name, size[0]))
			}
			p.do(emulation.SetDeviceMetricsOverride(390, 844, 1, true))
			if cut := eval[string](p, `[...document.querySelectorAll("#verdict .formula")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.scrollWidth + " in " + e.clientWidth).join()`); cut != "" {
				t.Errorf("on a phone the identity is clipped: %s", cut)
			}
			p.picture(fmt.Sprintf("report-%s-390", c.name))
			p.do(chromedp.Evaluate(`document.querySelectorAll("details").forEach((e) => { e.open = true; })`, nil))
			for _, w := range []struct {
				width, height int64
				theme         string
			}{{1440, 900, "light"}, {844, 390, "light"}, {390, 844, "light"}, {1280, 720, "dark"}} {
				p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.theme}}),
					emulation.SetDeviceMetricsOverride(w.width, w.height, 1, w.width < 1000), chromedp.Evaluate(`dispatchEvent(new Event("resize"))`, nil))
				state := fmt.Sprintf("%d × %d, %s", w.width, w.height, w.theme)
				if wide := eval[string](p, reportClipped); wide != "" {
					t.Errorf("%s:\n%s", state, wide)
				}
				if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > int(w.width) {
					t.Errorf("%s: the page is %d wide", state, wide)
				}
				if looked && (w.width == 390 || w.width == 1280) {
					p.accessible(state)
				}
			}
			p.picture("report-dark-" + c.name)
		})
	}
}

// moved is what the charts of a cursor say and show at a stop.
type moved struct {
	Said   []string
	Marks  [][2]float64 // of the first end picture
	Rings  [][2]float64 // where the ways of its centres begin
	Spokes int
	Rules  int // charts with a rule
}

const look = `(() => {
	const middle = (e) => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
	const svg = document.querySelector("#verdict svg.chart"), all = [...svg.children];
	const n = JSON.parse(document.querySelector("#cursors").textContent)[0].Charts[0].Marks.length;
	return {
		Said: [...document.querySelectorAll(".readout")].map((e) => e.textContent).filter((s) => s.startsWith("step ")),
		Marks: all.slice(-n).map(middle),
		Rings: all.slice(-3 * n, -n).filter((e) => e.tagName === "path").map(middle),
		Spokes: (svg.querySelector(".spokes").getAttribute("d").match(/M/g) || []).length,
		Rules: [...document.querySelectorAll(".track")].filter((e) => getComputedStyle(e).display !== "none").length,
	};
})()`

// TestReportCursor: one slider moves every chart of the steps and the centres with their points;
// what is said at a stop is what was recorded there, and the pointer over a curve moves all, too.
func TestReportCursor(t *testing.T) {
	p := report(t, 1280, 720, quick...)
	at := func(selector string, i int) moved {
		p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %d; e.dispatchEvent(new Event("input")); })()`, selector, i), nil))
		return eval[moved](p, look)
	}
	end := eval[moved](p, look)
	if end.Rules != 0 || len(end.Marks) != 3 || end.Spokes != 150 {
		t.Errorf("at first: %d rules, %d marks, %d points", end.Rules, len(end.Marks), end.Spokes)
	}
	begin := at("#cursor-1", 0)
	for k := range begin.Marks {
		if d := math.Hypot(begin.Marks[k][0]-begin.Rings[k][0], begin.Marks[k][1]-begin.Rings[k][1]); d > 0.5 {
			t.Errorf("at step 0, centre %d is %.1f px from where its way begins", k, d)
		}
	}
	if begin.Spokes != 150 || begin.Rules == 0 {
		t.Errorf("at step 0: %d points, %d rules", begin.Spokes, begin.Rules)
	}
	for _, stop := range []int{1, 17, 42} {
		now := at("#cursor-1", stop)
		step := eval[float64](p, fmt.Sprintf(`JSON.parse(document.querySelector("#cursors").textContent)[0].Stops[%d]`, stop))
		for _, s := range now.Said {
			if !strings.HasPrefix(s, fmt.Sprintf("step %v: ", step)) {
				t.Errorf("at stop %d: %s", stop, s)
			}
		}
		want := eval[[]string](p, fmt.Sprintf(`(() => {
			const page = JSON.parse(document.querySelector("#data").textContent);
			return page.Variants.map((m) => {
				const best = m.Runs.reduce((a, b) => b.Inertia.Value.at(-1) < a.Inertia.Value.at(-1) ? b : a);
				return String(Number(best.Inertia.Value[best.Inertia.Step.indexOf(%v)].toPrecision(4)));
			});
		})()`, step))
		for v, s := range now.Said[:2] {
			if !strings.Contains(s, "inertia "+want[v]+"; ") {
				t.Errorf("at step %v: %s, want an inertia of %s", step, s, want[v])
			}
		}
	}
	p.do(chromedp.Focus("#cursor-1"))
	p.press(kb.Home, kb.ArrowRight)
	if got := eval[moved](p, look); !strings.HasPrefix(got.Said[0], "step 1: ") {
		t.Errorf("Home and →: %s", got.Said[0])
	}
	chart := `document.querySelector("#chart-inertia-title").closest("svg")`
	p.do(chromedp.Evaluate(chart+`.scrollIntoView({block: "center", behavior: "instant"})`, nil))
	box := eval[place](p, `(({x, y, width, height}) => ({X: x, Y: y, W: width, H: height}))(`+chart+`.getBoundingClientRect())`)
	p.do(chromedp.MouseEvent(input.MouseMoved, box.X+box.W/3, box.Y+box.H/2))
	got := eval[moved](p, look)
	if strings.HasPrefix(got.Said[0], "step 1: ") || strings.HasPrefix(got.Said[0], "step 60: ") {
		t.Errorf("the pointer over a curve: %s", got.Said[0])
	}
	p.picture("report-hover")
	p.do(chromedp.Evaluate(`scrollTo({top: 0, behavior: "instant"})`, nil))
	p.picture("report-moved")

	// The slider of γ shows the trainings at other values, and says which.
	said := func() []string {
		return eval[[]string](p, `[...document.querySelectorAll("#sweeps .readout")].map((e) => e.textContent).filter((s) => s.startsWith("γ "))`)
	}
	before := said()
	p.do(chromedp.Evaluate(`document.querySelector("#cursor-2").scrollIntoView({behavior: "instant"})`, nil))
	at("#cursor-2", 0)
	p.picture("report-gamma")
	marks := eval[[]string](p, `[...document.querySelectorAll("[data-cursor=cursor-2] .ticks li")].map((e) => e.textContent)`)
	for i, mark := range marks {
		at("#cursor-2", i)
		if got := said()[0]; !strings.HasPrefix(got, "γ "+mark+": ") {
			t.Errorf("at the mark %s: %s", mark, got)
		}
	}
	if stops := eval[int](p, `Number(document.querySelector("#cursor-2").max) + 1`); len(marks) != stops {
		t.Errorf("%d marks of %d trained values", len(marks), stops)
	}
	if apart := eval[string](p, `[...document.querySelectorAll("[data-cursor=cursor-2] .ticks li")].map((e, i, all) => {
		const at = (e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect(); };
		const input = document.querySelector("#cursor-2").getBoundingClientRect(), x = input.x + 8 + (input.width - 16) * i / (all.length - 1);
		return (Math.abs(e.getBoundingClientRect().x - x) > 1 ? "mark " + i + " is not below its stop; " : "") + (i > 0 && at(e).left < at(all[i - 1]).right + 2 ? "marks " + i + " overlap; " : "");
	}).join("")`); apart != "" {
		t.Error(apart)
	}
	at("#cursor-2", 0)
	for i, s := range said() {
		if s == before[i] || s[:6] != said()[0][:6] {
			t.Errorf("the slider of γ: %q after %q", s, before[i])
		}
	}
	if got := eval[string](p, `document.querySelector("#sweeps figure:has([id^=chart-sweep-1-end])").textContent`); !strings.Contains(got, "In the runs of the other sections γ is annealed from ") {
		t.Errorf("which γ was trained with is not said: %s", got)
	}
}

// TestReportCursorByLoss: models judged by their losses have the slider, too: it moves the curves of
// all models and settings together, with the values that were recorded, and so does the pointer.
func TestReportCursorByLoss(t *testing.T) {
	p := report(t, 1280, 720, "norm-layer", "norm-rms", "--seeds", "3", "--steps", "60", "--rates", "0.01,0.05")
	// state has what each chart says, and how many of its dots lie on a curve.
	const state = `[...document.querySelectorAll(".readout")].map((said) => {
		const svg = said.previousElementSibling, on = [...svg.querySelectorAll(".track circle")].filter((dot) => {
			const r = dot.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
			return r.width > 0 && [...svg.querySelectorAll("path[fill=none], g[fill=none] path")].some((path) => {
				const m = path.getScreenCTM(), n = path.getTotalLength();
				for (let k = 0; k <= n; k++) { const q = path.getPointAtLength(k).matrixTransform(m); if (Math.hypot(q.x - x, q.y - y) < 1.5) return true; }
			});
		});
		return svg.querySelector("title").textContent + " | " + said.textContent + " | " + on.length;
	})`
	const median = `((step) => JSON.parse(document.querySelector("#data").textContent).Variants.map((m) => {
		const all = m.Runs.map((r) => r.Loss.Value[r.Loss.Step.indexOf(step)]).sort((a, b) => a - b);
		return m.Name + " " + Number(all[1].toPrecision(4));
	}))(%d)`
	p.do(chromedp.Focus("#cursor-1"))
	p.press(kb.Home)
	for range 17 {
		p.press(kb.ArrowRight)
	}
	charts := eval[[]string](p, state)
	want := eval[[]string](p, fmt.Sprintf(median, 17))
	titles := []string{"Loss per step", "Loss per step", "adam(0.01)", "adam(0.05)"}
	if len(charts) != len(titles) {
		t.Fatalf("%q follow", charts)
	}
	for i, c := range charts {
		if !strings.HasPrefix(c, titles[i]+" | step 17: layer normalisation ") || !strings.HasSuffix(c, " | 2") {
			t.Errorf("chart %d: %q, want both models at step 17 and a dot on each curve", i, c)
		}
		if i < 2 && (!strings.Contains(c, want[0]) || !strings.Contains(c, "; "+want[1])) {
			t.Errorf("chart %d: %q, want %q", i, c, want)
		}
	}
	p.picture("report-loss-moved")
	chart := `document.querySelector("#chart-setting-2-title").closest("svg")`
	p.do(chromedp.Evaluate(chart+`.scrollIntoView({block: "center", behavior: "instant"})`, nil))
	box := eval[place](p, `(({x, y, width, height}) => ({X: x, Y: y, W: width, H: height}))(`+chart+`.getBoundingClientRect())`)
	p.do(chromedp.MouseEvent(input.MouseMoved, box.X+box.W/2, box.Y+box.H/2))
	step := regexp.MustCompile(`\| step (\d+): `)
	for i, c := range eval[[]string](p, state) {
		got := step.FindStringSubmatch(c)
		if got == nil || got[1] == "17" || got[1] != step.FindStringSubmatch(eval[[]string](p, state)[3])[1] {
			t.Errorf("chart %d under the pointer: %s", i, c)
		}
	}
	p.picture("report-loss-hover")
}

// onPaper is what print media show that paper has no use for, or that a cursor has moved.
const onPaper = `(() => {
	const seen = [...document.querySelectorAll("nav, .tools, .cursor, .readout, .track, .spokes, details:not([open])")].filter((e) => getComputedStyle(e).display !== "none").map((e) => e.className || e.tagName);
	for (const e of document.querySelectorAll(".chart > *")) if (getComputedStyle(e).transform !== "none" || getComputedStyle(e).visibility !== "visible") seen.push("a mark that has moved");
	for (const e of document.querySelectorAll("figure, .wide")) if (getComputedStyle(e).breakInside !== "avoid") seen.push("a figure or table that may be cut");
	for (const e of document.querySelectorAll("h2, h3, caption, #graphs > p")) if (getComputedStyle(e).breakAfter !== "avoid") seen.push("a heading that may stand alone");
	for (const e of document.querySelectorAll(".chart use")) if (e.getBoundingClientRect().width > e.closest("svg").getBoundingClientRect().width) seen.push("dots that are larger than their chart");
	for (const e of document.querySelectorAll(".objective")) for (const f of e.querySelectorAll("math > *")) if (f.getBoundingClientRect().right > e.getBoundingClientRect().right + 1) seen.push("a formula that leaves its column");
	if (getComputedStyle(document.querySelector("#graphs")).columnCount !== "auto") seen.push("a drawing between columns, which no heading stays with");
	const light = getComputedStyle(document.documentElement).getPropertyValue("--page") === "#fff";
	return (light ? "" : "dark\n") + [...new Set(seen)].join("\n");
})()`

// TestReportPrint: the default report has at most 12 pages of either paper, in light colours,
// without controls, and with the ends of the training wherever the cursor is.
func TestReportPrint(t *testing.T) {
	p := report(t, 1280, 720)
	p.do(chromedp.Evaluate(`for (const e of document.querySelectorAll(".cursor input")) { e.value = 0; e.dispatchEvent(new Event("input")); }`, nil),
		emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if seen := eval[string](p, onPaper); seen != "" {
		t.Error(seen)
	}
	p.do(emulation.SetEmulatedMedia())
	others := report(t, 700, 900, "resnet-plain", "resnet", "--seeds", "1", "--steps", "4")
	others.do(emulation.SetEmulatedMedia().WithMedia("print"))
	if seen := eval[string](others, onPaper); seen != "" {
		t.Errorf("long formulas: %s", seen)
	}
	for name, paper := range map[string][2]float64{"A4": {8.27, 11.69}, "letter": {8.5, 11}} {
		var pdf []byte
		p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = cdppage.PrintToPDF().WithPaperWidth(paper[0]).WithPaperHeight(paper[1]).WithPreferCSSPageSize(false).WithPrintBackground(true).Do(ctx)
			return err
		}))
		pages := len(regexp.MustCompile(`/Type\s*/Page\b[^s]`).FindAll(pdf, -1))
		t.Logf("%s: %d pages", name, pages)
		if pages < 5 || pages > 12 {
			t.Errorf("%s: %d pages", name, pages)
		}
		if dir := os.Getenv("TAPESTRY_SCREENSHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "report-"+name+".pdf"), pdf, 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReportFragment: two fragments stand in the page of another, which neither changes, and which
// changes neither; each is the whole report, with links, sliders and the keyboard, and nothing of
// it is reported as inaccessible.
func TestReportFragment(t *testing.T) {
	dir := t.TempDir()
	compared(t, dir, "first.html", "kmeans-softmax", "kmeans-goofy", "--fragment", "--seeds", "2", "--steps", "60")
	compared(t, dir, "second.html", "norm-layer", "norm-rms", "--fragment", "--seeds", "2", "--steps", "20")
	var host strings.Builder
	host.WriteString(`<!DOCTYPE html><html lang="en"><title>Notebook</title><link rel="icon" href="data:,"><style>table { background: red } h1 { font-size: 7px } .chart { display: none }</style>
<h1 id="verdict">Notebook</h1><table class="wide"><tr><td id="cursor-1">a cell</td></tr></table>`)
	for _, name := range []string{"first.html", "second.html"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		host.Write(b)
	}
	if err := os.WriteFile(filepath.Join(dir, "notebook.html"), []byte(host.String()+"<p id=data>The end.</p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	p := browse(t, 1000, 900, server.URL)
	p.do(chromedp.Navigate(server.URL+"/notebook.html"), chromedp.WaitReady("#data"))
	const kept = `[getComputedStyle(document.querySelector("h1")).fontSize, getComputedStyle(document.querySelector("table")).backgroundColor, document.querySelectorAll("iframe").length,
		document.querySelectorAll("[id]").length, document.querySelectorAll("style, script").length, document.documentElement.scrollWidth, document.querySelectorAll("iframe")[1].title].join("; ")`
	if got, want := eval[string](p, kept), "7px; rgb(255, 0, 0); 2; 3; 1; 1000; Layer normalisation and RMS normalisation"; got != want {
		t.Errorf("the notebook: %s, want %s", got, want)
	}
	if os.Getenv("TAPESTRY_AXE") != "" {
		p.do(chromedp.Evaluate(axe(t), nil))
		p.accessible("notebook")
	}
	p.picture("report-fragment")

	targets, err := chromedp.Targets(p.Context)
	if err != nil {
		t.Fatal(err)
	}
	readouts := map[string]string{"Soft k\u2011means and goofy alternative on iris.csv": "step 60: inertia ", "Layer normalisation and RMS normalisation": "step 20: layer normalisation "}
	for i, target := range targets {
		if target.Type != "iframe" {
			continue
		}
		frame, leave := chromedp.NewContext(p.Context, chromedp.WithTargetID(target.TargetID))
		defer leave()
		in := func(script string) string {
			var got string
			if err := chromedp.Run(frame, chromedp.Evaluate(script, &got)); err != nil {
				t.Fatal(err)
			}
			return got
		}
		title := in(`document.title`)
		want := readouts[title]
		delete(readouts, title)
		if got := in(`document.querySelector(".readout").textContent`); !strings.HasPrefix(got, want) {
			t.Errorf("frame %d: %q, want %q", i, got, want)
		}
		if got := in(`getComputedStyle(document.querySelector("h1")).fontSize + getComputedStyle(document.querySelector(".chart")).display`); strings.HasPrefix(got, "7px") || strings.HasSuffix(got, "none") {
			t.Errorf("frame %d has the notebook's styles: %s", i, got)
		}
		if got := in(`String([...document.querySelectorAll(".chart use")].filter((e) => !(e.getBBox().width > 0)).length)`); got != "0" {
			t.Errorf("frame %d: %s pictures lack their data", i, got)
		}
		in(`document.querySelector("nav a[href='#made']").click(); ""`)
		const where = `location.href + " " + (document.querySelector("#made").getBoundingClientRect().top < innerHeight) + " " + document.activeElement.id`
		got, deadline := in(where), time.Now().Add(10*time.Second)
		for ; got != "about:srcdoc true made" && time.Now().Before(deadline); got = in(where) { // it scrolls smoothly
			time.Sleep(50 * time.Millisecond)
		}
		if got != "about:srcdoc true made" {
			t.Errorf("frame %d: a link leads to %s", i, got)
		}
		if got := in(`const e = document.querySelector("#cursor-1"); e.value = 0; e.dispatchEvent(new Event("input")); document.querySelector(".readout").textContent`); !strings.HasPrefix(got, "step 0: ") {
			t.Errorf("frame %d: the slider says %q", i, got)
		}
	}
	if len(readouts) > 0 {
		t.Errorf("no frame has %v", readouts)
	}
}

// TestReportOfManyRows: a report of 8 000 rows is at most 2 MB, and its small pictures have the
// data where their axes say, though the file has the points once.
func TestReportOfManyRows(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("a,b,c,label\n")
	for i := range 8000 {
		fmt.Fprintf(&rows, "%.4f,%.4f,%.4f,%c\n", float64(3*(i%2))+rng.NormFloat64(), float64(3*(i%3))+rng.NormFloat64(), rng.NormFloat64(), 'p'+i%3)
	}
	if err := os.WriteFile(filepath.Join(dir, "many.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := report(t, 1440, 900, append([]string{"--data", filepath.Join(dir, "many.csv")}, quick...)...)
	opened := eval[map[string]float64](p, `(() => {
		const n = performance.getEntriesByType("navigation")[0];
		return {bytes: n.decodedBodySize, loaded: n.loadEventEnd, drawn: performance.getEntriesByName("first-contentful-paint")[0]?.startTime || 0};
	})()`)
	t.Log(opened)
	if opened["bytes"] > 2e6 {
		t.Errorf("the report has %.0f bytes", opened["bytes"])
	}
	p.picture("report-many")
	for _, off := range eval[[]string](p, `(() => {
		const read = (id) => JSON.parse(document.querySelector(id).textContent), wrong = [];
		const points = read("#data").Plane.Points, charts = read("#cursors").flatMap((c) => c.Charts).filter((c) => c.Marks && c.ID !== "chart-plane");
		const at = (s, v) => s.From + (v - s.Lo) / (s.Hi - s.Lo) * (s.To - s.From);
		for (const c of charts) {
			const svg = document.getElementById(c.ID + "-title").closest("svg"), use = svg.querySelector("use"), box = use.getBBox(), m = use.getCTM(), own = svg.getCTM();
			const x = points.map((q) => at(c.X, q[0])), y = points.map((q) => at(c.Y, q[1]));
			const far = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
			const k = own.a, to = (u, v) => [(m.a * u + m.e - own.e) / k, (m.d * v + m.f - own.f) / k];
			const path = document.querySelector("#chart-data").getBBox();
			const [left, top] = to(path.x, path.y), [right, bottom] = to(path.x + path.width, path.y + path.height);
			[left - far[0], right - far[1], top - far[2], bottom - far[3]].forEach((d, i) => { if (!(Math.abs(d) < 0.2)) wrong.push(c.ID + " side " + i + ": " + d); });
			if (!(box.width > 0)) wrong.push(c.ID + " shows nothing");
		}
		if (charts.length < 4) wrong.push(charts.length + " pictures");
		return wrong;
	})()`) {
		t.Error(off)
	}
}
