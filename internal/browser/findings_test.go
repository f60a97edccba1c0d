package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// explodes is a net whose second layer takes the logarithm of negative numbers.
const explodes = `objective "a net that explodes"
input x[i=8, d=3] ~ normal(0, 1)
param w[d, k=4] ~ normal(0, 1)
param v[k] ~ normal(0, 1)

h[i,k] = tanh(sum(x*w, d))
z[i,k] = h - 1/2
u[i,k] = log(z)
loss = mean(sum(u*v, k)^2, i)
`

// TestEveryStart clicks each of the tiles that the page begins with.
func TestEveryStart(t *testing.T) {
	p := open(t, 1440, 900)
	n := eval[int](p, `document.querySelectorAll("#starts button").length`)
	if n < 3 {
		t.Fatalf("%d tiles", n)
	}
	for i := range n {
		p.do(chromedp.Click(fmt.Sprintf("#starts button:nth-child(%d)", i+1)))
		p.until("a drawing", `document.querySelectorAll(".items g.node").length > 3`)
		p.still()
		if said := p.text("#failure p"); said != "" {
			t.Errorf("tile %d: %s", i+1, said)
		}
		for eval[bool](p, `document.querySelector("#documents .close") !== null`) {
			p.do(chromedp.Click("#documents .close"))
			time.Sleep(50 * time.Millisecond)
		}
		p.until("the tiles again", `!document.querySelector("#empty").hidden`)
	}
}

// TestAutopsy trains what explodes: the page says where and why, draws it, and leads to
// the node.
func TestAutopsy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "explodes.tapestry")
	if err := os.WriteFile(file, []byte(explodes), 0o666); err != nil {
		t.Fatal(err)
	}
	p := open(t, 1440, 900, file)
	p.still()
	if eval[bool](p, `document.querySelector("#tab-autopsy").checkVisibility()`) {
		t.Error("there is an autopsy before anything happened")
	}
	p.do(chromedp.Click("#train"))
	p.until("the autopsy", `document.querySelector("#autopsy-panel [data-part=first]")?.checkVisibility()`)
	p.still()
	contains(p, "the alarm", p.text("#autopsy-panel .alarm"), "Training stopped at step 0", "log of a negative: log(−")
	contains(p, "the first value", p.text(`#autopsy-panel [data-part="first"]`), "u[i=0 k=", "= NaN", "Log", "explodes.tapestry:8")
	contains(p, "the witness", p.text(`#autopsy-panel [data-part="witness"]`), "z[i=0 k=", "= −", "explodes.tapestry:7")
	contains(p, "the way back", p.text(`#autopsy-panel [data-part="path"]`), "z[i=0 k=")
	contains(p, "the way on", p.text(`#autopsy-panel [data-part="carried"]`), "loss = NaN")
	if p.text("#failure p") != "" {
		t.Errorf("the mistake is told twice: %q", p.text("#failure p"))
	}
	p.until("marks", `[...document.querySelectorAll(".items g.node")].some((e) => e.getAttribute("aria-label").startsWith("u") && e.getAttribute("aria-label").includes("the first that is not finite"))`)
	p.picture("autopsy")
	p.do(chromedp.Click(`#autopsy-panel [data-part="first"] button`), chromedp.Click("#tab-node"))
	p.settle("u")
	p.choose("#overlay", "none")
	p.still()
	p.until("no autopsy any more", `!document.querySelector("#tab-autopsy").checkVisibility()`)
}

// TestAutopsyFliesToTheNode: what is first not finite is brought into view, whatever hides it, and
// has a name; where it has no box of its own, that is said.
func TestAutopsyFliesToTheNode(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.do(chromedp.Evaluate(`(async () => {
		const api = await import("./assets/api.js");
		window.doc = await api.open({model: "transformer-gpt", settings: {layers: 2}, optimiser: "sgd", rate: 1e12});
	})()`, nil))
	p.until("the second document", `document.querySelectorAll("#documents [data-doc]").length === 2`)
	p.do(chromedp.Click("#documents li:nth-child(2) .tab"))
	p.still()
	p.do(chromedp.Evaluate(`document.querySelector("#close-all").click()`, nil))
	p.still()
	p.do(chromedp.Click("#train"))
	p.until("the autopsy", `document.querySelector("#autopsy-panel [data-part=first]")?.checkVisibility()`)
	p.still()
	p.until("the node in view", `(() => {
		const r = document.querySelector(".marks .selected")?.getBoundingClientRect();
		const w = document.querySelector("#panes").getBoundingClientRect();
		return r && r.x >= w.x && r.y >= w.y && r.right <= w.right && r.bottom <= w.bottom;
	})()`)
	first := p.text(`#autopsy-panel [data-part="first"] button`)
	if name, _, _ := strings.Cut(first, "["); regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(name) {
		t.Errorf("the first value is called %q", first)
	}
	for _, entry := range eval[[]string](p, `[...document.querySelectorAll("#autopsy-panel [data-entry]")].map((e) => e.textContent)`) {
		if regexp.MustCompile(`^(MatMul|Mul|Add|Sum|Reshape|Sub|Broadcast)\[`).MatchString(entry) {
			t.Errorf("an entry is called %q", entry)
		}
	}
	p.picture("autopsy-deep")
	// Each entry leads into view, with a word where it has no box of its own.
	n := eval[int](p, `document.querySelectorAll("#autopsy-panel [data-entry]").length`)
	for i := range min(n, 2) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelectorAll("#autopsy-panel [data-entry]")[%d].click()`, i), nil))
		p.still()
		time.Sleep(400 * time.Millisecond)
		if !eval[bool](p, `document.querySelector(".marks .selected") !== null`) {
			t.Errorf("entry %d leads nowhere: %s", i, p.text("#autopsy-panel"))
		}
	}
}

// TestAutopsyOnAPhone trains what explodes where one part of the page is seen at a time:
// it is the one that says why.
func TestAutopsyOnAPhone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "explodes.tapestry")
	if err := os.WriteFile(file, []byte(explodes), 0o666); err != nil {
		t.Fatal(err)
	}
	p := open(t, 390, 844, file)
	p.still()
	p.do(chromedp.Click(`.places [data-place="training"]`), chromedp.Click("#train"))
	p.until("the autopsy", `document.querySelector("#autopsy-panel [data-part=first]")?.checkVisibility()`)
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
	if over := eval[int](p, `(() => { const e = document.querySelector("#autopsy-panel"); return e.scrollWidth - e.clientWidth; })()`); over > 0 {
		t.Errorf("the autopsy is %d too wide", over)
	}
	p.picture("autopsy-phone")
}

// TestDerivesStepByStep reads the rules of the whole derivation and of one node's.
func TestDerivesStepByStep(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.do(chromedp.Click("#tab-mathematics"))
	p.until("the derivation", `document.querySelector("#mathematics-panel .derivation .closed")`)
	contains(p, "the derivation", p.text("#mathematics-panel .derivation"), "product rule", "power rule", "sum over both uses", "in one equation")
	if n := eval[int](p, `document.querySelectorAll("#mathematics-panel .derivation tr.step math").length`); n < 6 {
		t.Errorf("%d formulas in the steps", n)
	}
	p.picture("derivation")
	p.clickNode("α", 1)
	p.do(chromedp.Click("#tab-node"))
	p.settle("α")
	p.do(chromedp.Click("#node-panel .how summary"))
	p.until("the steps of α", `document.querySelector("#node-panel .how .derivation .closed")`)
	if text := p.text("#node-panel .how"); strings.Contains(text, "power rule") || !strings.Contains(text, "the derivative by α") {
		t.Errorf("the steps to the derivative by α are %q", text)
	}
}

// TestRunsToBreaks goes on and back to where something holds, over training steps.
func TestRunsToBreaks(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.train(12)
	p.slide(3)
	p.do(chromedp.Click("#tab-tape"))
	p.until("the listing", `document.querySelector(".listing .line")`)
	run := func(text, button string) string {
		t.Helper()
		p.do(chromedp.SetValue("#break", text), chromedp.Click(fmt.Sprintf(`.breaks [aria-label="%s"]`, button)))
		p.until("the run's end", `!["", "running…"].includes(document.querySelector(".breaks output").textContent)`)
		return p.text(".breaks output")
	}
	said := run("alpha", "Run on to the break")
	contains(p, "what is said", said, "α: step 3, instruction 6")
	p.until("the instruction", `document.querySelector('.line[aria-selected="true"] .result').textContent.startsWith("α[")`)
	p.until("α is selected", `document.querySelector(".marks .selected")`)
	contains(p, "what is said", run("alpha", "Run on to the break"), "α: step 4,")
	contains(p, "the slider", p.text("#step-shown"), "step 4 of 12")
	contains(p, "what is said", run("step 9", "Run on to the break"), "step 9: step 9, instruction 0")
	contains(p, "the slider", p.text("#step-shown"), "step 9 of 12")
	contains(p, "what is said", run("shape 150x3", "Run back to the break"), "shape 150x3: step 8")
	contains(p, "what is said", run("nan", "Run back to the break"), "Nothing stops before")
	contains(p, "the slider", p.text("#step-shown"), "step 8 of 12") // where nothing stops, nothing moves
	p.picture("breaks")
}

// TestStepsThroughRewrites draws what each firing of a rule changed.
func TestStepsThroughRewrites(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	before := eval[int](p, `document.querySelectorAll(".items g.node").length`)
	p.do(chromedp.Click("#tab-rewrites"))
	p.until("the rules", `document.querySelector(".rule")`)
	n := eval[int](p, `+document.querySelector("#rewrites-panel .walk output").textContent`)
	times := eval[[]int](p, `[...document.querySelectorAll(".rule .times")].map((e) => +e.textContent.replace("× ", ""))`)
	sum := 0
	for _, k := range times {
		sum += k
	}
	if sum != n || len(times) >= n {
		t.Errorf("%d rules fired %v times, which is not %d", len(times), times, n)
	}
	if eval[int](p, `document.querySelectorAll(".items g.node").length`) != before {
		t.Error("the drawing is another before a firing was chosen")
	}
	p.do(chromedp.Click(`[aria-label="Next firing"]`))
	p.until("the first firing", `document.querySelector("#difference .summary")?.textContent === "specialise: pairwise distance"`)
	p.still()
	contains(p, "the place", p.text("#rewrites-panel .walk output"), fmt.Sprintf("1 of %d", n))
	contains(p, "the sides", p.text("#rewrites-panel .sides"), "SqDist(x, r)", "✓ ")
	p.until("both sides", `[..."12"].every((panel) => document.querySelector(".items [id^='p"+panel+"-']"))`)
	p.picture("rewrite")
	if !eval[bool](p, `document.querySelector('.firings [aria-current="true"]').checkVisibility()`) {
		t.Error("the firing that is shown is hidden in its rule")
	}
	p.do(chromedp.SendKeys("#rule-search", "pairwise"))
	p.until("what was found", `(() => { const seen = [...document.querySelectorAll(".rule")].filter((e) => !e.hidden); return seen.length > 0 && seen.length < document.querySelectorAll(".rule").length; })()`)
	p.press(kb.ArrowDown)
	if !eval[bool](p, `document.activeElement.matches(".rule summary")`) {
		t.Error("the arrow key does not lead from the search to the rules")
	}
	p.press(kb.ArrowDown, kb.Enter)
	p.until("a firing of that rule", `document.activeElement.matches('.firings [aria-current="true"]')`)
	p.picture("rewrites-grouped")
	p.do(chromedp.Click(`[aria-label="Last firing"]`))
	p.until("the last firing", fmt.Sprintf(`document.querySelector("#rewrites-panel .walk output").textContent === "%d of %d"`, n, n))
	p.do(chromedp.Click("#tab-node"))
	p.until("the model again", fmt.Sprintf(`document.querySelectorAll(".items g.node").length === %d && document.querySelector("#difference").hidden`, before))
}

// TestDigitsAndRules shows what float32 loses in a node, and what was found of its rule.
func TestDigitsAndRules(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax")
	p.still()
	p.clickNode("D", 1)
	p.settle("D")
	p.do(chromedp.Click(`#node-panel [data-measure="precision"]`))
	p.until("the digits", `/^\d\.\d of 7\.2: \d\.\d here, \d\.\d inherited/.test(document.querySelector('#node-panel [data-fact="digits lost"]')?.textContent)`)
	p.choose("#overlay", "blame")
	p.still()
	p.until("the rule", `document.querySelector('#node-panel [data-fact="rule"]')?.textContent.startsWith("rule right")`)
	p.until("a tick", `[...document.querySelectorAll(".items g.node")].some((e) => e.getAttribute("aria-label").includes("checked and right"))`)
	if said := p.text("#node-panel .links"); !strings.Contains(said, "Square") {
		t.Errorf("the inputs of D are called %q", said)
	}
}

// TestStartsFromAnExample puts an example in the editor.
func TestStartsFromAnExample(t *testing.T) {
	p := open(t, 1440, 900)
	p.do(chromedp.Click("#write"), chromedp.WaitVisible("#editor-text"))
	p.until("an example", `document.querySelector("#editor-text").value.includes("softmax")`)
	p.choose("#editor-start", "attention.tapestry")
	p.until("another", `document.querySelector("#editor-text").value.includes("dot(q, k, d)") && document.querySelector("#editor-name").value === "attention.tapestry"`)
	p.until("no mistakes", `document.querySelector("#editor-mistakes").textContent === "No mistakes."`)
}

// TestComparesThree names three models, which are compared from the beginning: it draws
// each of two beside the first, and the losses of all.
func TestComparesThree(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "kmeans-sgd")
	p.still()
	p.until("all that was named", `document.querySelectorAll("#documents .beside").length === 2`)
	p.until("the tabs", `document.querySelectorAll("#difference [data-against]").length === 2`)
	p.still()
	first := p.text("#difference .summary")
	p.do(chromedp.Click(`#difference [data-against]:not([aria-pressed="true"])`))
	p.until("the other difference", fmt.Sprintf(`document.querySelector("#difference .summary").innerText.trim() !== %q`, first))
	p.do(chromedp.Click("#download"), chromedp.WaitVisible(`#downloads [data-kind="comparison"]`))
	if at := eval[string](p, `document.querySelector('#downloads [data-kind="comparison"]').href`); !strings.Contains(at, "/api/compare/svg?a=d1&b=d3&") && !strings.Contains(at, "/api/compare/svg?a=d1&b=d2&") {
		t.Errorf("the comparison is at %s", at)
	}
	p.do(chromedp.Click("#download"))
	p.train(8)
	p.until("three curves", `["kmeans-softmax", "kmeans-goofy", "kmeans-sgd"].every((name) => document.querySelector("#loss-chart").textContent.includes(name))`)
	p.slide(3)
	p.until("the step in the curves", `document.querySelector("#loss-chart").textContent.includes("step 3")`)
	p.picture("three")
}
