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
func Open(path string, opts ...Option) (*Table, error) { return open(path, ReadCSV, opts) }

// open opens the file at path for a reader.
func open[T any](path string, read func(string, io.Reader, ...Option) (T, error), opts []Option) (T, error) {
	f, _, err := openFile(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(path, f, opts...)
}

// openFile opens a file that is no directory and says how long it is.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, openError(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		return f, info.Size(), nil
	}
	f.Close()
	if err != nil {
		return nil, 0, openError(path, err)
	}
	return nil, 0, &Error{File: path, Msg: "this is a directory, not a file"}
}

// openSeekable opens a file in which one can go to and fro, as what is read in any order asks
// for: no pipe.
func openSeekable(path string) (*os.File, int64, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(0, io.SeekCurrent); err != nil {
		f.Close()
		return nil, 0, &Error{File: path, Msg: "this is a pipe, which cannot be read in any order: write it to a file first", Err: err}
	}
	return f, size, nil
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
// UTF-8, with or without byte order mark, with lines that end in LF or CRLF; it may be
// compressed by gzip.
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
//     number; not if it is the only column, if its first number is a fraction, or if
//     it is y where there is an x, too. Label, NoLabel and Targets decide otherwise.
//   - Every other cell must be a finite number. Ignore leaves columns out; Missing
//     says which cells stand for no value.
//
// The result is a whole table with at least one row and one feature, or nil and
// an *Error.
func ReadCSV(name string, r io.Reader, opts ...Option) (*Table, error) {
	rows, err := newRows(name, r, newConfig(tables, opts))
	if err != nil {
		return nil, err
	}
	b, known, err := rows.begin()
	if err != nil {
		return nil, err
	}
	for _, row := range known {
		if err := b.add(row); err != nil {
			return nil, err
		}
	}
	for {
		row, err := rows.next()
		if err == io.EOF {
			return &b.t, nil
		}
		if err == nil {
			err = b.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin reads the first rows, finds what the columns are, and gives a builder of the
// table and those of the rows that are its first.
func (r *rows) begin() (*builder, []row, error) {
	first, err := r.next()
	if err == io.EOF {
		return nil, nil, &Error{File: r.file, Msg: "the file is empty"}
	}
	if err != nil {
		return nil, nil, err
	}
	first.cells = slices.Clone(first.cells) // the next row overwrites them
	known := []row{first}
	second, err := r.next()
	if err == nil {
		known = append(known, second)
	} else if err != io.EOF {
		return nil, nil, err
	}
	header := r.cfg.hasHeader(first, second)
	if header {
		known = known[1:]
	}
	if len(known) == 0 {
		return nil, nil, &Error{File: r.file, Line: first.line, Msg: "no rows follow the header"}
	}
	s, err := newSchema(r.file, &r.cfg, first, header, known[0])
	if err != nil {
		return nil, nil, err
	}
	b := &builder{schema: s, cfg: &r.cfg, known: make(map[string]string)}
	b.t.Name = r.file
	b.t.Columns, b.t.LabelName = s.features()
	if targets := r.cfg.targets; targets != nil {
		b.t.Targets = &Table{Name: r.file, Columns: slices.Clone(targets)}
	}
	return b, known, nil
}

// hasHeader says whether the first row holds names.
func (c *config) hasHeader(first, second row) bool {
	if c.header != nil {
		return *c.header
	}
	for j := range second.cells {
		if c.isText(first.cells[j]) && !c.isText(second.cells[j]) {
			return true
		}
	}
	// A row without any number cannot be data: a table has features.
	return !slices.ContainsFunc(first.cells, func(s string) bool { return !c.isText(s) })
}

// isText says whether a cell is neither a number nor in the place of one.
func (c *config) isText(cell string) bool { return isText(cell) && !c.isMissing(cell) }

func (c *config) isMissing(cell string) bool {
	return c.missing != nil && c.missing[strings.ToLower(cell)]
}

func isUsuallyMissing(cell string) bool {
	return slices.Contains(usuallyMissing, strings.ToLower(cell))
}

// builder appends rows to a table.
type builder struct {
	*schema
	cfg   *config
	t     Table
	known map[string]string // labels seen: one copy of each is kept
}

func (b *builder) add(r row) error {
	var targets []float64 // of this row
	if y := b.t.Targets; y != nil {
		n := len(y.X)
		y.X = append(y.X, make([]float64, len(y.Columns))...)
		targets = y.X[n:]
	}
	for j, cell := range r.cells {
		if b.role[j] == ignored {
			continue
		}
		v, isNumber := number(cell)
		msg := ""
		switch {
		case b.role[j] == feature && b.cfg.isMissing(cell):
			b.t.X = append(b.t.X, math.NaN())
		case cell == "":
			msg = "empty cell"
		case b.role[j] == label && isNumber && b.textLabels:
			msg = fmt.Sprintf("%s is a number but the labels above are not; name the label %s to allow both", quote(cell), quote(b.names[j]))
		case b.role[j] == label:
			b.t.Labels = append(b.t.Labels, b.intern(cell))
		case !isNumber:
			msg = quote(cell) + " is not a number"
			if len(b.t.Lines) == 0 && b.role[j] == feature {
				msg += fmt.Sprintf("; ignore %s to leave the column out", quote(b.names[j]))
			}
		case math.IsNaN(v) || math.IsInf(v, 0):
			msg = quote(cell) + " is not finite"
		case b.role[j] == target:
			targets[b.place[j]] = v
		default:
			b.t.X = append(b.t.X, v)
		}
		if msg != "" {
			usual := isUsuallyMissing(cell)
			if b.role[j] == target && (usual || b.cfg.isMissing(cell)) {
				msg += "; every row needs its target"
			}
			missing := b.role[j] == feature && usual || b.role[j] == label && b.doubtful
			return &Error{File: b.t.Name, Line: r.line, Column: b.names[j], Msg: msg, Missing: missing && b.cfg.missing == nil}
		}
	}
	b.t.Lines = append(b.t.Lines, r.line)
	if b.t.Targets != nil {
		b.t.Targets.Lines = b.t.Lines
	}
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
