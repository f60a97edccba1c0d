package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// plan types what trains the documents of a group into a field beside Train.
func (p *tab) plan(group int, field, text string) {
	p.Helper()
	id := fmt.Sprintf("plan-%d-%s", group, field)
	p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const f = document.getElementById(%q); f.focus(); f.select(); })()`, id), nil))
	if text == "" {
		p.key(kb.Delete, 0)
	}
	for _, r := range text {
		p.key(string(r), 0)
	}
	p.key(kb.Enter, 0)
}

// losses are those of the first document, with all their digits.
func (p *tab) losses() []float64 {
	p.Helper()
	return eval[[]float64](p, `(async () => { const api = await import(new URL("assets/api.js", document.baseURI)); return (await api.history((await api.docs())[0].id)).loss; })()`)
}

// commanded are the losses of the command train with these flags.
func commanded(t *testing.T, args ...string) []float64 {
	t.Helper()
	out, err := exec.Command(command, append([]string{"train", "regression-relu", "--seeds", "1", "--json"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Runs []struct{ Loss []float64 } }
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v.Runs[0].Loss
}

// refused forgets the complaints of the console about refused requests, which come a moment later.
func (p *tab) refused() {
	p.Helper()
	p.still()
	time.Sleep(300 * time.Millisecond)
	p.forgive("400 (Bad Request)")
}

// TestPlansBesideTrain: optimiser, rate and schedule are changed beside Train, by keyboard, served and
// static; the losses are then those of the command with the same flags; the URL keeps them; and what
// is refused says why at its field and changes nothing.
func TestPlansBesideTrain(t *testing.T) {
	for name, origin := range map[string]func() string{
		"served": func() string { return serve(t) },
		"static": func() string { return hosted(t, "") },
	} {
		t.Run(name, func(t *testing.T) {
			same := func(a, b float64) bool { return a == b }
			if name == "static" { // its kernels are others, and round otherwise
				same = func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
			}
			at := origin()
			p := browse(t, 1440, 900, at)
			p.do(chromedp.Navigate(strings.TrimSuffix(at, "/")+"/#doc=model=regression-relu;dtype=f64;seed=0"), chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
			p.until("the fields", `document.querySelector("#plan-0-rate")?.value === "0.01" && document.querySelector("#plan-0-optimiser").value === "adam"`)
			p.still()
			p.do(chromedp.SetValue("#steps", "30"), chromedp.Click("#train"))
			p.trained(30)
			for text, says := range map[string]string{"-1": "want a positive number", "NaN": "character 1", "quick": "want a number, from..to, or one of", "cosine(1,)": "character 10", "0": "want a positive number"} {
				p.plan(0, "rate", text)
				p.until("a mistake about "+text, fmt.Sprintf(`document.querySelector("#plan-said.refused")?.textContent.includes(%q) && document.querySelector("#plan-0-rate").getAttribute("aria-invalid") === "true"`, says))
				if n := len(p.losses()); n != 30 {
					t.Errorf("after the rate %s was refused there are %d steps", text, n)
				}
			}
			p.refused()
			p.picture("plan-refused-" + name)
			p.plan(0, "rate", "0.02")
			p.until("the change", `document.querySelector("#plan-said").textContent.includes("rate 0.01 is now 0.02") && !document.querySelector("#plan-said.refused")`)
			contains(p, "what is said", p.text("#plan-said"), "at step 0", "30 steps were trained")
			if got := eval[string](p, `document.activeElement.id`); got != "plan-0-rate" {
				t.Errorf("the focus is at %q", got)
			}
			p.do(chromedp.Click("#train"))
			p.trained(30)
			if got, want := p.losses(), commanded(t, "--steps", "30", "--rate", "0.02"); !slices.EqualFunc(got, want, same) {
				t.Errorf("losses %v, of the command %v", got, want)
			}
			p.do(chromedp.Evaluate(`(() => { const s = document.querySelector("#plan-0-optimiser"); s.focus(); s.value = "momentum"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
			p.until("the optimiser", `document.querySelector("#plan-said").textContent.includes("adam is now momentum")`)
			p.plan(0, "rate", "cosine(0.02,20)")
			p.until("the schedule", `document.querySelector("#plan-said").textContent.includes("is now cosine(0.02,20)")`)
			p.do(chromedp.Click("#train"))
			p.trained(30)
			want := commanded(t, "--steps", "30", "--optimiser", "momentum", "--rate", "cosine(0.02,20)")
			if got := p.losses(); !slices.EqualFunc(got, want, same) {
				t.Errorf("losses %v, of the command %v", got, want)
			}
			contains(p, "the plan", p.text("#plan-schedules"), "rate cosine(0.02,20), now 0")
			p.picture("plan-" + name)
			p.until("the plan in the URL", `location.hash.includes("optimiser=momentum") && location.hash.includes("schedule=cosine")`)
			p.do(chromedp.Reload(), chromedp.WaitReady("body[data-ready]"))
			p.until("the same after a reload", `document.querySelector("#plan-0-rate")?.value === "cosine(0.02,20)" && document.querySelector("#step-shown").textContent.startsWith("step 30 of 30")`)
			if got := p.losses(); !slices.EqualFunc(got, want, same) {
				t.Errorf("after a reload the losses are %v, before %v", got, want)
			}
		})
	}
}

// TestPlanOfTemperature: γ has a field for its schedule, which fits a telephone.
func TestPlanOfTemperature(t *testing.T) {
	p := open(t, 390, 844, "kmeans-softmax", "--data", "iris")
	p.still()
	if !eval[bool](p, `document.querySelector("#training").checkVisibility()`) {
		p.do(chromedp.Click(`button[data-place="training"]`))
	}
	p.until("the field", `document.getElementById("plan-0-γ")?.checkVisibility()`)
	p.plan(0, "γ", "0.5..20")
	p.until("the change", `document.querySelector("#plan-said").textContent.includes("is now 0.5..20")`)
	p.until("the plan", `document.querySelector("#plan-schedules").textContent.includes("γ 0.5 → 20 over 1\u202f000 steps, now 0.5")`)
	p.picture("plan-phone")
	if wide := eval[[]string](p, `[...document.querySelectorAll("#training *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.id || e.tagName)`); len(wide) != 0 {
		t.Errorf("beyond the edge: %s", strings.Join(wide, ", "))
	}
	p.plan(0, "γ", "-1..2")
	p.until("a mistake", `document.querySelector("#plan-said.refused")?.textContent.includes("both ends must be positive")`)
	p.refused()
	p.plan(0, "γ", "")
	p.until("the usual one", `document.getElementById("plan-0-γ").value !== "0.5..20" && document.getElementById("plan-0-γ").value.includes("..")`)
}

// TestPlan changes optimiser and rate beside Train: what is shown begins anew, trained as the fields
// say; the address has it, Back undoes it, and what is no rate changes nothing.
func TestPlan(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "--data", "iris")
	p.still()
	p.train(5)
	was := eval[string](p, `document.querySelector("#plan-0-rate").value`)
	before := p.address()

	for _, wrong := range []string{"-1", "0", "fast", "1e999"} {
		p.plan(0, "rate", wrong)
		p.until("what is wrong with "+wrong, `document.querySelector("#plan-said.refused")?.textContent.includes("Nothing is changed") && document.querySelector("#plan-0-rate").getAttribute("aria-invalid") === "true"`)
		if got := p.text("#step-shown"); !strings.HasPrefix(got, "step 5 of 5") || p.address() != before {
			t.Errorf("a rate of %s changes %q, %s", wrong, got, p.address())
		}
	}
	p.refused()
	if os.Getenv("TAPESTRY_AXE") != "" {
		p.do(chromedp.Evaluate(axe(t), nil))
		p.accessible("a wrong rate")
	}
	p.press(kb.Escape)
	if got := eval[string](p, `document.querySelector("#plan-0-rate").value + document.querySelector("#plan-said").textContent`); got != was {
		t.Errorf("after Escape the rate is %q, want %q", got, was)
	}

	p.choose("#plan-0-optimiser", "sgd")
	p.until("the beginning", `document.querySelector("#step-shown").textContent.startsWith("step 0 of 0") && document.querySelector("#plan-0-optimiser")?.value === "sgd"`)
	p.plan(0, "rate", "0.25")
	p.until("the rate", `document.querySelector("#plan-0-rate")?.value === "0.25" && document.querySelector("#step-shown").textContent.startsWith("step 0 of 0")`)
	if got := eval[string](p, `document.activeElement.id`); got != "plan-0-rate" {
		t.Errorf("after the change %q has the focus", got)
	}
	p.train(2)
	at := p.address()
	if !strings.Contains(at, "optimiser=sgd") || !strings.Contains(at, "rate=0.25") {
		t.Errorf("the address is %s", at)
	}
	doc := eval[string](p, `document.querySelector("#documents .current [data-doc]").dataset.doc`)
	r, dr := p.nodeOf(doc, "r"), p.nodeOf(doc, "∂loss/∂r")
	from, to, slope := p.values(doc, r, 0), p.values(doc, r, 1), p.values(doc, dr, 0)
	for i := range from {
		for j, v := range from[i] {
			if want := v - 0.25*slope[i][j]; math.Abs(to[i][j]-want) > 2e-4*math.Max(1, math.Abs(want)) {
				t.Errorf("r[%d,%d] goes from %v to %v, want %v", i, j, v, to[i][j], want)
			}
		}
	}
	p.picture("plan-light")

	p.do(chromedp.NavigateBack())
	p.until("the rate before", fmt.Sprintf(`document.querySelector("#plan-0-rate")?.value === %q && document.querySelector("#plan-0-optimiser")?.value === "sgd"`, was))
	p.visit(before)
	p.until("the training before", fmt.Sprintf(`document.querySelector("#plan-0-rate")?.value === %q && document.querySelector("#plan-0-optimiser")?.value === "adam" && document.querySelector("#step-shown").textContent.startsWith("step 5 of 5")`, was))
}

// TestPlansOfMany: documents that are trained alike have one plan, which is changed for all; others
// have one each, and what is trained by steps of its own has none to change.
func TestPlansOfMany(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "kmeans-lloyd", "--data", "iris")
	p.still()
	plans := func() []string {
		return eval[[]string](p, `[...document.querySelectorAll("#plan-fields .plan")].map((s) => s.textContent.split(":")[0] + "|" + (s.querySelector("select")?.value ?? "") + "|" + (s.querySelector("input")?.value ?? ""))`)
	}
	first := plans()
	if len(first) != 3 || !strings.HasPrefix(first[0], "soft k-means|adam|0.0") || !strings.HasPrefix(first[2], "Lloyd's algorithm||") {
		t.Fatalf("the plans are %q", first)
	}
	p.plan(1, "rate", "0.5")
	p.until("another rate of the second", `document.querySelector("#plan-1-rate")?.value === "0.5"`)
	if got := plans(); got[0] != first[0] || !strings.HasSuffix(got[1], "|adam|0.5") || got[2] != first[2] {
		t.Errorf("the plans are %q, and were %q", got, first)
	}
	p.still()
	p.do(chromedp.Click(`#documents [aria-label="Close Lloyd's algorithm"]`))
	p.until("two plans", `document.querySelectorAll("#plan-fields .plan").length === 2`)
	p.plan(0, "rate", "0.5")
	p.until("one plan", `document.querySelectorAll("#plan-fields .plan").length === 1`)
	p.choose("#plan-0-optimiser", "momentum")
	p.until("another optimiser of both", `document.querySelector("#plan-0-optimiser")?.value === "momentum"`)
	p.still()
	if at := p.address(); strings.Count(at, "optimiser=momentum") != 2 || strings.Count(at, "rate=0.5") != 2 {
		t.Errorf("the address is %s", at)
	}
}
