package report

import (
	"math"
	"strings"
	"testing"
)

// moving is a page of which runs of a variant have not converged.
func moving(variant int, runs ...int) Page {
	p := fake()
	for _, i := range runs {
		p.Variants[variant].Runs[i].Unsettled = "has not converged: it moved by 3 % of its size"
	}
	return p
}

// TestUnsettledIsSaid checks that numbers of runs that have not converged are marked wherever
// they stand beside others, and not used in ratios; if all have converged, the page says so.
func TestUnsettledIsSaid(t *testing.T) {
	const ratio, below = "times the spread", "above)"
	page := func(p Page) string {
		for i := range p.Variants[1].Runs {
			p.Variants[1].Runs[i].Spread[24] = 4 * last(p.Variants[0].Runs[i].Spread)
		}
		return render(t, p)
	}
	settled := page(fake())
	for _, s := range []string{ratio, below, "All runs have converged.", "A run has converged if nothing moves."} {
		if !strings.Contains(settled, s) {
			t.Errorf("where all have converged the page does not say %q", s)
		}
	}
	if strings.Contains(settled, "Not all runs") {
		t.Error("a run is said to move that does not")
	}
	moves := page(moving(1, 0, 2))
	for _, s := range []string{"Converged has goofy alternative in 1 of 3 runs", "1 of 3 of goofy alternative have converged", "<td>1 of 3</td>"} {
		if !strings.Contains(moves, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
	for id, what := range map[string]string{"agreement": "agreement", "centres": "centres", "baselines": "ends"} {
		_, part, _ := strings.Cut(moves, `<section id="`+id+`"`)
		part, _, _ = strings.Cut(part, "</section>")
		if !strings.Contains(part, "Not all runs have converged.") {
			t.Errorf("the table of %s does not say that runs move", what)
		}
	}
	if strings.Contains(moves, ratio) {
		t.Error("the page makes a ratio of spreads of which one moves")
	}
	if n := strings.Count(moves, below); n != strings.Count(settled, below)-1 {
		t.Errorf("%d comparisons with the best baseline", n)
	}
}

// TestNoRatioToNothing: a spread that is rounding, or of centres that have collapsed, is not
// compared with another, and the page says why.
func TestNoRatioToNothing(t *testing.T) {
	const ratio = "times the spread"
	with := func(end float64, groups int) string {
		p := fake()
		p.Setup.K, p.Data.Scale = 3, 2
		for i := range p.Variants[1].Runs {
			p.Variants[1].Runs[i].Spread[24] = end
			p.Variants[1].Runs[i].Groups = groups
		}
		return render(t, p)
	}
	if page := with(1e-6, 3); !strings.Contains(page, ratio) || strings.Contains(page, "is not said") {
		t.Error("no ratio of spreads that can be compared")
	}
	for _, c := range []struct {
		end    float64
		groups int
		want   string
	}{
		{7e-19, 3, "How many times the one is the other is not said: a spread of up to 4e−9, a billionth of the mean squared distance of the data from their mean, is a numerical zero."},
		{0, 3, "is a numerical zero."},
		{1e-6, 2, "How many times the one is the other is not said: not all runs have as many groups of points as centres."},
		{1e-6, 2, "Not all centres are in use: fewer groups of points than centres has goofy alternative in 3 of 3 runs."},
	} {
		if page := with(c.end, c.groups); strings.Contains(page, ratio) || !strings.Contains(page, c.want) {
			t.Errorf("a spread of %v in %d groups: the page does not say %q", c.end, c.groups, c.want)
		}
	}
}

// TestOptimaAreKeptApart: runs at different groupings are not counted as one, however close
// their inertias are.
func TestOptimaAreKeptApart(t *testing.T) {
	p := fake()
	p.Baselines[0].Optima = []Optimum{{78.851441426, 24}, {78.855666, 22}, {142.75, 4}}
	for range 45 {
		r := p.Baselines[0].Runs[0]
		r.Seed = uint64(100 + len(p.Baselines[0].Runs))
		p.Baselines[0].Runs = append(p.Baselines[0].Runs, r)
	}
	page := render(t, p)
	for _, s := range []string{"24 of 50 runs of Lloyd&#39;s algorithm came to rest at 78.85144, 22 at 78.85567 and 4 at 142.75", "<td>3</td><td>24 of 50</td>"} {
		if !strings.Contains(page, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
}

// TestCardsAreOfOneRun: every number of a card is of the run or the median that it names.
func TestCardsAreOfOneRun(t *testing.T) {
	p := fake()
	p.Variants[0].Runs[0].Spread[len(p.Variants[0].Runs[0].Spread)-1] = 0.0123 // of the best run alone
	page := render(t, p)
	_, cards, _ := strings.Cut(page, `<div class="cards">`)
	card, _, _ := strings.Cut(cards, "</article>")
	for _, s := range []string{"best of 3\u00a0runs, seed 0", "<dt>inertia</dt><dd><b>79", "<dt>final spread</dt><dd><b>0.0123"} {
		if !strings.Contains(card, s) {
			t.Errorf("the card does not say %q:\n%s", s, card)
		}
	}
	if strings.Contains(card, "median") {
		t.Errorf("the card mixes the median with a run:\n%s", card)
	}
}

// TestGammaAsFed checks that the caption of the drawing says which γ training feeds, and the
// effect of changing it.
func TestGammaAsFed(t *testing.T) {
	page := render(t, fake())
	for _, s := range []string{"γ is annealed from 0.33 to 66. ", "While γ changes, the objective itself does"} {
		if !strings.Contains(page, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
	p := fake()
	p.Setup.Schedule, p.Setup.Gamma = "constant 2", []float64{2, 2, 2}
	if page := render(t, p); strings.Contains(page, "While γ changes") || !strings.Contains(page, "γ is constant 2. ") {
		t.Error("a constant γ is said to change, or not said")
	}
}

// TestAgreementIsWhole: no place of the table of agreements is empty, for variants or
// baselines.
func TestAgreementIsWhole(t *testing.T) {
	_, part, _ := strings.Cut(render(t, fake()), `<section id="agreement"`)
	table, _, _ := strings.Cut(part, "</table>")
	if strings.Contains(table, "<td>–</td>") || strings.Count(table, "<td>itself</td>") != 4 {
		t.Errorf("the table has gaps:\n%s", table)
	}
}

// TestDivergedRuns: a run that diverged is above all others in every median, as in the terminal,
// and the page says so.
func TestDivergedRuns(t *testing.T) {
	p := fakeOf(3, 24, "A", "B")
	p.Baselines, p.Between, p.Sweeps = nil, nil, nil
	for i, diverged := range []bool{true, true, false} {
		r := &p.Variants[0].Runs[i]
		r.Inertia[24] = 1
		if diverged {
			r.Diverged, r.Loss, r.Unsettled = true, r.Loss[:20], "has not converged: it diverged"
		}
	}
	p.Variants[1].Runs[2].Diverged, p.Variants[1].Runs[2].Unsettled = true, "has not converged: it diverged"
	if v := p.Variants[0].typical(loss)[21]; !math.IsInf(v, 1) {
		t.Errorf("the median of the loss goes on at %v where two of three runs have diverged", v)
	}
	page := strings.ReplaceAll(render(t, p), "\u00a0", " ")
	for _, s := range []string{"A diverges (2 of 3 runs)", "1 of 3 runs diverged)",
		"Diverged has A in 2 of 3 runs and B in 1 of 3 runs: the loss exploded, or was no number any more."} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
}
