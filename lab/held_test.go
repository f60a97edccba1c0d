package lab_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestCompareHeldRows: losses of trained models are measured on the rows of Held, and the inertia of
// centres on both.
func TestCompareHeldRows(t *testing.T) {
	iris := data.Iris()
	var rows, held []int
	for i := range iris.Rows() {
		if i%10 == 0 {
			held = append(held, i)
		} else {
			rows = append(rows, i)
		}
	}
	table, err := iris.Subset(rows)
	if err != nil {
		t.Fatal(err)
	}
	out, err := iris.Subset(held)
	if err != nil {
		t.Fatal(err)
	}
	c := lab.Config{Table: table, Held: out, K: 3, Steps: 20, Seeds: 1}
	var centres []float64
	c.Probes = []lab.Probe{lab.ProbeFunc("centres", func(_ *builders.Model, s *tape.Store) (float64, error) {
		r, err := s.Get("r")
		if err == nil {
			centres = append([]float64(nil), r.Float64s()...)
		}
		return 0, err
	})}
	res, err := lab.Compare(t.Context(), c, c.Variant("kmeans-lloyd"))
	if err != nil {
		t.Fatal(err)
	}
	if on := res.Data(); on != "135 rows of iris.csv, measured on 15 others" {
		t.Errorf("the data are %q", on)
	}
	_, inertia, err := lab.Assign(t.Context(), out.X, centres, 4)
	if err != nil {
		t.Fatal(err)
	}
	_, own, err := lab.Assign(t.Context(), table.X, centres, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range res.Metrics {
		got, want := res.Values(i, 0, lab.Setting{})[0], map[string]float64{"loss of kmeans-lloyd": inertia / 15, "held inertia": inertia, "inertia": own}[m.Name]
		if want != 0 && math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s is %v, by hand %v", m.Name, got, want)
		}
	}
	v, err := lab.Config{Table: table, Held: out, K: 3, Steps: 20, Seeds: 2}.Train(t.Context(), "kmeans-softmax")
	if err != nil {
		t.Fatal(err)
	}
	_, inertia, err = lab.Assign(t.Context(), out.X, v.Runs[1].Centres(), 4)
	if got, _ := v.Held[1].Get("inertia"); err != nil || len(v.Held) != 2 || math.Abs(got-inertia) > 1e-9*inertia {
		t.Errorf("held out: %v, by hand %v, %v", v.Held, inertia, err)
	}
}
