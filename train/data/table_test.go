package data

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"gorgonia.org/tensor"
)

func TestDense(t *testing.T) {
	table := &Table{Columns: []string{"a", "b", "c"}, X: []float64{1, 2, 3, 4, 5, 0.1}}
	for _, c := range []struct {
		dtype tensor.Dtype
		want  any
	}{
		{tensor.Float64, []float64{1, 2, 3, 4, 5, 0.1}},
		{tensor.Float32, []float32{1, 2, 3, 4, 5, 0.1}},
	} {
		x, err := table.Dense(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		if x.Dtype() != c.dtype || !x.Shape().Eq(tensor.Shape{2, 3}) || !reflect.DeepEqual(x.Data(), c.want) {
			t.Errorf("%v %v %v, want %v (2, 3) %v", x.Dtype(), x.Shape(), x.Data(), c.dtype, c.want)
		}
	}
	x, _ := table.Dense(tensor.Float64)
	x.Float64s()[0] = 9
	if table.X[0] != 1 {
		t.Error("the tensor is no copy")
	}
	one := &Table{Columns: []string{"a"}, X: []float64{7}}
	if x, err := one.Dense(tensor.Float32); err != nil || !x.Shape().Eq(tensor.Shape{1, 1}) {
		t.Errorf("one value: shape %v, error %v", x.Shape(), err)
	}
}

func TestDenseErrors(t *testing.T) {
	large, err := ReadCSV("f.csv", strings.NewReader("a,b\n1,2\n\n3,-1e39\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table *Table
		dtype tensor.Dtype
		want  string
	}{
		{large, tensor.Float32, `f.csv:4: column "b": -1e+39 does not fit float32`},
		{large, tensor.Int, "f.csv: dtype int is neither float32 nor float64"},
		{large, tensor.Dtype{}, "f.csv: dtype <nil> is neither float32 nor float64"},
		{&Table{Name: "t", Columns: []string{"a"}}, tensor.Float64, "t: the table has no rows"},
		{&Table{Name: "t"}, tensor.Float64, "t: the table has no feature columns"},
		{Clusters(1, 3, 6, math.NaN()), tensor.Float64, `clusters: column "x": NaN is not finite`},
	} {
		_, err := c.table.Dense(c.dtype)
		datatest.WantError(t, err, c.want)
	}
}

func TestSubset(t *testing.T) {
	table := Table{Name: "t", Columns: []string{"a", "b"}, X: []float64{1, 2, 3, 4, 5, 6},
		Labels: []string{"u", "v", "w"}, LabelName: "y", Lines: []int{2, 3, 5}}
	got, err := table.Subset([]int{2, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	want := Table{Name: "t", Columns: []string{"a", "b"}, X: []float64{5, 6, 1, 2, 5, 6},
		Labels: []string{"w", "u", "w"}, LabelName: "y", Lines: []int{5, 2, 5}}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	got.X[0], got.Columns[0] = 9, "z"
	if table.X[4] != 5 || table.Columns[0] != "a" {
		t.Error("the subset is no copy")
	}
	bare, err := (&Table{Columns: []string{"a"}, X: []float64{1, 2}}).Subset([]int{1})
	if err != nil || bare.X[0] != 2 || bare.Labels != nil || bare.Lines != nil {
		t.Errorf("without labels and lines: %+v, %v", bare, err)
	}
	_, err = (&Table{Name: "t"}).Subset(nil)
	datatest.WantError(t, err, "t: the table has no feature columns")
	if none, err := table.Subset(nil); err != nil || none.Rows() != 0 {
		t.Errorf("no rows: %v, %v", none, err)
	}
	for _, i := range []int{-1, 3} {
		_, err := table.Subset([]int{0, i})
		datatest.WantError(t, err, map[int]string{-1: "t: row -1 is outside [0, 3)", 3: "t: row 3 is outside [0, 3)"}[i])
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []struct{ labels, classes []string }{
		{[]string{"v", "u", "v"}, []string{"u", "v"}},
		{[]string{"10", "9", "-1", "9"}, []string{"-1", "9", "10"}},
		{[]string{"10", "9", "x"}, []string{"10", "9", "x"}},
		{[]string{"1.0", "2", "1"}, []string{"1", "1.0", "2"}},
		{[]string{}, nil},
		{nil, nil},
	} {
		codes, classes := Codes(c.labels)
		if !reflect.DeepEqual(classes, c.classes) || len(codes) != len(c.labels) {
			t.Fatalf("%q: classes %q, want %q; %d codes", c.labels, classes, c.classes, len(codes))
		}
		for i, k := range codes {
			if classes[k] != c.labels[i] {
				t.Errorf("%q: code %d of row %d stands for %q", c.labels, k, i, classes[k])
			}
		}
		if got := (&Table{Labels: c.labels}).Classes(); !reflect.DeepEqual(got, c.classes) {
			t.Errorf("Classes of %q: %q", c.labels, got)
		}
	}
}

// TestTake: features in another order, with what belongs to the rows.
func TestTake(t *testing.T) {
	houses, err := ReadCSV("houses.csv", strings.NewReader("area,age,price,kind\n70,3,250,flat\n120,40,310,house\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := houses.Take("price", "area")
	if err != nil {
		t.Fatal(err)
	}
	want := &Table{
		Name: houses.Name, Columns: []string{"price", "area"}, X: []float64{250, 70, 310, 120},
		Labels: []string{"flat", "house"}, LabelName: "kind", Lines: []int{2, 3},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, houses.Name + ": a table of no features"},
		{[]string{"age", "prise"}, houses.Name + `: column "prise": there is no such feature (did you mean "price"?)`},
		{[]string{"age", "age"}, houses.Name + `: column "age": the feature is taken twice`},
	} {
		if _, err := houses.Take(c.names...); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.names, err, c.want)
		}
	}
}
