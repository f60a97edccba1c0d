package data

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// write makes a file and gives its path.
func write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openCSV opens text as a file.
func openCSV(t testing.TB, text string, opts ...Option) (*CSVFile, error) {
	t.Helper()
	c, err := OpenCSV(context.Background(), write(t, "f.csv", []byte(text)), "x", "y", tensor.Float32, opts...)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// CSVFile reads what ReadCSV reads.
func TestCSVFileAgrees(t *testing.T) {
	digits, err := os.ReadFile("digits.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		opts []Option
	}{
		"digits":             {string(digits), nil},
		"one row":            {"1,2,3\n", nil},
		"no header, text":    {"1;2;a\n3;4;b\n5;6;a", nil},
		"mark, CRLF":         {"\ufeffp,q,class\r\n1,2,10\r\n\r\n  \r\n3,4,9\r\n", nil},
		"quoted over lines":  {"p,\"q\nq\",class\n\n1,2,\"a\nb\"\n3,4,c\n5,6,\"a\nb\"\n", nil},
		"options":            {"p|q|r\n1|2|x\n3|4|y\n", []Option{Delimiter('|'), Ignore("q"), Label("p")}},
		"no label, comments": {"% first\np,y\n1,2\n% more\n3,4\n", []Option{NoLabel(), Comment('%')}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "options" { // r is text: one must be a feature
				c.opts[1] = Ignore("r")
			}
			table, err := ReadCSV("f.csv", strings.NewReader(c.text), c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			set, err := table.Set("x", "y", tensor.Float32)
			if err != nil {
				t.Fatal(err)
			}
			f, err := openCSV(t, c.text, c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if f.Rows() != set.Rows() || !slices.Equal(f.Columns(), table.Columns) || !slices.Equal(f.Classes(), table.Classes()) {
				t.Errorf("%v, columns %v, classes %v; want %v, %v, %v", f, f.Columns(), f.Classes(), set, table.Columns, table.Classes())
			}
			want := follow(t, InOrder(set, 7), 300)
			if got := follow(t, InOrder(f, 7), 300); !slices.Equal(got, want) {
				t.Error("other bits than in memory")
			}
		})
	}
}

func TestCSVFileMissing(t *testing.T) {
	f, err := openCSV(t, "a,b\n1,?\n3,4\n", Missing(), NoLabel())
	if err != nil {
		t.Fatal(err)
	}
	b, err := InOrder(f, 0).Next(context.Background())
	if x := b.Values["x"].Float32s(); err != nil || !math.IsNaN(float64(x[1])) || x[2] != 3 {
		t.Errorf("%v: %v", x, err)
	}
}

func TestCSVFileErrors(t *testing.T) {
	long := "a,b\n" + strings.Repeat("1,2\n", 3000)
	for _, c := range []struct {
		text, want string
		opts       []Option
	}{
		{"", "the file is empty", nil},
		{"a,b\n", "1: no rows follow the header", nil},
		{long + "3,x\n", `3002: column "b": "x" is not a number`, nil},
		{long + "3\n", "3002: the number of cells is 1, not 2 as in line 1", nil},
		{long + "3,1e39\n", `3002: column "b": 1e+39 does not fit float32`, nil},
		{long + "3,\"4\n", `3002: quoted cell that is not closed or that text follows`, nil},
		{"a,b\nx,1\n", `2: column "a": "x" is not a number; ignore "a" to leave the column out`, nil},
		{"a,b\n1,2\nx,1\n", `3: column "a": "x" is not a number`, nil},
		{long, `1: label "c": no such column`, []Option{Label("c")}},
		{long, "the limit", []Option{MaxBytes(20)}},
		{long, "the limit", []Option{MaxCells(20)}},
		{long, "MaxLine(0): the limit must be positive", []Option{MaxLine(0)}},
	} {
		f, err := openCSV(t, c.text, c.opts...)
		var located *Error
		if !errors.As(err, &located) || !strings.Contains(err.Error(), c.want) || f != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("got  %v\nwant … %s", err, c.want)
		}
	}
	_, err := OpenCSV(context.Background(), filepath.Join(t.TempDir(), "none.csv"), "x", "y", tensor.Float32)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	_, err = OpenCSV(context.Background(), "digits.csv", "x", "x", tensor.Float32)
	complains(t, err, `data: features and labels are both to be column "x"`)
	_, err = OpenCSV(context.Background(), "digits.csv", "x", "y", tensor.Int32)
	complains(t, err, `digits.csv: dtype int32 is neither float32 nor float64`)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = OpenCSV(ended, "digits.csv", "x", "y", tensor.Float32)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f, err := openCSV(t, long)
	if err != nil {
		t.Fatal(err)
	}
	complains(t, f.Gather(context.Background(), f.NewBatch(1), []int{3000}), "data: row 3000 is outside [0, 3000)")
}

// A file that is no longer what was checked is found out, with the line where there is one.
func TestCSVFileChanges(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 3000)
	path := write(t, "f.csv", []byte(text))
	f, err := OpenCSV(context.Background(), path, "x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(text string, when time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	s := InOrder(f, 5)
	read := func(at Position) error {
		if err := s.Seek(at); err != nil {
			t.Fatal(err)
		}
		_, err := s.Next(context.Background())
		return err
	}
	rewrite(text[:len(text)-8], info.ModTime())
	complains(t, read(Position{0, 1}), path+": the file has changed since it was opened")
	rewrite(text, info.ModTime().Add(time.Hour))
	complains(t, read(Position{0, 1}), path+": the file has changed since it was opened")
	rewrite(text[:len(text)-4]+"1,x\n", info.ModTime()) // in secret
	complains(t, read(Position{0, 599}), path+`:3001: column "b": "x" is not a number`)
	rewrite(text[:len(text)-4]+"\n\n\n\n", info.ModTime())
	complains(t, read(Position{0, 599}), path+": the file has changed since it was opened")
	rewrite(text, info.ModTime())
	if err := read(Position{0, 599}); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := read(Position{0, 1}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Two sources on one file do not disturb each other.
func TestFilesTogether(t *testing.T) {
	table, records := onDisk(t, numbered(t, 3000))
	for _, d := range []Dataset{table, records} {
		want := follow(t, Shuffled(d, 500, 3), 8)
		var both sync.WaitGroup
		got := make([][]string, 2)
		for k := range got {
			both.Go(func() { got[k] = follow(t, Shuffled(d, 500, 3), 8) })
		}
		both.Wait()
		if !slices.Equal(got[0], want) || !slices.Equal(got[1], want) {
			t.Errorf("%v: other bits", d)
		}
	}
}

// TestMemory goes through files that are larger than the memory that is allowed for it:
// 200 MB and more with TAPESTRY_LONG.
func TestMemory(t *testing.T) {
	rows, window := 40_000, 4096
	if os.Getenv("TAPESTRY_LONG") != "" {
		rows, window = 1_200_000, 1<<16
	}
	const features = 20
	dir := t.TempDir()
	table, array := filepath.Join(dir, "t.csv"), filepath.Join(dir, "x.npy")
	text, err := os.Create(table)
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := os.Create(array)
	if err != nil {
		t.Fatal(err)
	}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, features)
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	w, v := bufio.NewWriter(text), bufio.NewWriter(binaries)
	fmt.Fprintf(v, "\x93NUMPY\x01\x00%s%s", []byte{118, 0}, header)
	rng := rand.New(rand.NewPCG(1, 1))
	for range rows {
		for j := range features {
			x := rng.Float32()
			fmt.Fprintf(w, "%.6f,", x)
			binary.Write(v, binary.LittleEndian, x)
			if j == features-1 {
				fmt.Fprintf(w, "c%d\n", rng.IntN(5))
			}
		}
	}
	for _, f := range []func() error{w.Flush, v.Flush, text.Close, binaries.Close} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(table)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	c, err := OpenCSV(context.Background(), table, "x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := OpenRecords(map[string]string{"x": array})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// A window of features and labels, with its order; what a parser needs; the index.
	bound := int64(window*(features*4+4+8)) + 1<<20 + int64(rows/blockRows*16)
	for name, fresh := range map[string]func() Source{
		"csv":            func() Source { return InOrder(c, 64) },
		"records":        func() Source { return InOrder(r, 64) },
		"csv window":     func() Source { return Shuffled(c, 64, 1, Window(window)) },
		"records window": func() Source { return Shuffled(r, 64, 1, Window(window)) },
	} {
		s := fresh()
		most, seen, begun := int64(0), 0, time.Now()
		for k := 0; s.Position().Epoch == 0; k++ {
			b, err := s.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			seen += b.Rows
			if k%(s.Batches()/10) == 1 {
				most = max(most, heap()-before)
			}
		}
		if seen != rows || most > bound {
			t.Errorf("%s: %d of %d rows seen, %d bytes of heap, want at most %d", name, seen, rows, most, bound)
		}
		t.Logf("%s: %d MB of text, %.1f MB of heap, %v", name, info.Size()>>20, float64(most)/1e6, time.Since(begun))
	}
}

// TestPipeInAnyOrder: what is read in any order is refused where it comes through a pipe.
func TestPipeInAnyOrder(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	for name, open := range map[string]func() error{
		"CSV":     func() error { _, err := OpenCSV(t.Context(), path, "x", "y", tensor.Float32); return err },
		"records": func() error { _, err := OpenRecords(map[string]string{"x": path}); return err },
		"npz":     func() error { _, err := array.OpenNPZ(path); return err },
	} {
		if err := open(); err == nil || err.Error() != path+": this is a pipe, which cannot be read in any order: write it to a file first" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
