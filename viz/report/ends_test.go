package report

import (
	"math"
	"strings"
	"testing"
)

// A page without inertias says where the losses end and which differences exceed the
// noise.
func TestByLoss(t *testing.T) {
	page := render(t, besides())
	for _, part := range []string{
		"All were trained on the same task.",
		"in the median over the seeds, ", "one layer ends at 0.625 (between 0.5 and 0.75)",
		"Two layers ends below one layer by 0.25.",
		"<td>−0.25</td><td>0.01</td><td>yes</td>", "<td>0.5</td><td>0.4</td><td>no</td>", "<td>0.75</td><td>–</td><td>–</td>",
		"parameters: one layer 60, two layers 61, three layers 62.",
		"loss at the end", `"End":0.625`, `"Params":61`,
	} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(part)) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if p := fake(); p.byLoss() || p.measure() != "inertia" || strings.Contains(render(t, p), `"End":`) {
		t.Error("a page of centres is judged by its losses")
	}
	none := besides()
	none.Pairs[0].Beyond = false
	if !strings.Contains(render(t, none), "No difference exceeds the noise.") {
		t.Error("the page does not say that nothing exceeds the noise")
	}
	alone := besides()
	alone.Variants, alone.Pairs = alone.Variants[:1], nil
	alone.Variants[0].Runs = alone.Variants[0].Runs[:1]
	if page := render(t, alone); strings.Contains(page, "Student") || strings.Contains(page, "median over") {
		t.Error("one run alone is compared")
	}
	spoiled := besides()
	for _, m := range spoiled.Variants {
		for i := range m.Runs {
			m.Runs[i].End, m.Runs[i].Loss[0] = math.NaN(), math.Inf(1)
		}
	}
	for _, complaint := range complaints(render(t, spoiled)) {
		t.Error(complaint)
	}
}

func TestByLossCheck(t *testing.T) {
	for want, spoil := range map[string]func(p *Page){
		`method "one layer": seed 1: no inertia and no loss`: func(p *Page) { p.Variants[0].Runs[1].Loss = nil },
		`method "two layers": seed 0: no inertia`: func(p *Page) {
			p.Variants[0].Runs[0].Inertia = []float64{1}
			p.Variants[0].Runs = p.Variants[0].Runs[:1]
		},
		`pair 1: variants 0 and 3 of 3`: func(p *Page) { p.Pairs[1].B = 3 },
		`pair 2: variants 1 and 1 of 3`: func(p *Page) { p.Pairs[2].B = 1 },
	} {
		p := besides()
		spoil(&p)
		if err := p.Write(&strings.Builder{}); err == nil || err.Error() != "report: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
