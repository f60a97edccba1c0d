package browser

import (
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestIdentity uses the identity as controls: at λ = 1 the objective between is soft k-means and at
// λ = 0 the goofy alternative, number by number, and the terms that are shown are the server's.
func TestIdentity(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris", "--dtype", "f64")
	p.still()
	p.do(chromedp.SetValue("#steps", "20"), chromedp.Click("#train"))
	p.trained(20)
	p.do(chromedp.Click(".terms-of > summary"))
	p.until("the terms", `document.querySelectorAll(".terms tbody tr").length === 2`)
	type losses struct{ Loss []float64 }
	for i, c := range []struct {
		λ    string
		like string
	}{{"1", "d1"}, {"0", "d2"}} {
		p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.querySelector("#lambda"); s.value = %s; for (const e of ["input", "change"]) s.dispatchEvent(new Event(e, { bubbles: true })); })()`, c.λ), nil))
		p.until("λ = "+c.λ, fmt.Sprintf(`document.querySelector(".between > output").textContent.startsWith("λ = %s.00") && document.querySelectorAll("#documents li").length === 3 && document.querySelectorAll(".terms tbody tr").length === 3`, c.λ))
		p.still()
		between := ask[losses](p, fmt.Sprintf("/api/docs/d%d/history", 3+i)).Loss
		whole := ask[losses](p, "/api/docs/"+c.like+"/history").Loss
		if len(between) != 20 || len(whole) != 20 {
			t.Fatalf("λ = %s: %d and %d losses", c.λ, len(between), len(whole))
		}
		for step := range whole {
			if math.Abs(between[step]-whole[step]) > 1e-9*whole[step] {
				t.Errorf("λ = %s, step %d: the loss is %v, and that of the whole objective %v", c.λ, step, between[step], whole[step])
			}
		}
		p.picture("identity-" + c.λ)
	}
	terms := ask[struct {
		Soft, Goofy, Spread struct{ Value, Gradient float64 }
	}](p, "/api/docs/d1/terms?step=20")
	first := p.text(".terms tbody tr td:nth-child(2)")
	if !near(first, terms.Soft.Value) {
		t.Errorf("soft is shown as %s, and is %v", first, terms.Soft.Value)
	}
	// What was changed beside Train is that of the objective between, too.
	p.plan(0, "rate", "cosine(0.05,60)")
	p.until("the rate", `document.querySelector("#plan-said").textContent.includes("is now cosine(0.05,60)")`)
	p.plan(0, "γ", "0.5..20")
	p.until("γ", `document.querySelector("#plan-said").textContent.includes("is now 0.5..20")`)
	p.still()
	p.train(20)
	p.do(chromedp.Evaluate(`(() => { const s = document.querySelector("#lambda"); s.value = 1; for (const e of ["input", "change"]) s.dispatchEvent(new Event(e, { bubbles: true })); })()`, nil))
	p.until("λ = 1 again", `document.querySelector(".between > output").textContent.startsWith("λ = 1.00") && document.querySelector(".between > output").textContent.includes("trained to step 20")`)
	p.still()
	ids := eval[[]string](p, `[...document.querySelectorAll("#documents [data-doc]")].map((e) => e.dataset.doc)`)
	whole, between := ask[losses](p, "/api/docs/"+ids[0]+"/history").Loss, ask[losses](p, "/api/docs/"+ids[len(ids)-1]+"/history").Loss
	if len(whole) != 20 || len(between) != 20 || math.Abs(between[19]-whole[19]) > 1e-9*whole[19] {
		t.Errorf("with other schedules the losses are %v, and those of the whole objective %v", between, whole)
	}
}
