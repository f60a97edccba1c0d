package report

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var cursorText = regexp.MustCompile(`(?s)<script type="application/json" id="cursors">(.*?)</script>`)

// cursorsOf returns the cursors of a page.
func cursorsOf(t *testing.T, p Page) []*cursor {
	t.Helper()
	var out []*cursor
	if err := json.Unmarshal([]byte(cursorText.FindStringSubmatch(render(t, p))[1]), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStops(t *testing.T) {
	for steps, want := range map[int]int{-1: 1, 0: 1, 1: 2, 24: 25, 100: 101, 1000: 99, 1 << 30: 101} {
		got := Stops(steps)
		if len(got) != want || got[0] != 0 || got[len(got)-1] != max(0, steps) || !slices.IsSorted(got) {
			t.Errorf("%d steps: %d stops, want %d: %v", steps, len(got), want, got)
		}
	}
}

// TestCursor: every chart of the steps follows, with the values of the page at each stop, and so do
// the centres of the variants and the points that they are nearest to.
func TestCursor(t *testing.T) {
	p := fake()
	for i := range p.Variants[0].Runs[0].Inertia { // ways of one centre, and then of another
		p.Variants[0].Paths = [][][2]float64{append(slices.Concat(p.Variants[0].Paths...), [2]float64{float64(i), 1})}
		a := Assignment{Step: i, Nearest: make([]int, 30)}
		p.Variants[0].Assigned = append(p.Variants[0].Assigned, a)
	}
	p.Variants[0].Paths = [][][2]float64{p.Variants[0].Paths[0][len(p.Variants[0].Paths[0])-25:], {{math.NaN(), 0}}, slices.Repeat([][2]float64{{1, 2}}, 25)}
	p.Variants[0].Assigned[3].Nearest[7] = 2
	all := cursorsOf(t, p)
	step := all[0]
	if step.Name != "step" || len(step.Stops) != 25 || step.Start != 24 || step.Notes[24] != "γ = 66" {
		t.Errorf("%+v", step)
	}
	var ids []string
	for _, c := range step.Charts {
		ids = append(ids, c.ID)
	}
	for _, want := range []string{"verdict-1", "spread", "loss", "inertia", "movement", "angle", "gamma", "weights", "plane"} {
		if !slices.Contains(ids, "chart-"+want) {
			t.Errorf("%s does not follow: %v", want, ids)
		}
	}
	for _, c := range step.Charts {
		switch c.ID {
		case "chart-inertia":
			line := c.Lines[1]
			for i := range step.Stops {
				if want := p.Variants[1].typical(inertia)[i]; math.Abs(line.Y[i].(float64)-want) > 1e-6*want {
					t.Errorf("inertia at %d: %v, want %v", i, line.Y[i], want)
				}
				if lo, hi := p.Variants[1].Runs[0].Inertia[i], p.Variants[1].Runs[2].Inertia[i]; math.Abs(line.Lo[i].(float64)-lo) > 1e-3 || math.Abs(line.Hi[i].(float64)-hi) > 1e-3 {
					t.Errorf("seeds at %d: %v to %v, want %v to %v", i, line.Lo[i], line.Hi[i], lo, hi)
				}
			}
			if line.At != nil || line.Range != "seeds" {
				t.Errorf("%v %v", line.At, line.Range)
			}
		case "chart-movement": // the last step moves nothing
			if at := c.Lines[0].At; len(at) != 25 || at[24] != 23. || at[5] != 5. {
				t.Errorf("movement is known at %v", at)
			}
		case "chart-verdict-1":
			if len(c.Marks) != 2 { // that without a finite place is not drawn
				t.Errorf("%d marks", len(c.Marks))
			}
			if got := fmt.Sprint(c.Marks[0][3], c.Marks[1][3]); got != "[3 1] [1 2]" {
				t.Errorf("at stop 3 the marks are at %s", got)
			}
			if c.Nearest != nil {
				t.Error("points are joined to what is not drawn")
			}
		}
	}
	p.Variants[0].Paths[1] = p.Variants[0].Paths[0]
	for _, c := range cursorsOf(t, p)[0].Charts {
		if c.ID == "chart-verdict-1" && (len(c.Nearest) != 25 || !reflect.DeepEqual(c.Nearest[2:6], [][]int{{}, {7, 2}, {7, 0}, {}})) {
			t.Errorf("nearest: %v", c.Nearest)
		}
	}
}

// TestSweepCursor: the slider of a sweep stops at its values, and shows where the best runs ended.
func TestSweepCursor(t *testing.T) {
	p := fake()
	p.Setup.Gamma = []float64{.3, 9}
	for v := range p.Variants {
		var row []End
		for i := range p.Sweeps[0].Values {
			row = append(row, End{Seed: 1, Inertia: 80 + float64(i), Loss: .5, Spread: .1, Unsettled: i == 0, At: [][2]float64{{float64(i - 9*v), 0}, {1, 1}}, Nearest: slices.Repeat([]int{i % 2}, 30)})
		}
		p.Sweeps[0].Ends = append(p.Sweeps[0].Ends, row)
	}
	γ := cursorsOf(t, p)[1]
	if γ.Name != "γ" || γ.Start != 2 || !reflect.DeepEqual(γ.Notes, []string{"soft k‑means has not converged, goofy alternative has not converged", "", ""}) {
		t.Errorf("%+v", γ)
	}
	for _, c := range γ.Charts[:2] {
		if !c.Bare || len(c.Marks) != 2 || c.Lines[0].Y[1] != 81. || len(c.Nearest[1]) != 60 {
			t.Errorf("%+v", c)
		}
		for _, mark := range c.Marks {
			for _, q := range mark {
				if x := c.X.At(q[0].(float64)); x < min(c.X.From, c.X.To) || x > max(c.X.From, c.X.To) {
					t.Errorf("%s: %v lies outside of the plot", c.ID, q)
				}
			}
		}
	}
	text := sectionOf(t, p, "sweeps")
	for _, want := range []string{"at each of 3 values of γ, first at γ = 10: inertia 82, loss 0.5, spread 0.1.", "In the runs of the other sections γ is annealed from 0.33 to 66."} {
		if !strings.Contains(text, strings.Replace(want, "first at γ = 10", "first at 10", 1)) {
			t.Errorf("%q is not in %.900s", want, text)
		}
	}
	for _, spoil := range []func(){
		func() { p.Sweeps[0].Ends[0][1].Nearest[3] = 2 },
		func() { p.Sweeps[0].Ends[0][1].Nearest = []int{0} },
		func() { p.Sweeps[0].Ends[0][1].At = nil },
		func() { p.Sweeps[0].Ends = p.Sweeps[0].Ends[:1] },
	} {
		spoil()
		if err := p.check(); err == nil {
			t.Error("a contradiction is no error")
		}
	}
}
