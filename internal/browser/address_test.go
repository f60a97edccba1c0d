package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// seen is what a reader sees of the state that the URL keeps.
const seen = `JSON.stringify({
	documents: [...document.querySelectorAll("#documents li")].map((l) => l.className + " " + l.textContent),
	level: document.querySelector("#level").value, overlay: document.querySelector("#overlay").value, grad: document.querySelector("#grad").checked,
	step: document.querySelector("#step").value, said: document.querySelector("#step-shown").textContent, node: document.querySelector("#node-panel h2")?.textContent, among: document.querySelector("#node-panel .among b")?.textContent,
	marked: document.querySelectorAll(".marks .selected").length, tab: document.querySelector("#detail-tabs [aria-selected=true]").id,
	rows: document.querySelector("#node-panel .values tbody th")?.textContent, cell: document.querySelector("#node-panel").checkVisibility() ? document.querySelector("#node-panel .values td .cell")?.textContent : "",
	breaks: document.querySelector("#tape-panel").hidden ? "" : document.querySelector("#break")?.value, panes: document.querySelectorAll("#panes .pane").length,
	camera: [...document.querySelectorAll(".layer")].map((l) => l.style.transform.match(/-?[\d.]+/g).slice(0, 2)),
	modules: [...document.querySelectorAll("#outline [aria-expanded]")].map((m) => m.dataset.path + m.getAttribute("aria-expanded")),
})`

// alike reports whether the same is seen, with the drawing within 3 pixels of where it was: an
// address has its place in rounded numbers.
func alike(a, b string) bool {
	parse := func(text string) (rest string, places []float64) {
		var all map[string]any
		if json.Unmarshal([]byte(text), &all) != nil {
			return text, nil
		}
		layers, _ := all["camera"].([]any)
		for _, l := range layers {
			for _, v := range l.([]any) {
				x, _ := strconv.ParseFloat(v.(string), 64)
				places = append(places, x)
			}
		}
		delete(all, "camera")
		return fmt.Sprint(all), places
	}
	first, from := parse(a)
	second, to := parse(b)
	return first == second && slices.EqualFunc(from, to, func(x, y float64) bool { return math.Abs(x-y) <= 3 })
}

// heights are those of the parts below the drawing, on which depends where it stands.
const heights = `[...document.querySelectorAll("#training > *, #training .controls > *, #plan > *")].map((e) => (e.id || e.className) + " " + e.getBoundingClientRect().height).join(", ")`

// visit goes to an address as from elsewhere and waits until it is shown.
func (p *tab) visit(address string) {
	p.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitReady("body[data-ready]"))
	p.still()
}

// forgive forgets complaints of the console that a test provoked.
func (p *tab) forgive(part string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.said = slices.DeleteFunc(p.said, func(s string) bool { return strings.Contains(s, part) })
}

// address is the page's URL once it says what is shown.
func (p *tab) address() string {
	p.Helper()
	time.Sleep(300 * time.Millisecond)
	return eval[string](p, "location.href")
}

// TestAddressKeepsEverything: states that a reader comes to by chance, twenty of them in the long
// tier, are the same after a reload, and the numbers are the same on another server.
func TestAddressKeepsEverything(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	p.train(12)
	rng := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	var last string
	states := 8
	if os.Getenv("TAPESTRY_LONG") == "1" {
		states = 20
	}
	for i := range states {
		if rng.IntN(3) == 0 {
			p.do(chromedp.Click(`#documents [data-doc="` + one("d1", "d2") + `"]`))
			if rng.IntN(2) == 0 {
				p.do(chromedp.Evaluate(`document.querySelector("#compare").click(); document.querySelector("#compare-with input").click(); document.querySelector("#compare-menu").hidePopover()`, nil))
			}
		}
		p.choose("#level", one("notes", "ops", "primitive", "compiled"))
		p.choose("#overlay", one("none", "grad", "memory"))
		if rng.IntN(3) == 0 {
			p.do(chromedp.Evaluate(`document.querySelector("#grad").click()`, nil))
		}
		p.still()
		p.slide(rng.IntN(13))
		p.do(chromedp.Evaluate(`document.querySelector("#tab-`+one("node", "tape", "mathematics")+`").click()`, nil), chromedp.Focus("#panes .pane"))
		if rng.IntN(4) > 0 {
			p.press(kb.Home)
			for range rng.IntN(4) {
				p.shift(one(kb.ArrowDown, kb.ArrowRight))
			}
		}
		for range rng.IntN(3) {
			p.press(one("+", "-", kb.ArrowUp, kb.ArrowLeft))
		}
		p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const b = document.querySelector("#break"); if (b) { b.value = %q; b.dispatchEvent(new Event("input")); } document.querySelector('#node-panel [data-control="rows+"]:enabled')?.click(); })()`, one("", "alpha", "|x|>3 & loss")), nil))
		p.still()
		time.Sleep(300 * time.Millisecond)
		want, room := eval[string](p, seen), eval[string](p, heights)
		last = p.address()
		p.visit(last)
		again, deadline := "", time.Now().Add(10*time.Second)
		for again = eval[string](p, seen); !alike(again, want) && time.Now().Before(deadline); again = eval[string](p, seen) {
			time.Sleep(50 * time.Millisecond)
		}
		if !alike(again, want) {
			t.Errorf("state %d: %s shows\n%s\nwant\n%s\nheights are %s\nwere %s", i, last, again, want, eval[string](p, heights), room)
		}
		if again := p.address(); again != last {
			t.Errorf("state %d: the URL was\n%s and is\n%s", i, last, again)
		}
	}
	// Elsewhere the documents are opened and trained as the link says, and every number is the same.
	const numbers = `JSON.stringify([document.querySelector("#step-shown").textContent, [...document.querySelectorAll("#loss-chart svg title")].map((t) => t.textContent), document.querySelector("#node-panel .values table")?.textContent])`
	p.do(chromedp.Evaluate(`document.querySelector("#tab-node").click()`, nil), chromedp.Focus("#panes .pane"))
	p.press(kb.Home)
	p.until("values", `document.querySelector("#node-panel .values table")`)
	p.still()
	last = p.address()
	want := eval[string](p, numbers)
	other := &tab{TB: p.TB, Context: p.Context, at: serve(t), under: p.under}
	first := p.at
	p.at = other.at
	p.visit(other.at + strings.TrimPrefix(last, first))
	p.until("the same numbers elsewhere: "+want, numbers+` === `+fmt.Sprintf("%q", want))
	if docs := ask[[]struct {
		ID       string
		Identity string
		Steps    int
	}](p, "/api/docs"); len(docs) != 2 || docs[0].Steps != 12 || docs[0].Identity == docs[1].Identity {
		t.Errorf("elsewhere there are %v", docs)
	}
	p.do(chromedp.Navigate("about:blank")) // the film strip is still being made, and its server ends first
}

// TestBackUndoes: moves to a node, a level and another document are undone by Back, one by one,
// and a document that was closed meanwhile opens again.
func TestBackUndoes(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.clickNode("D", 1)
	p.settle("D")
	p.address()
	p.clickNode("α", 1)
	p.settle("α")
	p.address()
	p.choose("#level", "ops")
	p.still()
	p.address()
	p.do(chromedp.NavigateBack())
	p.until("the level before", `document.querySelector("#level").value === "notes"`)
	p.settle("α")
	p.do(chromedp.NavigateBack())
	p.settle("D")
	p.until("its mark", `document.querySelectorAll(".marks .selected").length === 1`)
	p.do(chromedp.NavigateForward())
	p.settle("α")
	p.press(kb.Escape)
	p.until("nothing selected", `document.querySelectorAll(".marks .selected").length === 0 && !document.querySelector("#node-panel h2")`)
	p.do(chromedp.Click("#documents .close"))
	p.until("no document", `!document.querySelector("#empty").hidden`)
	p.address()
	p.do(chromedp.NavigateBack())
	p.until("the document again", `document.querySelectorAll("#documents li").length === 1 && document.querySelectorAll(".items g.node").length > 3`)
}

// TestLinkToWhatIsMissing: of a link whose model or data is not to be had, what is missing is told
// and the rest is shown; a text travels with its link.
func TestLinkToWhatIsMissing(t *testing.T) {
	p := open(t, 1440, 900)
	p.visit(p.at + "/#doc=model=no-such-model;seed=1&doc=model=kmeans-softmax;data=iris;seed=1;steps=5;identity=0000&at=1&step=3&node=n9")
	p.until("what is missing", `!document.querySelector("#missing").hidden`)
	contains(p, "what is missing", p.text("#missing"), "no-such-model", "its numbers may differ")
	p.until("the step", `document.querySelector("#step-shown").textContent.startsWith("step 3 of 5")`)
	p.forgive("404")
	p.settle("D")
	const text = "input x[i=4]\nparam w\nloss = mean((w*x - 1)^2, i)\n"
	body, _ := json.Marshal(map[string]any{"text": text, "name": "tiny.tapestry", "seed": 1})
	if answer, err := http.Post(p.at+"/api/open", "application/json", strings.NewReader(string(body))); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	p.visit(p.at + "/")
	p.until("the text", `document.querySelector("#documents .current").textContent.includes("tiny")`)
	link := p.address()
	other := serve(t)
	link = other + strings.TrimPrefix(link, p.at)
	p.at = other
	p.visit(link)
	p.until("the text elsewhere", `document.querySelector("#documents .current").textContent.includes("tiny")`)
	if got := ask[[]struct{ Source string }](p, "/api/docs"); !strings.Contains(got[len(got)-1].Source, "w*x - 1") && !strings.Contains(got[0].Source, "w·x") && !strings.Contains(got[0].Source, "(w*x") {
		t.Errorf("elsewhere the text is %q", got)
	}
}
