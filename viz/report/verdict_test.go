package report

import (
	"html"
	"strings"
	"testing"
)

// sectionOf returns the text of a section, without markup.
func sectionOf(t *testing.T, p Page, id string) string {
	t.Helper()
	_, part, found := strings.Cut(render(t, p), `<section id="`+id+`"`)
	if !found {
		return ""
	}
	part, _, _ = strings.Cut(part, "</section>")
	var b strings.Builder
	for i, piece := range strings.Split(part, "<") {
		if _, text, ok := strings.Cut(piece, ">"); ok && i > 0 {
			b.WriteString(text)
		}
	}
	return strings.ReplaceAll(html.UnescapeString(b.String()), "\u2011", "-")
}

// TestVerdict: the first section says what came out, and begins with what has not converged.
func TestVerdict(t *testing.T) {
	full := fake()
	full.Setup.K, full.Data.Scale = 3, 2
	for i := range full.Variants[1].Runs {
		full.Variants[1].Runs[i].Spread[24] *= 32
	}
	moving := fake()
	moving.Setup.K = 3
	moving.Variants[1].Runs[0].Unsettled = "it moves"
	equal := fake()
	for i := range equal.Variants[1].Runs {
		equal.Variants[1].Runs[i].Inertia = equal.Variants[0].Runs[i].Inertia
	}
	swapped := fake()
	swapped.Variants[0], swapped.Variants[1] = swapped.Variants[1], swapped.Variants[0]
	three := fakeOf(3, 24, "a", "b", "c")
	other := besides()
	unsettled := besides()
	unsettled.Setup.Test = "It moves."
	unsettled.Variants[0].Runs[0].Unsettled = "it moves"
	never := fake()
	never.Stationary[1].Points = never.Stationary[1].Points[1:2]
	other.Pairs = nil
	for _, c := range []struct {
		name string
		page Page
		want string
	}{
		{"settled", full, "Soft k-means ends tighter than goofy alternative on iris (inertia 79 and 79.6, medians over 3\u00a0seeds; the best of Lloyd's algorithm is 78.85), " +
			"and goofy alternative leaves 32\u00a0times the spread of soft k-means, the term by which the two objectives differ. Descents from 20\u00a0starts at γ = 3 come to one minimum under soft k-means and 15 different minima under goofy alternative."},
		{"moving", moving, "Not everything has come to rest: 1 of 3 runs of goofy alternative did not converge. What follows says where they were stopped, not where the objectives lead.\nSoft k-means is tighter than goofy alternative, where the runs were stopped, on iris (inertia 79 and 79.6, medians over 3\u00a0seeds; the best of Lloyd's algorithm is 78.85). Descents"},
		{"equal", equal, "Soft k-means and goofy alternative end equally tight on iris (inertia 79 and 79, "},
		{"swapped", swapped, "Soft k-means ends tighter than goofy alternative on iris (inertia 79 and 79.6, "},
		{"three", three, "In the median over 3\u00a0seeds on iris, a ends at an inertia of 79, b at 79.6 and c at 80.2; the best of Lloyd's algorithm is 78.85."},
		{"by loss", besides(), "In the median over 3\u00a0seeds, three layers ends at a loss of 0.125, two layers at 0.375 and one layer at 0.625. Two layers ends below one layer by 0.25."},
		{"no minimum", never, "come to one minimum under soft k-means and no minimum under goofy alternative."},
		{"by loss, moving", unsettled, "In the median over 3\u00a0seeds, where the runs were stopped, three layers is at a loss of 0.125, two layers at 0.375"},
		{"other tasks", other, "one layer at 0.625. The tasks differ, so that these losses are not compared."},
		{"one run", minimal(), "A ends at an inertia of 3."},
	} {
		if got := sectionOf(t, c.page, "verdict"); !strings.Contains(got, c.want) {
			t.Errorf("%s: the verdict is\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	page := render(t, full)
	if strings.Index(page, `id="verdict"`) > strings.Index(page, `id="summary"`) {
		t.Error("the verdict is not the first section")
	}
	for _, id := range []string{"chart-verdict-1", "chart-verdict-2"} {
		if !strings.Contains(page, `aria-labelledby="`+id+"-title") {
			t.Errorf("the verdict has no picture %s", id)
		}
	}
}

// TestGradients: the identity of the gradients with the deviation that was measured, what is left
// where each training ends, and a picture for each place.
func TestGradients(t *testing.T) {
	p := fake()
	got := sectionOf(t, p, "gradients")
	for _, want := range []string{
		"The gradient of soft k-means is that of goofy alternative and that of the spread. At 4\u00a0places in float64, the sum differs from it by at most 3e−16 of the largest element.",
		"Where soft k-means ends, its gradient has vanished (1e−9), and that of goofy alternative has not (4): it vanishes only because that of the spread cancels it.",
		"Where goofy alternative ends, its gradient has vanished (1e−9), and that of soft k-means has not (5): it is that of the spread, by which soft k-means would go on.",
		"along the way of goofy alternative, seed 1", "36.9°",
		"Along the way of soft k-means, step 24. The longest arrow is a gradient of 0.7071.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	if n := strings.Count(render(t, p), `aria-labelledby="chart-gradients-1-`); n != 4 {
		t.Errorf("%d pictures, want one for each place", n)
	}
	same := fake()
	for _, w := range same.Gradients[0].Ways {
		for i := range w.Stops {
			w.Stops[i].Lengths = [3]float64{4, 4, 0}
		}
	}
	if got := sectionOf(t, same, "gradients"); !strings.Contains(got, "Soft k-means and goofy alternative are one objective: at 4\u00a0places in float64, their gradients are the same.") || strings.Contains(got, "Table") {
		t.Errorf("of equal gradients the section says\n%s", got)
	}
	p.Gradients[0].Known, p.Gradients[0].Term = false, "their difference"
	if got := sectionOf(t, p, "gradients"); !strings.Contains(got, "that of goofy alternative and that of their difference.") {
		t.Errorf("the difference is not named:\n%s", got)
	}
}

// TestStationary: the numbers of minima, why the one has more, and the rows of the tables.
func TestStationary(t *testing.T) {
	p := fake()
	p.Data.Scale = 2
	got := sectionOf(t, p, "stationary")
	for _, want := range []string{
		"at γ = 3 from the same 20\u00a0starts, until its gradient vanished: soft k-means comes to one minimum (not at rest: 1 of 20 descents) and goofy alternative comes to 15 different minima (not at rest: 1 of 20 descents).",
		"At its minima the spread is from 0.002 to 0.01; at those of soft k-means, 0.001.",
		"At none of them is soft k-means at rest: there its gradient is that of the spread, whose length is 1.01.",
		"The 4\u00a0places reached least often are left out here",
		"Goofy alternative: a saddle of loss 1", "No start led there. Its 3\u00a0centres lie at 2\u00a0places. Its spread is 0.",
		"The centres at every minimum of goofy alternative together, over the data: 45, at 15\u00a0places.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	for v := range p.Stationary[1].Points {
		p.Stationary[1].Points[v].Onward = 1e-12
	}
	if got := sectionOf(t, p, "stationary"); strings.Contains(got, "At none of them") {
		t.Error("a gradient that vanishes is said not to")
	}
	p.Gradients[0].Known = false
	if got := sectionOf(t, p, "stationary"); strings.Contains(got, "asks only") {
		t.Error("the page explains minima by a spread that is not the difference")
	}
}

// TestWeights: both parts of a gradient and what the second does, with its share.
func TestWeights(t *testing.T) {
	got := sectionOf(t, fake(), "weights")
	for _, want := range []string{"−Σ Δα", "Σ γΔα(D−E[D])", "It pushes.", "soft k-means, seed 1", "25.0\u00a0%", "75.0\u00a0%"} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
}

// TestSoftest: what variants do at the smallest γ follows from where their centres lie.
func TestSoftest(t *testing.T) {
	p := fake()
	p.Data.Scale = 2 // all at the mean: 120
	got := sectionOf(t, p, "sweeps")
	for _, want := range []string{
		"At the smallest γ, 0.1, points share the centres most. The centres of soft k-means lie 0.5\u00a0times as far from the mean as the points do, and the entropy of the weights is 1 of at most 1.099: its inertia of 150 is above the 120 of centres that are all at the mean. The centres of goofy alternative lie 2.5\u00a0times as far",
		"With a small γ the weights change little from point to point",
		"From soft to hard, and other settings", "From γ = 0.1 to 10 the weights go from soft to hard: their entropy, of at most ln\u00a0k = 1.099, goes from 1 to 0.1 for soft k-means and from 1 to 0.1 for goofy alternative.",
		"Dotted level: the inertia if all centres were at the mean of the data, 120.",
		"The number of different minima that descents from the same 5\u00a0starts come to, with other values of γ.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
	p.Gradients[0].Known = false
	if got := sectionOf(t, p, "sweeps"); strings.Contains(got, "With a small γ the weights") {
		t.Error("the page explains an inertia by an objective that it does not know")
	}
	p.Sweeps[0].Inertia[0][0], p.Sweeps[0].Reach[0][0] = 119, .01
	p.Sweeps[0].Inertia[1][0] = 90
	got = sectionOf(t, p, "sweeps")
	for _, want := range []string{"nearly all at the mean, where the inertia is 120.", "its inertia is 90, against 120 with all centres at the mean."} {
		if !strings.Contains(got, want) {
			t.Errorf("the section does not say %q:\n%s", want, got)
		}
	}
}
