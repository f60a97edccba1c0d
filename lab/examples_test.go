package lab_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// Models with the same inputs have one task, whoever comes first; another name, and it
// is another task. Only what has the same task is compared by its own loss, seed by
// seed.
func TestCompareTasks(t *testing.T) {
	a, b, other := line("a", "", false), line("b", "", true), line("c", "′", false)
	p := lab.Config{Seeds: 5, Steps: 200, Optimisers: []train.Optimiser{train.SGD(0.1)}}
	res := compared(t, p, absolute("none of its own"), lab.Objective("", a), lab.Objective("", b), lab.Objective("", other))
	if !res.SameTask(0, 1) || !res.SameTask(1, 2) || res.SameTask(1, 3) {
		t.Errorf("tasks of %+v", res.Variants)
	}
	if x, y := res.Cells(1, lab.Setting{})[3].Loss[0], res.Cells(2, lab.Setting{})[3].Loss[0]; x != y {
		t.Errorf("the first losses are %v and %v on the same examples", x, y)
	}
	differences := res.Differences(0, lab.StudentT)
	if len(differences) != 3 {
		t.Fatalf("%d differences, want 3", len(differences))
	}
	var d []float64
	mean, ss := 0.0, 0.0
	for i, cell := range res.Cells(2, lab.Setting{}) {
		d = append(d, cell.End()-res.Cells(1, lab.Setting{})[i].End())
		mean += d[i] / 5
	}
	for _, v := range d {
		ss += (v - mean) * (v - mean)
	}
	want := math.Sqrt(ss / 4 / 5)
	got := differences[2]
	if got.A != 1 || got.B != 2 || math.Abs(got.Mean-mean) > 1e-15 || math.Abs(got.Error-want) > 1e-15 || math.Abs(got.Half-2.7764451052*want) > 1e-9*want {
		t.Errorf("difference %+v, want %v ± %v", got, mean, want)
	}
	var ps []float64
	for _, d := range differences {
		ps = append(ps, d.P)
	}
	for i, p := range lab.Holm(ps) {
		if d := differences[i]; d.Corrected != p || d.Beyond != (p <= 0.05) {
			t.Errorf("difference %d: %+v, want p = %v", i, d, p)
		}
	}
	if text := res.String(); !strings.Contains(text, "The tasks differ") {
		t.Errorf("the text does not say that the tasks differ:\n%s", text)
	}
}
