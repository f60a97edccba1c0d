package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// several is a page of models that were trained at three settings, the last of which
// diverges for the last model.
func several() Page {
	p := besides()
	p.Matrix.Settings = []string{"adam(0.1)", "sgd(0.1)", "sgd(9)"}
	for v := range p.Variants {
		var row []Outcome
		for s := range p.Matrix.Settings {
			o := Outcome{End: Spread{Median: .5 + float64(s), Q1: .25, Q3: .75, Mean: .5, Half: .012345}, Steps: float64(10 * (s + 1)), Best: s == v%2, Verdict: fmt.Sprint("verdict ", s)}
			for x := range 9 {
				y := float64(20-x) / float64(1+s)
				o.Loss.X, o.Loss.Median = append(o.Loss.X, float64(x)), append(o.Loss.Median, y)
				o.Loss.Lo, o.Loss.Hi = append(o.Loss.Lo, y-1), append(o.Loss.Hi, y+1)
			}
			row = append(row, o)
		}
		p.Matrix.Outcomes = append(p.Matrix.Outcomes, row)
	}
	last := &p.Matrix.Outcomes[2][2]
	last.End = Spread{Median: math.Inf(1), Q1: .25, Q3: math.Inf(1), Mean: math.Inf(1), Half: math.NaN()}
	last.Steps, last.Diverged, last.Verdict = math.Inf(1), 2, ""
	for i := range last.Loss.Median {
		last.Loss.Median[i] *= math.Pow(10, float64(i))
	}
	p.Matrix.Metrics = []Metric{
		{"loss of one layer", []Spread{{Median: .125}, {Median: math.NaN()}, {Median: math.Inf(1)}}, []string{"a", "", "b"},
			[]Pair{{A: 0, B: 2, Mean: .5, Error: .1, Half: .25, P: .0001, Beyond: true}}},
		{"agreement ↑", []Spread{{Median: 1}, {Median: 2}, {Median: math.Inf(-1)}}, []string{"ab", "a", "b"}, nil},
	}
	return p
}

func TestMatrix(t *testing.T) {
	page := render(t, several())
	for _, part := range []string{
		`id="settings"`, `id="judged"`, `id="chart-setting-3-title"`,
		"3\u00a0settings were tried.", "one layer with adam(0.1), two layers with sgd(0.1) and three layers with adam(0.1)",
		"2\u00a0trainings diverged",
		`<th scope="row">adam(0.1)</th><td class="shade-1">verdict 0</td><td class="shade-1">0.5</td><td class="shade-1">0.25…0.75</td><td class="shade-1">0.5 ± 0.012</td><td class="shade-1">10</td>`,
		`<th scope="row">sgd(9)</th><td>2 of 3 diverged</td><td>–</td><td>0.25…–</td><td>–</td><td>never</td>`,
		`<th scope="row">one layer</th><td class="shade-1">0.125 a</td><td class="shade-1">1 ab</td>`,
		`<th scope="row">two layers</th><td>–</td><td class="shade-1">2 a</td>`,
		`<th scope="row">three layers</th><td>– b</td><td>– b</td>`,
		"Every pair by every metric", `<th scope="row">three layers − one layer</th><td>0.5 ± 0.25</td><td>&lt; 0.001</td><td>yes</td>`,
		`"Settings":["adam(0.1)","sgd(0.1)","sgd(9)"]`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	for _, complaint := range complaints(page) {
		t.Error(complaint)
	}
	// What diverges leaves the axis, which the others share: from 5.67 − 1 to 21.
	if strings.Contains(page, "10⁶") {
		t.Error("the axis covers what diverges")
	}
	one := several()
	one.Matrix.Settings = one.Matrix.Settings[:1]
	for v := range one.Matrix.Outcomes {
		one.Matrix.Outcomes[v] = one.Matrix.Outcomes[v][:1]
		one.Matrix.Outcomes[v][0].Best = true
	}
	if page := render(t, one); strings.Contains(page, `id="settings"`) || strings.Contains(page, "were tried") || !strings.Contains(page, `id="judged"`) {
		t.Error("one setting is shown as a matrix, or the metrics are gone")
	}
	if page := render(t, besides()); strings.Contains(page, `id="judged"`) || strings.Contains(page, `"Matrix"`) {
		t.Error("a page without a matrix has one")
	}
}

func TestMatrixCheck(t *testing.T) {
	for want, spoil := range map[string]func(m *Matrix){
		"2 rows for 3 variants":                              func(m *Matrix) { m.Outcomes = m.Outcomes[:2] },
		"row 1: 2 numbers for 3 settings":                    func(m *Matrix) { m.Outcomes[1] = m.Outcomes[1][:2] },
		"variant 2: 0 best settings, not one":                func(m *Matrix) { m.Outcomes[2][0].Best = false },
		"variant 0, setting 1: curves of different lengths":  func(m *Matrix) { m.Outcomes[0][1].Loss.Hi = nil },
		"a metric has no name":                               func(m *Matrix) { m.Metrics[0].Name = "" },
		`"agreement ↑": 3 values and 2 marks of 3 variants`:  func(m *Matrix) { m.Metrics[1].Marks = m.Metrics[1].Marks[:2] },
		`"loss of one layer": pair 0: variants 0 and 3 of 3`: func(m *Matrix) { m.Metrics[0].Pairs[0].B = 3 },
	} {
		p := several()
		spoil(&p.Matrix)
		if err := p.Write(&strings.Builder{}); err == nil || err.Error() != "report: matrix: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Further drawings stand below the first, each with its own name and number.
func TestDrawings(t *testing.T) {
	p := besides()
	for _, id := range []string{"one", "two"} {
		p.Drawings = append(p.Drawings, Drawing{SVG: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title id="` + id + `">` + id + `</title></svg>`, Of: "the graphs " + id, Footer: "+1"})
	}
	page := render(t, p)
	for _, part := range []string{"The graphs of the graphs one side by side. &#43;1.", "<b>Figure 3.</b> The graphs of the graphs two", "What two objectives share"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	p.Drawings[1].SVG = "<svg><script></script></svg>"
	if err := p.Write(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), "drawing: ") {
		t.Errorf("a drawing with a script is taken: %v", err)
	}
}
