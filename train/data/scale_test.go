package data

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
)

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

func TestStandardise(t *testing.T) {
	// Columns of 3 rows whose deviation is known by hand: −h, 0, h around a mean
	// has deviation h·√(2/3).
	third := math.Sqrt(2. / 3)
	for _, c := range []struct{ mean, step float64 }{
		{0, 1}, {1000, 0.001}, {1e9, 1}, {-3, 1e200}, {0, 1e-200}, {5, 0},
	} {
		table := &Table{Columns: []string{"a", "b"}, X: []float64{
			c.mean - c.step, 7, c.mean, 7, c.mean + c.step, 7}}
		mean, std := Standardise(table)
		wantStd, z := c.step*third, 1/third
		if c.step == 0 {
			wantStd, z = 1, 0
		}
		if !near(mean[0], c.mean, 1e-15*max(1, c.step)) || math.Abs(std[0]/wantStd-1) > 1e-9 {
			t.Errorf("%+v: mean %g and deviation %g, want %g and %g", c, mean[0], std[0], c.mean, wantStd)
		}
		for i, want := range []float64{-z, 0, z} {
			if !near(table.X[2*i], want, 1e-9) {
				t.Errorf("%+v: row %d is %g, want %g", c, i, table.X[2*i], want)
			}
			if table.X[2*i+1] != 0 {
				t.Errorf("constant column: row %d is %g, want 0", i, table.X[2*i+1])
			}
		}
		if mean[1] != 7 || std[1] != 1 {
			t.Errorf("constant column: mean %g and deviation %g, want 7 and 1", mean[1], std[1])
		}
	}
}

// A constant like 0.1 sums to something that n does not divide back; the column
// must come out as exactly 0 all the same.
func TestStandardiseConstant(t *testing.T) {
	table := &Table{Columns: []string{"a"}}
	for range 1000 {
		table.X = append(table.X, 0.1)
	}
	mean, std := Standardise(table)
	if mean[0] != 0.1 || std[0] != 1 || table.X[0] != 0 {
		t.Errorf("mean %g, deviation %g, value %g, want 0.1, 1, 0", mean[0], std[0], table.X[0])
	}
}

// Half of the smallest float64 rounds to 0, which nothing may be divided by.
func TestStandardiseSmallest(t *testing.T) {
	table := &Table{Columns: []string{"a"}, X: []float64{0, math.SmallestNonzeroFloat64}}
	if _, std := Standardise(table); std[0] != 1 || math.Abs(table.X[0]) > 1 || math.Abs(table.X[1]) > 1 {
		t.Errorf("deviation %g, values %v", std[0], table.X)
	}
}

func TestCentre(t *testing.T) {
	table := &Table{Columns: []string{"a", "b"}, X: []float64{1, 10, 2, 20, 6, 60}}
	mean := Centre(table)
	if !near(mean[0], 3, 1e-15) || !near(mean[1], 30, 1e-15) {
		t.Errorf("means %v, want [3 30]", mean)
	}
	for k, want := range []float64{-2, -20, -1, -10, 3, 30} {
		if !near(table.X[k], want, 1e-15) {
			t.Errorf("value %d is %g, want %g", k, table.X[k], want)
		}
	}
}

func TestScale(t *testing.T) {
	table := &Table{Name: "t", Columns: []string{"a", "b"}, X: []float64{1, 10, 2, 20}}
	if err := Scale(table, []float64{1, 0}, []float64{2, 10}); err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{0, 1, 0.5, 2} {
		if table.X[k] != want {
			t.Errorf("value %d is %g, want %g", k, table.X[k], want)
		}
	}
	datatest.WantError(t, Scale(table, []float64{1}, []float64{1, 2}), "t: 1 means and 2 deviations for 2 columns")
	datatest.WantError(t, Scale(table, []float64{0, 0}, []float64{1, 0}), `t: column "b": cannot scale by mean 0 and deviation 0`)
	datatest.WantError(t, Scale(table, []float64{math.NaN(), 0}, []float64{1, 1}), `t: column "a": cannot scale by mean NaN and deviation 1`)
	datatest.WantError(t, Scale(table, []float64{0, 0}, []float64{1, math.Inf(1)}), `t: column "b": cannot scale by mean 0 and deviation +Inf`)
	if table.X[3] != 2 {
		t.Error("a refused Scale changed the table")
	}
}

// Tables made by hand may be of no shape at all; nothing may panic on them.
func TestScaleOddTables(t *testing.T) {
	for _, table := range []*Table{{}, {X: []float64{1}}, {Columns: []string{"a", "b"}}, {Columns: []string{"a", "b"}, X: []float64{1, 2, 3}}} {
		mean, std := Standardise(table)
		if len(mean) != len(table.Columns) || len(std) != len(table.Columns) || len(Centre(table)) != len(mean) {
			t.Errorf("%+v: means %v and deviations %v", table, mean, std)
		}
	}
}
