package browser

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// scrubbing moves the slider to steps, and gives for each how many milliseconds later the last
// thing changed in the drawing, the details and the charts, and how many requests that took.
const scrubbing = `(async () => {
	const slider = document.querySelector("#step");
	const ask = window.fetch;
	let under = 0, asked = 0, last = 0, heard = 0;
	window.fetch = async (...question) => {
		under++;
		if (new URL(question[0], location.href).searchParams.get("step") === slider.value) asked++;
		try {
			return await ask(...question);
		} finally {
			under--;
			heard = performance.now();
		}
	};
	const observer = new MutationObserver(() => (last = performance.now()));
	for (const part of ["#panes", "#node-panel", "#charts"]) observer.observe(document.querySelector(part), { subtree: true, childList: true, characterData: true, attributes: true });
	const steps = [];
	for (const step of [%s]) {
		const start = performance.now();
		last = heard = start;
		asked = 0;
		slider.value = step;
		slider.dispatchEvent(new Event("input", { bubbles: true }));
		do await new Promise((is) => setTimeout(is, 10));
		while (under > 0 || document.querySelector("#panes[aria-busy]") || performance.now() - Math.max(last, heard) < 80);
		steps.push({ took: last - start, asked, scale: document.querySelector("#overlay-scale").textContent });
	}
	observer.disconnect();
	window.fetch = ask;
	return steps;
})()`

// scrubAbout moves the slider to n of the steps, by chance, and gives how many milliseconds each
// took, in order; most is how many requests a step may take.
func (p *tab) scrubAbout(n, steps, most int) []float64 {
	p.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var to []string
	for len(to) < n {
		if step := fmt.Sprint(rng.IntN(steps)); len(to) == 0 || step != to[len(to)-1] {
			to = append(to, step)
		}
	}
	type moment struct {
		Took  float64
		Asked int
		Scale string
	}
	var took []float64
	for i, m := range eval[[]moment](p, fmt.Sprintf(scrubbing, strings.Join(to, ", "))) {
		took = append(took, m.Took)
		if i > 0 && m.Asked > most { // at first the details are those of another step
			p.Errorf("step %s takes %d requests, more than %d", to[i], m.Asked, most)
		}
		if !strings.Contains(m.Scale, "at step "+to[i]+";") {
			p.Errorf("at step %s the drawing says %q", to[i], m.Scale)
		}
	}
	if said := strings.ReplaceAll(p.text("#step-shown"), "\u202f", ""); !strings.HasPrefix(said, "step "+to[n-1]+" of ") {
		p.Errorf("at the end it says %q, not step %s", said, to[n-1])
	}
	slices.Sort(took)
	p.Logf("milliseconds to another step: median %.0f, nine of ten within %.0f, most %.0f", took[n/2], took[n*9/10], took[n-1])
	return took
}

// withinReach fails unless the median of what is measured is below a limit in one of three times:
// other work of the machine may take a while.
func (p *tab) withinReach(limit float64, measure func() []float64) {
	p.Helper()
	for again := range 3 {
		took := measure()
		median := took[len(took)/2]
		switch {
		case again == 0 && took[0] <= 0:
			p.Error("a step changes nothing")
			return
		case median < limit:
			return
		case again == 2:
			p.Errorf("the median is %.0f ms, not below %.0f", median, limit)
		}
	}
}

// withGradients shows the lengths of the gradients.
func (p *tab) withGradients() {
	p.do(chromedp.SetValue("#overlay", "grad"), chromedp.Evaluate(`document.querySelector("#overlay").dispatchEvent(new Event("change", { bubbles: true }))`, nil))
	p.still()
}

// TestScrub: of 2000 steps, another one is shown soon: drawing with the lengths of the gradients,
// values, loss and scatter, each asked for once. How soon is logged.
func TestScrub(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "--data", "iris")
	p.still()
	p.train(2000)
	p.clickNode("α", 1)
	p.settle("α")
	p.withGradients()
	p.withinReach(100, func() []float64 { return p.scrubAbout(40, 2000, 5) })
}

// TestScrubLarge: the same of a transformer of 12 layers, in at most twice the time.
func TestScrubLarge(t *testing.T) {
	p := open(t, 1440, 900, "transformer-gpt{layers=12}")
	p.still()
	p.train(20)
	p.withGradients()
	p.withinReach(200, func() []float64 { return p.scrubAbout(20, 20, 4) })
}
