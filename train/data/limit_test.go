package data

import (
	"io"
	"runtime"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
)

// repeat delivers head once and then body over and over, size bytes in all.
type repeat struct {
	head, body string
	size, at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.at < r.size {
		if r.at < len(r.head) {
			p[n] = r.head[r.at]
		} else {
			p[n] = r.body[(r.at-len(r.head))%len(r.body)]
		}
		n++
		r.at++
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestHugeLine feeds 200 MB without an end of row. What counts is that reading
// stops early and that little was allocated on the way.
func TestHugeLine(t *testing.T) {
	for _, c := range []struct {
		name, head, body, want string
		allocated              uint64 // bytes at most
	}{
		{"one cell", "a,b\n1,2\n", "7", "f.csv:3: the line is longer than 1048576 bytes; MaxLine sets the limit", 8 << 20},
		// Half a million cells fit the line, at 32 bytes each and slices that grow.
		{"many cells", "a,b\n1,2\n", "7,", "f.csv:3: the line is longer than 1048576 bytes; MaxLine sets the limit", 96 << 20},
		{"first line", "", "a,", "f.csv:1: the line is longer than 1048576 bytes; MaxLine sets the limit", 96 << 20},
		{"open quote", "a,b\n1,\"", "23456789012345\n", "f.csv:69906: a quoted cell makes the row longer than 1048576 bytes; " +
			"is a quote not closed? MaxLine sets the limit", 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &repeat{head: c.head, body: c.body, size: 200 << 20}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ReadCSV("f.csv", r)
			runtime.ReadMemStats(&after)
			datatest.WantError(t, err, c.want)
			if limit := 2 << 20; r.at > limit {
				t.Errorf("%d bytes read, want at most %d", r.at, limit)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > c.allocated {
				t.Errorf("%d bytes allocated, want at most %d", got, c.allocated)
			}
		})
	}
}

// TestManyRows reads a long file whose labels recur: the table must not keep the
// text of the rows alive.
func TestManyRows(t *testing.T) {
	const rows = 20000
	row := "1,some rather long but ever the same label of a row in a long file of such rows\n"
	r := &repeat{head: "a,class\n", body: row, size: 8 + rows*len(row)}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	table, err := ReadCSV("f.csv", r)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if table.Rows() != rows {
		t.Fatalf("%d rows, want %d", table.Rows(), rows)
	}
	// A row keeps 8 bytes of value, 8 of line number and 16 of label, and slices
	// grow by at most a half: the text of the rows, 81 bytes each, is gone.
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 60*rows {
		t.Errorf("%d bytes kept for %d rows", kept, rows)
	}
	runtime.KeepAlive(table)
}
