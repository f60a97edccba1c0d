package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// files writes a set as numbered has to a CSV file and two .npy files.
func writeFiles(t testing.TB, s *Set) (table, x, y string) {
	t.Helper()
	dir := t.TempDir()
	table, x, y = filepath.Join(dir, "t.csv"), filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	var text bytes.Buffer
	fmt.Fprintln(&text, "a,b,c,class")
	v, class := s.Column("x").Float32s(), s.Column("y").Int32s()
	for i := range s.Rows() {
		if i%700 == 300 {
			fmt.Fprintln(&text) // lines and rows do not run in step
		}
		fmt.Fprintf(&text, "%v,%v,%v,%d\n", v[3*i], v[3*i+1], v[3*i+2], class[i])
	}
	if err := os.WriteFile(table, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, column := range map[string]*tensor.Dense{x: s.Column("x"), y: s.Column("y")} {
		var b bytes.Buffer
		if err := array.WriteNPY(&b, column); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return table, x, y
}

// onDisk is the two data sets on disk of what numbered has.
func onDisk(t testing.TB, s *Set) (*CSVFile, *Records) {
	t.Helper()
	table, x, y := writeFiles(t, s)
	c, err := OpenCSV(context.Background(), table, "x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r, err := OpenRecords(map[string]string{"x": x, "y": y})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return c, r
}

// TestDescribe: what is said is what batches depend on, and nothing else.
func TestDescribe(t *testing.T) {
	s := numbered(t, 1000)
	onDisk, _ := onDisk(t, s)
	tokens := make([]int32, 500)
	windows := func(seed uint64) Source {
		w, err := Windows(tokens, 8, 4, seed)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	noise := Noise("x", 0.5)
	ahead := Prefetch(Map(Shuffled(s, 64, 3), 1, noise, nil, noise), 3)
	defer ahead.Close()
	moved := Shuffled(s, 64, 3)
	if err := moved.Seek(Position{3, 2}); err != nil {
		t.Fatal(err)
	}
	type other struct{ Source }
	for _, c := range []struct {
		s    Source
		want string
	}{
		{InOrder(s, 64), "in order(1000 rows, batches of 64)"},
		{InOrder(s, 64, Window(100)), "in order(1000 rows, batches of 64)"},
		{InOrder(s, 0), "in order(1000 rows, batches of 1000)"},
		{InOrder(s, 64, DropLast()), "in order(1000 rows, batches of 64, the last 40 dropped)"},
		{Shuffled(s, 64, 3), "shuffled(1000 rows, batches of 64, seed 3)"},
		{moved, "shuffled(1000 rows, batches of 64, seed 3)"},
		{Shuffled(onDisk, 64, 3), "shuffled(1000 rows, batches of 64, seed 3)"},
		{Shuffled(s, 100, 1<<63, DropLast()), "shuffled(1000 rows, batches of 100, seed 9223372036854775808)"},
		{Shuffled(s, 64, 3, Window(1000)), "shuffled(1000 rows, batches of 64, seed 3)"},
		{Shuffled(s, 64, 3, Window(500), DropLast()), "shuffled(1000 rows in windows of 497, batches of 64, the last 40 dropped, seed 3)"},
		{Drawn(Batch{Rows: 4}, 5, 1, nil), "drawn(5 batches of 4 rows, seed 1)"},
		{windows(2), "windows(500 tokens, batches of 4 of length 8, seed 2)"},
		{Map(windows(2), 1), "map(windows(500 tokens, batches of 4 of length 8, seed 2), 0 changes, seed 1)"},
		{ahead, "map(shuffled(1000 rows, batches of 64, seed 3), 2 changes, seed 1)"},
		{other{Shuffled(s, 64, 3)}, ""},
		{Map(other{Shuffled(s, 64, 3)}, 1, noise), ""},
		{Shuffled(nil, 64, 3), "shuffled(0 rows, batches of 0, seed 3)"},
		{Map(nil, 1), ""},
		{nil, ""},
	} {
		if got := Describe(c.s); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// Where the order is the same, so are the bits, wherever the rows lie.
func TestDatasetsAgree(t *testing.T) {
	set := numbered(t, 3000)
	table, records := onDisk(t, set)
	for name, make := range map[string]func(d Dataset) Source{
		"in order": func(d Dataset) Source { return InOrder(d, 64) },
		"shuffled": func(d Dataset) Source { return Shuffled(d, 1000, 7) },
		"window":   func(d Dataset) Source { return Shuffled(d, 64, 7, Window(1<<11)) },
	} {
		t.Run(name, func(t *testing.T) {
			n := make(set).Batches() + 3
			want := follow(t, make(set), n)
			for _, d := range []Dataset{table, records} {
				if got := follow(t, make(d), n); !slices.Equal(got, want) {
					t.Errorf("%v: other bits than in memory", d)
				}
			}
		})
	}
	// A window that holds all rows is no window.
	want := follow(t, Shuffled(set, 64, 7), 90)
	for _, window := range []int{3000, math.MaxInt, 0, -1} {
		if got := follow(t, Shuffled(set, 64, 7, Window(window)), 90); !slices.Equal(got, want) {
			t.Errorf("Window(%d): other bits than without", window)
		}
	}
}
