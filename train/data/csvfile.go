package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// CSVFile is a [Dataset] of the rows of a CSV file that may be larger than memory: rows are read
// when they are asked for. It remembers where the rows 0, 1024, 2048, … begin, and reads from there
// up to the row it wants. So rows that lie close together are read at the speed of the CSV parser,
// and rows from all over a large file are not. Shuffle it in a [Window] of 2¹⁶ rows or more, whose
// blocks begin at the remembered places.
//
//	f, err := data.OpenCSV(ctx, "clicks.csv", "x", "y", tensor.Float32)
//	defer f.Close()
//	source := data.Prefetch(data.Shuffled(f, 64, 1, data.Window(1<<16)), 4)
//
// Several sources may read from one CSVFile. If they take turns, opening the file once for each is
// faster.
type CSVFile struct {
	x, y    string
	dtype   tensor.Dtype
	classes []string
	code    map[string]int32
	n       int
	places  []place

	lock     sync.Mutex // for what follows
	f        *os.File
	size     int64
	modified time.Time
	builder  *builder    // its table holds the row just read
	rows     *input.Rows // nil before a seek
	next     int         // the row that rows reads next
	sorted   []int       // scratch memory of Gather
	lines    int         // lines of the file before the place that rows started from
}

// place is the position of a row in a file.
type place struct {
	start int64
	line  int
}

// OpenCSV reads the file at path once, to check every cell, find the classes and count the rows,
// and leaves it open. Rules and options are those of [ReadCSV]. A batch of n rows has the columns
// of [Table.Set]: the d features as x[n d], of tensor.Float32 or Float64, and as y the codes of the
// labels, y[n] of Int32, or the k [Targets], y[n k] of the type of the features. MaxBytes and
// MaxCells have no default here. Cells that [Missing] names are NaN (see [ReplaceNaN]). More than
// 2²⁰ different labels are an *Error, and so is a compressed file.
func OpenCSV(ctx context.Context, path, x, y string, dtype tensor.Dtype, opts ...Option) (c *CSVFile, err error) {
	if dtype != tensor.Float32 && dtype != tensor.Float64 {
		return nil, &Error{File: path, Msg: fmt.Sprintf("dtype %v is neither float32 nor float64", dtype.Type)}
	}
	f, _, err := input.OpenSeekable(path)
	if err != nil {
		return nil, err
	}
	c = &CSVFile{x: x, y: y, dtype: dtype, f: f}
	defer func() {
		if err != nil {
			c, err = nil, errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, input.OpenError(path, err)
	}
	c.size, c.modified = info.Size(), info.ModTime()
	return c, c.index(ctx, path, append([]Option{MaxBytes(math.MaxInt64), MaxCells(math.MaxInt)}, opts...))
}

// index reads the whole file and finds its classes and places.
func (c *CSVFile) index(ctx context.Context, path string, opts []Option) error {
	rows, err := input.NewRows(path, c.f, input.NewConfig(input.Tables, opts))
	if err != nil {
		return err
	}
	if rows.Compressed {
		return &Error{File: path, Msg: inAnyOrder}
	}
	s, known, err := rows.Begin()
	if err != nil {
		return err
	}
	c.builder = newBuilder(rows, s)
	c.rows, c.builder.cfg.Delimiter = rows, rows.CSV.Comma
	if t := &c.builder.t; c.x == c.y && (t.LabelName != "" || t.Targets != nil) {
		return oneColumn(c.x, t.Targets)
	}
	for ; ; c.n++ {
		if c.n%blockRows == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		var r input.Row
		if c.n < len(known) {
			r = known[c.n]
		} else if r, err = rows.Next(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if err := c.parse(r); err != nil {
			return err
		}
		if c.n%blockRows == 0 {
			c.places = append(c.places, place{r.Start, r.Line})
		}
		const most = 1 << 20
		if len(c.builder.labels) > most {
			return &Error{File: path, Line: r.Line, Column: c.builder.t.LabelName, Msg: fmt.Sprintf("more than %d different labels", most)}
		}
	}
	if c.builder.t.LabelName != "" {
		codes, classes := Codes(slices.Collect(maps.Keys(c.builder.labels)))
		c.classes, c.code = classes, make(map[string]int32, len(codes))
		for i, name := range classes {
			c.code[name] = int32(i)
		}
	}
	c.rows = nil
	return nil
}

// parse replaces the row of the builder's table by r.
func (c *CSVFile) parse(r input.Row) error {
	t := &c.builder.t
	t.X, t.Labels, t.Lines = t.X[:0], t.Labels[:0], t.Lines[:min(len(t.Lines), 1)] // empty for the first row, whose errors differ
	if t.Targets != nil {
		t.Targets.X = t.Targets.X[:0]
	}
	if err := c.builder.add(r); err != nil {
		return err
	}
	if c.dtype != tensor.Float32 {
		return nil
	}
	for ; t != nil; t = t.Targets {
		for j, v := range t.X {
			if math.Abs(v) > math.MaxFloat32 && math.IsInf(float64(float32(v)), 0) {
				return &Error{File: t.Name, Line: r.Line, Column: t.Columns[j], Msg: notFloat32(v)}
			}
		}
	}
	return nil
}

// Rows returns the number of rows.
func (c *CSVFile) Rows() int {
	if c == nil {
		return 0
	}
	return c.n
}

// Columns returns the names of the features.
func (c *CSVFile) Columns() []string { return slices.Clone(c.builder.t.Columns) }

// Targets returns the names of the targets, in the order of their columns, or nil.
func (c *CSVFile) Targets() []string {
	if c.builder.t.Targets == nil {
		return nil
	}
	return slices.Clone(c.builder.t.Targets.Columns)
}

// Classes returns the distinct labels, in the order of their codes, or nil.
func (c *CSVFile) Classes() []string { return slices.Clone(c.classes) }

// Close closes the file.
func (c *CSVFile) Close() error {
	c = input.OrZero(c)
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.f == nil {
		return nil
	}
	return c.f.Close()
}

// NewBatch returns a batch of n rows for [CSVFile.Gather] to fill.
func (c *CSVFile) NewBatch(n int) Batch {
	b := Batch{Rows: n, Values: map[string]*tensor.Dense{c.x: tensors.New(c.dtype, n, []int{len(c.builder.t.Columns)})}}
	switch {
	case c.code != nil:
		b.Values[c.y] = tensors.New(tensor.Int32, n, nil)
	case c.builder.t.Targets != nil:
		b.Values[c.y] = tensors.New(c.dtype, n, []int{len(c.builder.t.Targets.Columns)})
	}
	return b
}

// Gather fills b with the given rows. It is an *Error if the file has changed since it was opened.
func (c *CSVFile) Gather(ctx context.Context, b Batch, rows []int) error {
	c = input.OrZero(c)
	if err := tensors.CheckRows(rows, c.n); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	x, err := tensors.Column(b.Values, c.x, c.dtype, len(rows), []int{len(c.builder.t.Columns)})
	if err != nil {
		return err
	}
	var y *tensor.Dense
	switch {
	case c.code != nil:
		y, err = tensors.Column(b.Values, c.y, tensor.Int32, len(rows), nil)
	case c.builder.t.Targets != nil:
		y, err = tensors.Column(b.Values, c.y, c.dtype, len(rows), []int{len(c.builder.t.Targets.Columns)})
	}
	if err != nil {
		return err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	// In the order of the file, so that no part of it is read twice.
	c.sorted = c.sorted[:0]
	for k := range rows {
		c.sorted = append(c.sorted, k)
	}
	slices.SortStableFunc(c.sorted, func(k, l int) int { return cmp.Compare(rows[k], rows[l]) })
	for _, k := range c.sorted {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.read(rows[k]); err != nil {
			c.rows = nil
			return err
		}
		t := &c.builder.t
		putRow(x, k, t.X)
		if t.Targets != nil {
			putRow(y, k, t.Targets.X)
		}
		if c.code == nil {
			continue
		}
		code, ok := c.code[t.Labels[0]]
		if !ok {
			return c.changed()
		}
		y.Int32s()[k] = code
	}
	return nil
}

// putRow writes numbers to row k of an array of floats.
func putRow(to *tensor.Dense, k int, row []float64) {
	at := k * len(row)
	if to.Dtype() == tensor.Float64 {
		copy(to.Float64s()[at:], row)
		return
	}
	tensors.Convert(to.Float32s()[at:], row)
}

// read puts row i into the builder's table.
func (c *CSVFile) read(i int) error {
	if c.rows != nil && i == c.next-1 {
		return nil // it is there already
	}
	if c.rows == nil || i < c.next || i/blockRows > c.next/blockRows {
		if err := c.seek(i / blockRows); err != nil {
			return err
		}
	}
	for {
		r, err := c.rows.Next()
		if err == io.EOF {
			return c.changed()
		}
		if err != nil {
			return c.located(err)
		}
		if c.next%blockRows == 0 {
			c.lines = c.places[c.next/blockRows].line - r.Line
		}
		c.next++
		if c.next == i+1 {
			return c.located(c.parse(r))
		}
	}
}

// seek goes to the beginning of a block of rows.
func (c *CSVFile) seek(block int) (err error) {
	info, err := c.f.Stat()
	if err != nil {
		return input.OpenError(c.builder.t.Name, err)
	}
	if info.Size() != c.size || !info.ModTime().Equal(c.modified) {
		return c.changed()
	}
	at := c.places[block]
	c.rows, err = input.NewRows(c.builder.t.Name, io.NewSectionReader(c.f, at.start, c.size-at.start), *c.builder.cfg)
	if err == nil {
		c.next, c.lines = block*blockRows, at.line-1
		c.rows.Width, c.rows.WidthLine = len(c.builder.Names), 1
	}
	return err
}

// located adds the lines before the place of the last seek to the line of an error.
func (c *CSVFile) located(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) && e.Line > 0 {
		e.Line += c.lines
	}
	return err
}

func (c *CSVFile) changed() error {
	return &Error{File: c.builder.t.Name, Msg: "the file has changed since it was opened"}
}

// String describes the columns: "clicks.csv: 120000 rows, x[13] float32, y[] int32 of 2 classes",
// or with targets "…, y[2] float32".
func (c *CSVFile) String() string {
	s := fmt.Sprintf("%s: %d rows, %s[%d] %v", c.builder.t.Name, c.n, c.x, len(c.builder.t.Columns), c.dtype)
	if y := c.Targets(); y != nil {
		s += fmt.Sprintf(", %s[%d] %v", c.y, len(y), c.dtype)
	}
	if c.code != nil {
		s += fmt.Sprintf(", %s[] int32 of %d classes", c.y, len(c.classes))
	}
	return s
}
