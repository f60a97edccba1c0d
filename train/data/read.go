package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
)

// Open reads the file at path as ReadCSV does. A missing file satisfies
// errors.Is(err, fs.ErrNotExist).
func Open(path string, opts ...Option) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, openError(path, err)
	}
	if info.IsDir() {
		return nil, &Error{File: path, Msg: "this is a directory, not a file"}
	}
	return ReadCSV(path, f, opts...)
}

// openError says what kept path from being opened, without naming it twice.
func openError(path string, err error) error {
	msg := "cannot open: " + err.Error()
	var at *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		msg = "no such file"
	} else if errors.As(err, &at) {
		msg = "cannot open: " + at.Err.Error()
	}
	return &Error{File: path, Msg: msg, Err: err}
}

// ReadCSV reads a table from CSV text; name is what errors call it. The text is
// UTF-8, with or without byte order mark, with lines that end in LF or CRLF.
// Quoting is that of encoding/csv. White space around a cell is dropped; lines
// that are empty or hold only white space are skipped.
//
//   - The delimiter is the most frequent of comma, semicolon and tab in the first
//     line, the earlier of these if equally frequent. Delimiter sets it.
//   - The first row is a header if in some column it holds no number where the row
//     below does, or if it holds no number at all. Header decides otherwise.
//     Without header the columns are x1, x2, ….
//   - The last column holds labels if its header is, in any case, one of label,
//     class, target, species, digit, cultivar and y, or if none of its cells is a
//     number; not if it is the only column. Label and NoLabel decide otherwise.
//   - Every other cell must be a finite number. Ignore leaves columns out.
//
// The result is a whole table with at least one row and one feature, or nil and
// an *Error.
func ReadCSV(name string, r io.Reader, opts ...Option) (*Table, error) {
	rows, err := newRows(name, r, newConfig(opts))
	if err != nil {
		return nil, err
	}
	first, err := rows.next()
	if err == io.EOF {
		return nil, &Error{File: name, Msg: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	first.cells = slices.Clone(first.cells) // the next row overwrites them
	second, err := rows.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	return rows.table(first, second)
}

// table reads all rows, of which the first two are known; second has no cells if
// the file ends before it.
func (r *rows) table(first, second row) (*Table, error) {
	sample := first
	header := r.cfg.hasHeader(first, second)
	if header {
		sample = second
	}
	if sample.cells == nil {
		return nil, &Error{File: r.file, Line: first.line, Msg: "no rows follow the header"}
	}
	s, err := newSchema(r.file, &r.cfg, first, header, sample)
	if err != nil {
		return nil, err
	}
	b := builder{schema: s, known: make(map[string]string)}
	b.t.Name = r.file
	b.t.Columns, b.t.LabelName = s.features()
	if !header {
		if err := b.add(first); err != nil {
			return nil, err
		}
	}
	for next := second; next.cells != nil; {
		if err := b.add(next); err != nil {
			return nil, err
		}
		if next, err = r.next(); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return &b.t, nil
}

// hasHeader says whether the first row holds names.
func (c *config) hasHeader(first, second row) bool {
	if c.header != nil {
		return *c.header
	}
	for j := range second.cells {
		if isText(first.cells[j]) && !isText(second.cells[j]) {
			return true
		}
	}
	// A row without any number cannot be data: a table has features.
	return !slices.ContainsFunc(first.cells, func(s string) bool { return !isText(s) })
}

// builder appends rows to a table.
type builder struct {
	*schema
	t     Table
	known map[string]string // labels seen: one copy of each is kept
}

func (b *builder) add(r row) error {
	for j, cell := range r.cells {
		if b.role[j] == ignored {
			continue
		}
		v, isNumber := number(cell)
		msg := ""
		switch {
		case cell == "":
			msg = "empty cell"
		case b.role[j] == label && isNumber && b.textLabels:
			msg = fmt.Sprintf("%s is a number but the labels above are not; name the label %s to allow both", quote(cell), quote(b.names[j]))
		case b.role[j] == label:
			b.t.Labels = append(b.t.Labels, b.intern(cell))
		case !isNumber:
			msg = quote(cell) + " is not a number"
			if len(b.t.Lines) == 0 {
				msg += fmt.Sprintf("; ignore %s to leave the column out", quote(b.names[j]))
			}
		case math.IsNaN(v) || math.IsInf(v, 0):
			msg = quote(cell) + " is not finite"
		default:
			b.t.X = append(b.t.X, v)
		}
		if msg != "" {
			return &Error{File: b.t.Name, Line: r.line, Column: b.names[j], Msg: msg}
		}
	}
	b.t.Lines = append(b.t.Lines, r.line)
	return nil
}

// intern returns a copy of a label that does not keep its whole line alive.
func (b *builder) intern(s string) string {
	known, ok := b.known[s]
	if !ok {
		known = strings.Clone(s)
		b.known[known] = known
	}
	return known
}
