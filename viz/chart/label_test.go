package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestApart(t *testing.T) {
	for _, test := range []struct{ ideal, want []float64 }{
		{nil, []float64{}},
		{[]float64{50}, []float64{50}},
		{[]float64{20, 40}, []float64{20, 40}},
		{[]float64{50, 50}, []float64{45, 55}},
		{[]float64{50, 50, 50, 90}, []float64{40, 50, 60, 90}},
		{[]float64{0, 0}, []float64{0, 10}},
		{[]float64{99, 100, 100}, []float64{80, 90, 100}},
	} {
		if got := apart(test.ideal, 10, 0, 100); !slices.Equal(got, test.want) {
			t.Errorf("apart(%v) = %v, want %v", test.ideal, got, test.want)
		}
	}
}

func TestApartAlways(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		ideal := make([]float64, rng.IntN(11))
		for i := range ideal {
			ideal[i] = 100 * rng.Float64()
		}
		slices.Sort(ideal)
		for i, y := range apart(ideal, 10, 0, 100) {
			if got := apart(ideal, 10, 0, 100); y < -1e-9 || y > 100+1e-9 || i > 0 && y-got[i-1] < 10-1e-9 {
				t.Fatalf("apart(%v) = %v", ideal, got)
			}
		}
	}
}

// texts are the texts of a chart that is drawn.
func texts(t *testing.T, d drawing) []element {
	_, all := render(t, d)
	return slices.DeleteFunc(all, func(e element) bool { return e.name != "text" })
}

// Names stand beside the lines where there is room, else in a legend; either way
// each is there once, and faint lines have none.
func TestNames(t *testing.T) {
	for id, beside := range map[string]bool{"inertia": true, "few": true, "legend": false, "crowded": false} {
		l := gallery()[id].(Lines)
		for _, s := range l.Series {
			n := 0
			for _, e := range texts(t, l) {
				if e.text != s.Name {
					continue
				}
				n++
				if coloured := e.attr["font-weight"] == "600"; coloured != beside {
					t.Errorf("%s: %q beside its line: %v, want %v", id, s.Name, coloured, beside)
				}
			}
			if want := 1 - map[bool]int{true: 1}[s.Faint]; n != want {
				t.Errorf("%s: %q occurs %d times, want %d", id, s.Name, n, want)
			}
		}
	}
}

// Two marks at nearly the same place are both named.
func TestMarksAreNamed(t *testing.T) {
	n := 0
	for _, e := range texts(t, gallery()["inertia"]) {
		if strings.Contains(e.text, "converged") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d marks have names", n)
	}
}

// desc is a chart's description.
func desc(t *testing.T, d drawing) string {
	_, all := render(t, d)
	for _, e := range all {
		if e.name == "desc" {
			return e.text
		}
	}
	return all[0].attr["aria-label"]
}

func TestDescriptions(t *testing.T) {
	nan := math.NaN()
	f := Frame{ID: "c", Title: "t", Desc: "It falls."}
	for _, test := range []struct {
		d    drawing
		want string
	}{
		{Lines{Frame: f, X: "step", Y: "loss", LogY: true,
			Series: []Series{{Name: "a", Y: []float64{5, 1, 7, 2}}, {Y: []float64{3, 0}}, {Name: "c", Y: []float64{nan}}, {Y: []float64{1}, Faint: true}},
			Rules:  []Rule{{"best", 1.5}}, Marks: []Mark{{"here", 2, 7, 0}}},
			"It falls. Line chart of loss (logarithmic) against step. a: 5 at 0 to 2 at 3, lowest 1, highest 7. 3 at 0. c: no finite data. " +
				"1 faint line of single runs. Level best: 1.5. Marked here: 7 at 2. 2 points not shown (not finite or ≤ 0)."},
		{Scatter{Frame: f, X: "x", Y: "y", Points: [][2]float64{{1, 2}, {nan, 1}}, ClassNames: []string{"rose"},
			Paths: []Path{{"a", 0, [][2]float64{{1, 1}, {2, 3.5}, {nan, 1}}}, {"b", 1, nil}}},
			"It falls. Scatter plot of y against x. rose: 2 points. a: from (1, 1) to (2, 3.5). b: no finite data. 2 points not shown (not finite)."},
		{Bars{Frame: f, Series: []string{"a", "b"}, Rows: []Row{{"time", "ms", []float64{1.5, nan}}}},
			"It falls. Bar chart. time: a 1.5\u00a0ms, b no value."},
		{Bars{Frame: f, Series: []string{"a"}}, "It falls. There is no finite data to draw."},
		{Sparkline{Name: "loss", Y: []float64{3, 1, 2}}, "loss: 3 at 0 to 2 at 2, lowest 1."},
	} {
		if got := desc(t, test.d); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestFaintNames: a faint line is in the legend if its name is the only one of its group, and is described.
func TestFaintNames(t *testing.T) {
	y := []float64{1, 2}
	l := Lines{Frame: Frame{ID: "c", Title: "t"}, Series: []Series{
		{Name: "median", Y: y}, {Name: "one of many", Y: y, Faint: true},
		{Name: "draws", Group: 1, Y: y, Faint: true}, {Group: 1, Y: y, Faint: true},
		{Name: "run 1", Group: 2, Y: y, Faint: true}, {Name: "run 2", Group: 2, Y: y, Faint: true},
		{Name: "nowhere", Group: 3, Y: []float64{math.NaN(), math.NaN()}, Faint: true},
	}}
	var names []string
	for _, k := range l.keys() {
		names = append(names, k.name)
	}
	if len(names) != 1 || names[0] != "draws" {
		t.Errorf("in the legend are %q, want draws alone", names)
	}
	if got := desc(t, l); !strings.Contains(got, "draws: 1 at 0 to 2 at 1.") || !strings.Contains(got, "4 faint lines of single runs.") {
		t.Errorf("it is described by: %s", got)
	}
}
