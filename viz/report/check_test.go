package report

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for want, spoil := range map[string]func(p *Page){
		`no variant to report on`:                                             func(p *Page) { *p = Page{} },
		`rows, k and steps must not be negative`:                              func(p *Page) { p.Setup.Steps = -1 },
		`a method has no name`:                                                func(p *Page) { p.Baselines[1].Name = "" },
		`two methods are named "hard SGD"`:                                    func(p *Page) { p.Variants[0].Name = "hard SGD" },
		`method "soft k-means": no runs`:                                      func(p *Page) { p.Variants[0].Runs = nil },
		`method "soft k-means": two runs of seed 0`:                           func(p *Page) { p.Variants[0].Runs[1].Seed = 0 },
		`method "soft k-means": seed 1: no inertia`:                           func(p *Page) { p.Variants[0].Runs[1].Inertia = nil },
		`method "hard SGD": 2 rows for 3 centres`:                             func(p *Page) { p.Baselines[1].Centres = p.Baselines[1].Centres[:2] },
		`method "hard SGD": row 1: 1 numbers for 4 features`:                  func(p *Page) { p.Baselines[1].Centres[1] = []float64{1} },
		`method "hard SGD": 1 rows for 3 classes`:                             func(p *Page) { p.Baselines[1].Counts = p.Baselines[1].Counts[:1] },
		`method "hard SGD": a negative count of points: -2`:                   func(p *Page) { p.Baselines[1].Counts[1][1] = -2 },
		`sweep 1 "k": inertia: 1 rows for 2 variants`:                         func(p *Page) { p.Sweeps[1].Inertia = p.Sweeps[1].Inertia[:1] },
		`sweep 0 "γ": loss: row 1: 2 numbers for 3 values`:                    func(p *Page) { p.Sweeps[0].Loss[1] = []float64{1, 2} },
		`sweep 0 "": the setting has no name`:                                 func(p *Page) { p.Sweeps[0].Name = "" },
		`plane: 2 classes for 30 points`:                                      func(p *Page) { p.Plane.Class = []int{0, 1} },
		`plane: point 3: the class 3 is not one of 3`:                         func(p *Page) { p.Plane.Class[3] = 3 },
		`agreement between methods: 1 rows for 4 methods`:                     func(p *Page) { p.Between = p.Between[:1] },
		`formula of "goofy alternative": the element <script> is not allowed`: func(p *Page) { p.Variants[1].Formula = "<script/>" },
		`equation 1 of "goofy alternative": the element <img> is not allowed`: func(p *Page) { p.Variants[1].Chain[1].Math = "<img/>" },
		`identity: XML syntax error on line 1: unexpected EOF`:                func(p *Page) { p.Difference.Identity = "<b>" },
		`drawing: 0 <svg> elements, not one`:                                  func(p *Page) { p.Drawing.SVG = "<!DOCTYPE svg>" },
	} {
		p := fake()
		spoil(&p)
		var b strings.Builder
		err := p.Write(&b)
		if err == nil || err.Error() != "report: "+want {
			t.Errorf("error %v, want %s", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", want, b.Len())
		}
	}
}

func TestWords(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ got, want string }{
		{number(nan), "–"}, {number(-inf), "–"}, {number(-2.5), "−2.5"}, {number(-1e-5), "−1e−5"}, {number(0), "0"},
		{percent(.0029), "0.29\u00a0%"}, {percent(.783), "78.3\u00a0%"}, {percent(2), "200\u00a0%"}, {percent(nan), "–"},
		{above(79.08, 78.85), "0.29\u00a0% above"}, {above(50, 100), "50.0\u00a0% below"}, {above(1.00005, 1), "the same to within 0.01\u00a0%"},
		{above(1, 0), "not comparable"}, {above(nan, 1), "not comparable"},
		{times(1.64), "1.6\u00a0times"}, {times(12.4), "12\u00a0times"}, {times(2.001), "2\u00a0times"},
		{count(1, "row"), "1\u00a0row"}, {count(0, "row"), "0\u00a0rows"},
		{list(nil), ""}, {list([]string{"a"}), "a"}, {list([]string{"a", "b"}), "a and b"}, {list([]string{"a", "b", "c"}), "a, b and c"},
		{capital("élan"), "Élan"}, {capital(""), ""},
		{label(" a\n\tb\x00"), "a b"}, {label("\u202e\u200f"), "unnamed"}, {label("\xff"), "\ufffd"}, {label("שלום"), "\u2068שלום\u2069"},
		{label(strings.Repeat("a", 30) + "-" + strings.Repeat("b", 40)), strings.Repeat("a", 30) + "…" + strings.Repeat("b", 29)},
		{clean("a\nb\tc\u2028d\uffff"), "a\nb\tc d "},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestMethod(t *testing.T) {
	nan := math.NaN()
	run := func(seed uint64, inertia ...float64) Run { return Run{Seed: seed, Inertia: inertia} }
	m := Method{Runs: []Run{run(1, nan), run(2, 9, 5), run(3, 8, 4, 4.0001), run(4, 4), run(5, 4, 3, 2, 4)}}
	if s := m.best().Seed; s != 4 {
		t.Errorf("the best run is of seed %d, want 4, the first of the smallest", s)
	}
	want := []float64{6, 4, 4.00005, 4.00005} // a run that has ended keeps its last value
	for i, v := range m.typical(inertia) {
		if math.Abs(v-want[i]) > 1e-12 {
			t.Errorf("median at step %d is %v, want %v", i, v, want[i])
		}
	}
	for _, c := range []struct {
		curve []float64
		step  int
		ok    bool
	}{{[]float64{5, 1, 2, 1.005, 1}, 3, true}, {[]float64{5, 1}, 1, false}, {[]float64{1, nan}, 0, false}, {nil, 0, false}, {[]float64{1, 1}, 0, true}, {[]float64{1, nan, 1, 1}, 2, true}} {
		if step, ok := settled(c.curve); step != c.step || ok != c.ok {
			t.Errorf("%v settles at %d, %v; want %d, %v", c.curve, step, ok, c.step, c.ok)
		}
	}
	if v := median([]float64{nan, 3, math.Inf(1), 1}); v != 3 {
		t.Errorf("median %v, want 3: what is infinite counts, what is not known does not", v)
	}
	if v := median(nil); !math.IsNaN(v) {
		t.Errorf("median of nothing %v", v)
	}
}

// TestPartlyMeasured takes each curve away from one variant, or shortens it to a
// point: the page tells of the other.
func TestPartlyMeasured(t *testing.T) {
	for name, curve := range map[string]func(r *Run) *[]float64{
		"loss":     func(r *Run) *[]float64 { return &r.Loss },
		"spread":   func(r *Run) *[]float64 { return &r.Spread },
		"movement": func(r *Run) *[]float64 { return &r.Movement },
		"angle":    func(r *Run) *[]float64 { return &r.Angle },
	} {
		for keep := range 2 {
			p := fake()
			for i := range p.Variants[0].Runs {
				v := curve(&p.Variants[0].Runs[i])
				*v = (*v)[:keep]
			}
			page := render(t, p)
			if c := complaints(page); c != nil {
				t.Errorf("%s cut to %d: %q", name, keep, c)
			}
			if !strings.Contains(page, `id="chart-`+name+`-title"`) {
				t.Errorf("%s cut to %d: no chart of the other variant", name, keep)
			}
		}
	}
}

// TestSentences changes numbers and checks what the page says of them.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		spoil func(p *Page)
		want  string
	}{
		{func(p *Page) {}, "the best run of goofy alternative reaches 79.6 (0.95\u00a0% above)"},
		{func(p *Page) { p.Variants[1].Runs[2].Inertia[24] = 70 }, "the best run of goofy alternative reaches 70 (11.2\u00a0% below)"},
		{func(p *Page) {}, "each from the same 3\u00a0seeds, for 24\u00a0steps"},
		{func(p *Page) {}, "goofy alternative ends at 79.6 (between 79.6 and 84.6)"},
		{func(p *Page) {}, "2 of 3 runs of soft k-means came to rest at 79 and 1 at 84.</p>"},
		{func(p *Page) { p.Variants[0].Optima = []Optimum{{60, 1}, {79, 1}, {80, 1}} }, "1 of 3 runs of soft k-means came to rest at 60, 1 at 79 and 1 at 80.</p>"},
		{func(p *Page) {
			p.Baselines[0].Optima = []Optimum{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}
		}, "1 of 5 runs of Lloyd&#39;s algorithm came to rest at 1, 1 at 2, 1 at 3 and 2 at 2\u00a0optima more.</p>"},
		{func(p *Page) { p.Variants[1].Cost.FLOPs = 3 * p.Variants[0].Cost.FLOPs }, "a step of goofy alternative takes 3\u00a0times what one of soft k-means takes"},
		{func(p *Page) {}, "between 60 (at\u00a0k\u00a0=\u00a04) and 150 (at\u00a0k\u00a0=\u00a02) for soft k-means"},
		{func(p *Page) { p.Plane.Share = [2]float64{.5, .25} }, "It holds 75.0\u00a0% of the variance"},
		{func(p *Page) {}, "right for 26 of 30 with soft k-means"},
		{func(p *Page) { p.Variants[0].Counts[0] = []int{0, 10, 0} }, "right for 17 of 30 with soft k-means"},
		{func(p *Page) {
			for i := range p.Variants[1].Runs {
				p.Variants[1].Runs[i].Spread[24] = 4 * last(p.Variants[0].Runs[i].Spread)
			}
		}, "In the end goofy alternative leaves 4\u00a0times the spread of soft k-means, median against median."},
		{func(p *Page) { p.Variants[0].Centres[1][2] += 3 }, "The centres of soft k-means lie between 0.006 and 3 from those of goofy alternative"},
		{func(p *Page) {}, "In the median over the seeds, the angle between the gradients at the same centres lies between 3° and 120°"},
		{func(p *Page) {
			for i := range p.Variants[0].Runs {
				p.Variants[0].Runs[i].Angle = []float64{12.2, 11.9}
			}
		}, "the angle between the gradients at the same centres is 12° along the way of soft k-means and lies between 3° and 120°"},
		{func(p *Page) { p.Plane.Share = [2]float64{1, 0} }, "It holds 100\u00a0% of the variance.</p>"},
		{func(p *Page) { p.Sweeps[1].Seeds = 3 }, "Inertia at the end of training, with other values of k. Each point: the median over 3 seeds."},
		{func(p *Page) { p.Sweeps[1].Seeds = 1 }, "Inertia at the end of training, with other values of k. Each point: one seed."},
		{func(p *Page) { *p = fakeOf(1, 24, "a", "b") }, "<p>The inertia stays within 1\u00a0% of its final value only at the end for a"},
		{func(p *Page) { *p = minimal() }, "All are judged by the inertia of where their centres end.</p>\n<p>A ends at 3.</p>"},
	} {
		p := fake()
		c.spoil(&p)
		if page := render(t, p); !strings.Contains(page, unbroken(c.want)) {
			t.Errorf("the page does not say %q", c.want)
		}
	}
}

// With one centre there is no spread: a logarithmic chart of it would be empty.
func TestNothingPositive(t *testing.T) {
	p := fake()
	for _, m := range p.Variants {
		for i := range m.Runs {
			clear(m.Runs[i].Spread)
			clear(m.Runs[i].Movement)
		}
	}
	page := render(t, p)
	for _, id := range []string{"spread", "movement"} {
		if strings.Contains(page, `id="chart-`+id+`-title"`) {
			t.Errorf("a chart of the %s, which is 0", id)
		}
	}
	if !strings.Contains(page, "it begins and ends at 0") {
		t.Error("the page does not say that the spread is 0")
	}
}

// The angle's axis is that of all angles, a count's has whole numbers only.
func TestTicks(t *testing.T) {
	page := render(t, fake())
	ticks := func(chart string) []string {
		_, after, _ := strings.Cut(page, `aria-labelledby="chart-`+chart+`-title`)
		svg, _, _ := strings.Cut(after, "</svg>")
		var all []string
		for _, m := range regexp.MustCompile(`font-size="12" text-anchor="(?:end|middle)">([\d.]+)</text>`).FindAllStringSubmatch(svg, -1) {
			all = append(all, m[1])
		}
		return all
	}
	if got := ticks("angle"); len(got) < 5 || !slices.Equal(got[:5], []string{"0", "45", "90", "135", "180"}) {
		t.Errorf("angle: ticks %v", got)
	}
	if got := ticks("sweep-2-inertia"); len(got) < 3 || !slices.Equal(got[len(got)-3:], []string{"2", "3", "4"}) {
		t.Errorf("k: ticks %v", got)
	}
	for _, v := range [][]float64{nil, {2, 2.5}, {2, math.NaN()}, {1e12}} {
		if got := (Sweep{Values: v}).ticks(); got != nil {
			t.Errorf("values %v: ticks %v", v, got)
		}
	}
}

func TestCostRow(t *testing.T) {
	for _, c := range []struct {
		seconds []float64
		unit    string
		first   float64
	}{{[]float64{17e-6, 2e-3}, "µs", 17}, {[]float64{2, 3}, "s", 2}, {[]float64{5e-10, 1}, "ns", .5}, {[]float64{0, 2e-3}, "ms", math.NaN()}, {[]float64{math.NaN()}, "s", math.NaN()}} {
		var ms []Method
		for _, s := range c.seconds {
			ms = append(ms, Method{Cost: Cost{Nodes: 1, Seconds: s}})
		}
		r := costRows(ms)[4]
		if r.Unit != c.unit || math.Abs(r.Values[0]-c.first) > 1e-9 || math.IsNaN(r.Values[0]) != math.IsNaN(c.first) {
			t.Errorf("%v is %v %s, want %v %s", c.seconds, r.Values[0], r.Unit, c.first, c.unit)
		}
	}
	if s := []int{shade(0, 9), shade(1, 9), shade(5, 9), shade(9, 9), shade(1, 0)}; s[0] != 0 || s[1] != 1 || s[2] != 3 || s[3] != 4 || s[4] != 0 {
		t.Errorf("shades %v", s)
	}
}
