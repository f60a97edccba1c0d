package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"gorgonia.org/tensor"
)

// TestTargets: the named columns, in the order of the names, stand apart from the features,
// with what goes with rows.
func TestTargets(t *testing.T) {
	text := "area,price,age,rent\n70,250,3,9.5\n\n120,310,40,8\n"
	houses, err := ReadCSV("houses.csv", strings.NewReader(text), Targets("rent"), Targets("price"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Table{
		Name: "houses.csv", Columns: []string{"area", "age"}, X: []float64{70, 3, 120, 40}, Lines: []int{2, 4},
		Targets: &Table{Name: "houses.csv", Columns: []string{"rent", "price"}, X: []float64{9.5, 250, 8, 310}, Lines: []int{2, 4}},
	}
	if !reflect.DeepEqual(houses, want) {
		t.Errorf("got  %+v with %+v\nwant %+v with %+v", houses, houses.Targets, want, want.Targets)
	}
	set, err := houses.Set("x", "y", tensor.Float32)
	if err != nil || set.String() != "x[2 2] float32, y[2 2] float32" || !slices.Equal(set.Column("y").Float32s(), []float32{9.5, 250, 8, 310}) {
		t.Errorf("%v: %v", set, err)
	}
	one, err := houses.Take("age")
	if err == nil {
		one, err = one.Subset([]int{1, 0, 1})
	}
	if err != nil || !slices.Equal(one.Targets.X, []float64{8, 310, 9.5, 250, 8, 310}) || !slices.Equal(one.Targets.Lines, []int{4, 2, 4}) {
		t.Errorf("%+v: %v", one, err)
	}
	gappy, err := ReadCSV("f.csv", strings.NewReader("a,b\n?,1\n2,3\n"), Missing(), Targets("b"))
	if err == nil {
		gappy, err = gappy.DropMissing()
	}
	if err != nil || !slices.Equal(gappy.Targets.X, []float64{3}) || !slices.Equal(gappy.X, []float64{2}) {
		t.Errorf("%+v: %v", gappy, err)
	}
	one.Name, one.Targets.Name = "f.csv", "f.csv"
	checkCSV(t, one, false)
	if mean, _ := Standardise(one.Targets); math.Abs(mean[0]-8.5) > 1e-12 || houses.Targets.X[0] != 9.5 {
		t.Errorf("mean %v; the table that was taken from: %v", mean, houses.Targets.X)
	}
}

// TestCSVFileTargets: on disk as in memory, to the bit, in any order.
func TestCSVFileTargets(t *testing.T) {
	rng := newDraws().at(3, 3)
	var text bytes.Buffer
	fmt.Fprintln(&text, "p,q,r,kind,s")
	for i := range 3000 {
		fmt.Fprintf(&text, "%v,%v,%v,%s,%v\n", rng.NormFloat64(), rng.NormFloat64(), i, []string{"flat", "house"}[i%2], rng.NormFloat64())
		if i%700 == 300 {
			fmt.Fprintln(&text)
		}
	}
	opts := []Option{Targets("s", "p"), Ignore("kind")}
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		table, err := ReadCSV("f.csv", bytes.NewReader(text.Bytes()), opts...)
		if err != nil {
			t.Fatal(err)
		}
		set, err := table.Set("x", "y", dtype)
		if err != nil {
			t.Fatal(err)
		}
		path := write(t, "f.csv", text.Bytes())
		c, err := OpenCSV(context.Background(), path, "x", "y", dtype, opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if want := fmt.Sprintf("%s: 3000 rows, x[2] %v, y[2] %v", path, dtype, dtype); c.String() != want {
			t.Errorf("%v, want %s", c, want)
		}
		if !slices.Equal(c.Targets(), []string{"s", "p"}) || c.Classes() != nil {
			t.Errorf("targets %q, classes %q", c.Targets(), c.Classes())
		}
		for name, of := range map[string]func(d Dataset) Source{
			"in order": func(d Dataset) Source { return InOrder(d, 64) },
			"shuffled": func(d Dataset) Source { return Shuffled(d, 64, 1) },
			"windows":  func(d Dataset) Source { return Shuffled(d, 64, 1, Window(500)) },
		} {
			if !slices.Equal(follow(t, of(c), 100), follow(t, of(set), 100)) {
				t.Errorf("%v, %s: other bits than in memory", dtype, name)
			}
		}
	}
}

func TestTargetsErrors(t *testing.T) {
	const text = "a,b,c\n1,2,3\n4,5,6\n"
	for _, c := range []struct {
		text, want string
		opts       []Option
	}{
		{text, `:1: target "d": no such column`, []Option{Targets("d")}},
		{text, `:1: target "b": this column is named twice`, []Option{Targets("b", "b")}},
		{text, `:1: target "b": this column is ignored`, []Option{Targets("b"), Ignore("b")}},
		{text, `:1: label "c" and target "b": a table has labels or targets`, []Option{Targets("b"), Label("c")}},
		{text, `:1: no column of features`, []Option{Targets("a", "b", "c")}},
		{text, `: Targets(): want the name of a column`, []Option{Targets()}},
		{"a,b\n1,2\n3,many\n", `:3: column "b": "many" is not a number`, []Option{Targets("b")}},
		{"a,b\n1,many\n", `:2: column "b": "many" is not a number`, []Option{Targets("b")}},
		{"a,b\n1,2\n3,\n", `:3: column "b": empty cell; every row needs its target`, []Option{Targets("b")}},
		{"a,b\n1,2\n3,NA\n", `:3: column "b": "NA" is not a number; every row needs its target`, []Option{Targets("b"), Missing()}},
		{"a,b\n1,2\n3,-\n", `:3: column "b": "-" is not a number; every row needs its target`, []Option{Targets("b"), Missing("-")}},
		{"a,b\n1,2\n3,nan\n", `:3: column "b": "nan" is not finite; every row needs its target`, []Option{Targets("b")}},
		{"a,b\n1,2\n3,1e999\n", `:3: column "b": "1e999" is not finite`, []Option{Targets("b")}},
		{"a,b\n1,2\n\n3,1e39\n", `:4: column "b": 1e+39 does not fit float32`, []Option{Targets("b")}},
		// No label is looked for.
		{"a,b,class\n1,2,cat\n", `:2: column "class": "cat" is not a number; ignore "class" to leave the column out`, []Option{Targets("b")}},
	} {
		path := write(t, "f.csv", []byte(c.text))
		_, err := OpenCSV(context.Background(), path, "x", "y", tensor.Float32, c.opts...)
		datatest.WantError(t, err, path+c.want)
		table, err := Open(path, c.opts...)
		if err == nil {
			_, err = table.Set("x", "y", tensor.Float32)
		}
		datatest.WantError(t, err, path+c.want)
	}
	path := write(t, "f.csv", []byte(text))
	_, err := OpenCSV(context.Background(), path, "x", "x", tensor.Float32, Targets("c"))
	complains(t, err, `data: features and targets are both to be column "x"`)
	table, err := Open(path, Targets("c"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = table.Set("x", "x", tensor.Float32)
	complains(t, err, `data: features and targets are both to be column "x"`)
	_, err = edges.Read("f", strings.NewReader("0 1\n"), Targets("c"))
	datatest.WantError(t, err, "f: Targets: this is an option for tables, not for edge lists")
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{Targets: &Table{Columns: []string{"b"}, X: []float64{1, 2}}}, "t: 2 rows of targets for 1 rows"},
		{Table{Targets: &Table{Columns: []string{"b"}, X: []float64{1}}, Labels: []string{"u"}}, "t: a table has labels or targets, and targets have neither"},
		{Table{Targets: &Table{Columns: []string{"b"}, X: []float64{1}, Lines: []int{1, 2}}}, "2 line numbers for 1 rows"},
		{Table{Targets: &Table{Columns: []string{"b"}, X: []float64{math.NaN()}}}, `column "b": NaN is not finite`},
	} {
		c.table.Name, c.table.Columns, c.table.X = "t", []string{"a"}, []float64{1}
		_, err := c.table.Set("x", "y", tensor.Float64)
		datatest.WantError(t, err, c.want)
		datatest.WantError(t, WriteCSV(new(bytes.Buffer), &c.table), c.want)
	}
}
