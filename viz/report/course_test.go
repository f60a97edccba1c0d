package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// told is a curve as the data tells it.
type told struct {
	Step  []int
	Value []*float64
}

// toldPage has the curves in the page's data.
type toldPage struct {
	Setup    struct{ Gamma told }
	Variants []toldMethod
}

type toldMethod struct {
	Runs  []struct{ Loss, Inertia, Spread, Movement, Angle *told }
	Paths []struct {
		Step  []int
		Value [][2]*float64
	}
}

func tell(t *testing.T, p Page) (got toldPage, text string) {
	t.Helper()
	text = render(t, p)
	if err := json.Unmarshal([]byte(jsonText.FindStringSubmatch(text)[1]), &got); err != nil {
		t.Fatal(err)
	}
	return got, text
}

// holds complains about points that are not the curve's, and about a missing end or extreme.
func (c told) holds(v []float64, at []int) error {
	if len(c.Step) != len(c.Value) || !slices.IsSorted(c.Step) {
		return fmt.Errorf("%d steps, ascending or not, for %d values", len(c.Step), len(c.Value))
	}
	index := map[int]int{}
	for i := range v {
		step := i
		if at != nil {
			step = at[i]
		}
		index[step] = i
	}
	var seen []int
	for k, step := range c.Step {
		i, is := index[step]
		if !is {
			return fmt.Errorf("step %d was not measured", step)
		}
		seen = append(seen, i)
		if got := c.Value[k]; got == nil != !finite(v[i]) || got != nil && !(math.Abs(*got-v[i]) <= 5e-7*math.Abs(v[i])) {
			return fmt.Errorf("step %d: %v, not %v", step, got, v[i])
		}
	}
	if seen[0] != 0 || seen[len(seen)-1] != len(v)-1 {
		return fmt.Errorf("from %d to %d of %d", seen[0], seen[len(seen)-1], len(v))
	}
	for part := range parts { // no number of a part is outside the range of those kept
		all := v[part*len(v)/parts : (part+1)*len(v)/parts]
		var of []float64
		gap := false
		for _, i := range seen {
			if i >= part*len(v)/parts && i < (part+1)*len(v)/parts {
				of = append(of, v[i])
				gap = gap || !finite(v[i])
			}
		}
		want, got := finites(all), finites(of)
		if len(want) == 0 != (len(got) == 0) || len(want) > 0 && (want[0] != got[0] || want[len(want)-1] != got[len(got)-1]) {
			return fmt.Errorf("part %d: %v of %v", part, got, want)
		}
		if gap != (len(want) < len(all)) {
			return fmt.Errorf("part %d: a gap is told: %v", part, gap)
		}
	}
	return nil
}

// TestCoursesHoldWhatTheyTell checks that every number of a curve keeps its own step, and that
// dropped numbers lie between kept ones.
func TestCoursesHoldWhatTheyTell(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 2 * parts, 2*parts + 1, 1001, 4001} {
		v, at := make([]float64, n), make([]int, n)
		way := make([][2]float64, n)
		for i := range v {
			v[i], at[i] = rng.NormFloat64()*math.Pow(10, float64(rng.IntN(9)-4)), 4*i
			if rng.IntN(50) == 0 {
				v[i] = math.NaN()
			}
			way[i] = [2]float64{v[i], rng.Float64()}
		}
		p := fake()
		r := &p.Variants[0].Runs[0]
		r.Loss, r.Inertia, r.Spread, r.Movement, r.Angle, r.At = v, v, v, v, v, at
		r.Inertia = slices.Clone(v)
		r.Inertia[n-1] = -1e9 // makes it the best
		p.Setup.Gamma, p.Variants[0].Paths[0] = v, way
		got, text := tell(t, p)
		run := got.Variants[0].Runs[0]
		for _, c := range []struct {
			name string
			told *told
			v    []float64
			at   []int
		}{{"γ", &got.Setup.Gamma, v, nil}, {"loss", run.Loss, v, nil}, {"movement", run.Movement, v, nil},
			{"inertia", run.Inertia, r.Inertia, at}, {"spread", run.Spread, v, at}, {"angle", run.Angle, v, at}} {
			if err := c.told.holds(c.v, c.at); err != nil {
				t.Errorf("%d points: %s: %v", n, c.name, err)
			}
		}
		path := got.Variants[0].Paths[0]
		for k := range 2 {
			var one told
			var whole []float64
			for i := range way {
				whole = append(whole, way[i][k])
			}
			for i, step := range path.Step {
				if path.Value[i][k] != nil || finite(whole[step/4]) {
					one.Step, one.Value = append(one.Step, step), append(one.Value, path.Value[i][k])
				}
			}
			for i, step := range one.Step {
				if w := whole[step/4]; math.Abs(*one.Value[i]-w) > 5e-7*math.Abs(w) {
					t.Errorf("%d points: path at step %d: %v, not %v", n, step, *one.Value[i], w)
				}
			}
			if last := path.Step[len(path.Step)-1]; path.Step[0] != 0 || last != at[n-1] {
				t.Errorf("%d points: the path goes from step %d to %d", n, path.Step[0], last)
			}
		}
		if said := strings.Contains(text, "the least and the greatest"); said != (n > 2*parts) {
			t.Errorf("%d points: the page says that it leaves some out: %v", n, said)
		}
	}
}

var fromStep = regexp.MustCompile(`from step ([\d,]+) on for ([\pL -]+?)[ .,]`)

// TestNamedStepsAreHeld: the data holds the numbers of every step that the page names.
func TestNamedStepsAreHeld(t *testing.T) {
	p := fakeOf(3, 1000, "soft", "goofy")
	for v := range p.Variants {
		for s := range p.Variants[v].Runs {
			for i := range p.Variants[v].Runs[s].Inertia {
				p.Variants[v].Runs[s].Inertia[i] = 80 + 500*math.Exp(-float64(i)/float64(90+40*v)) + math.Sin(float64(i*(s+1)))/100
			}
		}
	}
	got, text := tell(t, p)
	said := fromStep.FindAllStringSubmatch(text, -1)
	if len(said) != 2 {
		t.Fatalf("the page names %q", said)
	}
	for v, m := range said {
		step, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil || step == 0 {
			t.Fatalf("%q: step %d, %v", m[0], step, err)
		}
		for _, r := range got.Variants[v].Runs {
			for _, c := range []*told{r.Inertia, r.Spread, r.Loss} {
				if !slices.Contains(c.Step, step) {
					t.Errorf("%s: the page names step %d, which the data leaves out", p.Variants[v].Name, step)
				}
			}
		}
	}
}

// TestSparseMeasures checks that values measured every few steps are shown and stored with their
// steps, and refused without them.
func TestSparseMeasures(t *testing.T) {
	p := fake()
	r := &p.Baselines[1].Runs[0]
	r.Inertia, r.Spread, r.Angle, r.At = []float64{90, 85, 78}, nil, nil, []int{0, 40, 97}
	page := render(t, p)
	if !strings.Contains(page, "in its best run: 90 at 0 to 78 at 97.") {
		t.Error("the card does not tell the steps of its inertias")
	}
	r.At = r.At[:2]
	if err := p.Write(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), "the steps [0 40] of 3 inertias: want as many, ascending") {
		t.Errorf("error %v", err)
	}
}
