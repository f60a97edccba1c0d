package data

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// WriteCSV writes t with a header, commas between cells, the labels or targets as the last columns,
// and as many digits as it takes to read the same float64 back. [ReadCSV] reads it back equal in
// all but Name and Lines, given Header(true) and Label(t.LabelName), Targets(names...) or
// NoLabel(); a table that ReadCSV read without options needs none of these. A table that no file
// can hold is an *Error before anything is written: one without rows, with values that are not
// finite, with names that are empty or recur, with empty labels, or with text that ReadCSV refuses
// or trims.
func WriteCSV(w io.Writer, t *Table) error {
	if w == nil {
		return input.NoWriter()
	}
	if err := t.writable(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	for j, name := range t.header() {
		if j > 0 {
			b.WriteByte(',')
		}
		b.WriteString(input.QuoteCell(name))
	}
	b.WriteByte('\n')
	var digits []byte
	for i := range t.Rows() {
		for half := t; half != nil; half = half.Targets {
			d := len(half.Columns)
			for j, v := range half.X[i*d : (i+1)*d] {
				if j > 0 || half != t {
					b.WriteByte(',')
				}
				digits = strconv.AppendFloat(digits[:0], v, 'g', -1, 64)
				b.Write(digits)
			}
		}
		if t.Labels != nil {
			b.WriteByte(',')
			b.WriteString(input.QuoteCell(t.Labels[i]))
		}
		b.WriteByte('\n')
	}
	return b.Flush() // the first error of any write above
}

// header returns the names of all columns of the file.
func (t *Table) header() []string {
	names := slices.Clone(t.Columns)
	if t.Labels != nil {
		names = append(names, t.LabelName)
	}
	if t.Targets != nil {
		names = append(names, t.Targets.Columns...)
	}
	return names
}

// writable returns an error if t cannot be written and read back.
func (t *Table) writable() error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Rows() == 0 {
		return &Error{File: t.Name, Msg: "the table has no rows"}
	}
	names := t.header()
	for j, name := range names {
		if msg := input.Unwritable(name); msg != "" {
			return &Error{File: t.Name, Msg: fmt.Sprintf("name of column %d: %s", j+1, msg)}
		}
	}
	s := input.Schema{Names: names, Role: make([]input.Role, len(names))}
	if msg := s.CheckNames(); msg != "" {
		return &Error{File: t.Name, Msg: msg}
	}
	for i, l := range t.Labels {
		if msg := input.Unwritable(l); msg != "" {
			return &Error{File: t.Name, Column: t.LabelName, Msg: fmt.Sprintf("label of row %d: %s", i, msg)}
		}
	}
	if t.Targets != nil {
		if err := t.Targets.finite(); err != nil {
			return err
		}
	}
	return t.finite()
}
