package data

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"gorgonia.org/tensor"
)

// sameValues compares numbers, of which NaN equals itself.
func sameValues(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

func TestMissing(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name, text string
		opts       []Option
		columns    []string
		x          []float64
		labels     []string
	}{
		{"the usual", "a,b\n1,2\nNA,?\n,NaN\nna,4\n", []Option{Missing()}, []string{"a", "b"}, []float64{1, 2, nan, nan, nan, nan, nan, 4}, nil},
		{"given", "a,b\n1,-999\n-,2\n", []Option{Missing("-999", " - ")}, []string{"a", "b"}, []float64{1, nan, nan, 2}, nil},
		{"above a number is no header", "?,2\n1,3\n", []Option{Missing()}, []string{"x1", "x2"}, []float64{nan, 2, 1, 3}, nil},
		{"alone is no header", "NA\n1\n", []Option{Missing()}, []string{"x1"}, []float64{nan, 1}, nil},
		{"below a header", "a,b\n?,?\n1,2\n", []Option{Missing()}, []string{"a", "b"}, []float64{nan, nan, 1, 2}, nil},
		{"last is no label", "a,b\n1,NA\n1,2\n", []Option{Missing()}, []string{"a", "b"}, []float64{1, nan, 1, 2}, nil},
		{"label stays text", "a,k\n1,u\n?,NA\n", []Option{Missing()}, []string{"a"}, []float64{1, nan}, []string{"u", "NA"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadCSV("f.csv", strings.NewReader(c.text), c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Columns, c.columns) || !sameValues(got.X, c.x) || !slices.Equal(got.Labels, c.labels) {
				t.Errorf("got %+v", *got)
			}
		})
	}
}

// gaps is a table of three rows; the mean of its columns is 2, 5 and 4, the median 1, 5 and 4.
func gaps(t *testing.T) *Table {
	t.Helper()
	table, err := ReadCSV("f.csv", strings.NewReader("a,b,c,y\n1,5,?,u\n1,,2,v\n4,5,6,w\n"), Missing())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		name   string
		fill   func(*Table) ([]float64, error)
		values []float64
	}{
		{"mean", FillMean, []float64{2, 5, 4}},
		{"median", FillMedian, []float64{1, 5, 4}},
	} {
		table := gaps(t)
		values, err := c.fill(table)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values, c.values) || !slices.Equal(table.X, []float64{1, 5, 4, 1, 5, 2, 4, 5, 6}) {
			t.Errorf("%s: %v, filled to %v", c.name, values, table.X)
		}
		other := &Table{Columns: []string{"a", "b", "c"}, X: []float64{math.NaN(), math.NaN(), 9}}
		if err := Fill(other, values); err != nil || !slices.Equal(other.X, []float64{c.values[0], 5, 9}) {
			t.Errorf("%s: another table filled to %v, %v", c.name, other.X, err)
		}
		empty := gaps(t)
		for i := range 3 {
			empty.X[3*i+1] = math.NaN()
		}
		before := slices.Clone(empty.X)
		_, err = c.fill(empty)
		datatest.WantError(t, err, `f.csv: column "b": every value is missing`)
		if !sameValues(empty.X, before) {
			t.Errorf("%s: a refused fill changed the table", c.name)
		}
		_, err = c.fill(&Table{Name: "t"})
		datatest.WantError(t, err, "t: the table has no feature columns")
	}
	table := gaps(t)
	datatest.WantError(t, Fill(table, []float64{1}), "f.csv: 1 values to fill 3 columns")
	datatest.WantError(t, Fill(table, []float64{1, 2, math.Inf(1)}), `f.csv: column "c": cannot fill with +Inf`)
	_, err := table.Dense(tensor.Float64)
	datatest.WantError(t, err, `f.csv:2: column "c": NaN is not finite`)
}

// The sum of the two middle values overflows, and half the smallest number is 0.
func TestFillMedianExtremes(t *testing.T) {
	for _, v := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64} {
		table := &Table{Columns: []string{"a"}, X: []float64{v, math.NaN(), v}}
		if _, err := FillMedian(table); err != nil || table.X[1] != v {
			t.Errorf("median of %g and %g: %g, %v", v, v, table.X[1], err)
		}
	}
}

func TestDropMissing(t *testing.T) {
	got, err := gaps(t).DropMissing()
	if err != nil {
		t.Fatal(err)
	}
	want := Table{Name: "f.csv", Columns: []string{"a", "b", "c"}, X: []float64{4, 5, 6}, Labels: []string{"w"}, LabelName: "y", Lines: []int{4}}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestMask(t *testing.T) {
	table := gaps(t)
	if mask := table.Mask(); !slices.Equal(mask.X, []float64{1, 1, 0, 1, 0, 1, 1, 1, 1}) || mask.Rows() != 3 || !math.IsNaN(table.X[2]) {
		t.Errorf("mask %v of %v", mask.X, table.X)
	}
}

// Missing values neither count nor change when the others are standardised.
func TestStandardiseMissing(t *testing.T) {
	nan := math.NaN()
	table := &Table{Columns: []string{"a", "b"}, X: []float64{nan, nan, 1, nan, 3, nan}}
	mean, std := Standardise(table)
	if !slices.Equal(mean, []float64{2, 0}) || !slices.Equal(std, []float64{1, 1}) || !sameValues(table.X, []float64{nan, nan, -1, nan, 1, nan}) {
		t.Errorf("means %v, deviations %v, values %v", mean, std, table.X)
	}
}
