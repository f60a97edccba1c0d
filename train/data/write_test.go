package data

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
)

func TestWriteCSV(t *testing.T) {
	table := &Table{
		Columns:   []string{"a", "b;c\td", "e\n\"f\""},
		X:         []float64{1, 0.1, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1. / 3},
		Labels:    []string{"u, v", "7"},
		LabelName: "kind",
	}
	var b strings.Builder
	if err := WriteCSV(&b, table); err != nil {
		t.Fatal(err)
	}
	const want = "a,\"b;c\td\",\"e\n\"\"f\"\"\",kind\n1,0.1,-1e+300,\"u, v\"\n" +
		"1.7976931348623157e+308,5e-324,0.3333333333333333,7\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	got, err := ReadCSV("", strings.NewReader(b.String()), Label("kind"))
	if err != nil {
		t.Fatal(err)
	}
	got.Lines = nil
	if !reflect.DeepEqual(got, table) {
		t.Errorf("got  %+v\nwant %+v", got, table)
	}
}

func TestWriteCSVErrors(t *testing.T) {
	a, one := []string{"a"}, []float64{1}
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{}, "t: the table has no feature columns"},
		{Table{Columns: a}, "t: the table has no rows"},
		{Table{Columns: []string{"a", "b"}, X: one}, "t: 1 values do not fill rows of 2 columns"},
		{Table{Columns: a, X: one, Labels: []string{}}, "t: 0 labels for 1 rows"},
		{Table{Columns: a, X: one, Lines: []int{1, 2}}, "t: 2 line numbers for 1 rows"},
		{Table{Columns: a, X: []float64{math.NaN()}}, `t: column "a": NaN is not finite`},
		{Table{Columns: a, X: []float64{1, math.Inf(-1)}, Lines: []int{2, 7}}, `t:7: column "a": -Inf is not finite`},
		{Table{Columns: []string{"a", "a"}, X: []float64{1, 2}}, `t: columns 1 and 2 are both named "a"`},
		{Table{Columns: a, X: one, Labels: []string{"u"}, LabelName: "a"}, `t: columns 1 and 2 are both named "a"`},
		{Table{Columns: a, X: one, Labels: []string{"u"}}, "t: name of column 2: empty cell"},
		{Table{Columns: []string{" a"}, X: one}, `t: name of column 1: " a" begins or ends with white space`},
		{Table{Columns: []string{"a\rb"}, X: one}, `t: name of column 1: "a\rb" holds a carriage return or a NUL byte`},
		{Table{Columns: a, X: one, Labels: []string{""}, LabelName: "y"}, `t: column "y": label of row 0: empty cell`},
		{Table{Columns: a, X: one, Labels: []string{"\xff"}, LabelName: "y"}, `t: column "y": label of row 0: "\xff" is not UTF-8 text`},
	} {
		c.table.Name = "t"
		var b strings.Builder
		datatest.WantError(t, WriteCSV(&b, &c.table), c.want)
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written all the same", c.want, b.Len())
		}
	}
	full := errors.New("disk full")
	if err := WriteCSV(datatest.FailingWriter{Err: full}, Digits()); !errors.Is(err, full) {
		t.Errorf("a failing writer: got %v, want %v", err, full)
	}
}

// FuzzReadCSV checks that nothing panics, that an error is one located line, and
// that what was read can be written and read back, with and without options.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "1,2\n3,4\n", "a;b\n1;u\n", "a,y\n1,2\n", "\ufeff\"a,\"\"\n\",b\r\n1,-0\r\n", "1,a\n2,3",
		"2019,x\n1e5,nan\n", ",a\n,\n", "a,b\n\"x", "\x00", "a\rb\n1", "\ufeff\ufeffa\n1", "a\tb;c;d\n1\t2\n", "y\n0x1p-3", "1,u\n\n \n2,\" v \"",
		"a,b\nNA,?\n1,nan\n", "#\"\na b\n 1  2 \n", "1,2,3\n4,5,6\n", "b,a\n1,?\n",
	} {
		f.Add(s)
		f.Add(datatest.Gzipped(s))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, opts := range [][]Option{nil, {Missing()}, {Missing("1"), Comment('#'), Delimiter(' ')}, {Targets("b")}, {Header(false), Targets("x2", "x1")}} {
			table, err := ReadCSV("f.csv", strings.NewReader(text), append(opts, MaxBytes(1<<20))...)
			if err != nil {
				if table != nil || !datatest.IsLocated(err, "f.csv:") {
					t.Fatalf("table %v with error %q", table, err)
				}
				continue
			}
			if opts != nil {
				if err := Fill(table, make([]float64, len(table.Columns))); err != nil {
					t.Fatal(err)
				}
			}
			checkCSV(t, table, opts == nil)
		}
	})
}

// checkCSV writes a table and reads it back, without options if it was read so.
func checkCSV(t *testing.T, table *Table, detected bool) {
	var b strings.Builder
	if err := WriteCSV(&b, table); err != nil {
		t.Fatalf("cannot be written: %v", err)
	}
	label := NoLabel()
	if table.Labels != nil {
		label = Label(table.LabelName)
	}
	if table.Targets != nil {
		label = Targets(table.Targets.Columns...)
	}
	for _, opts := range [][]Option{{Header(true), label}, nil} {
		if opts == nil && !detected {
			continue
		}
		again, err := ReadCSV("f.csv", strings.NewReader(b.String()), opts...)
		if err != nil {
			t.Fatalf("cannot be read back from %q: %v", b.String(), err)
		}
		again.Lines = table.Lines
		if again.Targets != nil {
			again.Targets.Lines = table.Lines
		}
		if !reflect.DeepEqual(again, table) {
			t.Fatalf("read back from %q:\ngot  %+v\nwant %+v", b.String(), again, table)
		}
	}
}
