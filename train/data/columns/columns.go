package columns

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

// Columns holds the columns of a file or of a built-in data set. Its text form lists them:
//
//	wine.csv: 178 rows
//	  alcohol   number
//	  cultivar  3 classes: 0, 1, 2; the label
//
// [Open] reads a file and [Builtin] returns a built-in data set. It does not change.
type Columns struct {
	Name    string // the file, as errors cite it
	columns []Column
	label   string
}

// Column is one of [Columns]: an array whose first axis is the rows.
//
// Numbers of a table are of tensor.Float64, NaN where the option [data.Missing] says that there is
// no value; arrays keep the type of the file. A column with Classes holds their codes (see
// [data.Codes]) as tensor.Int32, one a row.
type Column struct {
	Name    string
	Values  *tensor.Dense
	Classes []string // what the codes stand for; nil for numbers

	// Windowed is true for a sequence of tokens, numbered by Vocabulary, of which an input reads
	// windows that follow each other; Next is true if it reads the token after each of those.
	Windowed, Next bool
	Vocabulary     *text.Vocabulary

	lines []int // of the file, by row; nil where there are none
}

// New returns Columns of arrays, each of at least one row and with a name of its own; name is that
// of the file, as errors cite it. An array that a graph does not take is an *Error.
func New(name string, columns ...Column) (*Columns, error) {
	c := &Columns{Name: name, columns: slices.Clone(columns)}
	seen := map[string]bool{}
	for _, k := range columns {
		msg := tensors.CheckColumn(k.Values)
		switch {
		case k.Name == "":
			msg = "a column without a name"
		case seen[k.Name]:
			msg = "two columns of this name"
		case msg == "" && k.Classes != nil:
			msg = k.checkCodes()
		}
		if msg != "" {
			return nil, &data.Error{File: name, Column: k.Name, Msg: msg}
		}
		seen[k.Name] = true
	}
	if len(columns) == 0 {
		return nil, &data.Error{File: name, Msg: "there are no columns"}
	}
	return c, nil
}

// checkCodes returns what is wrong with the codes of classes, or "".
func (k Column) checkCodes() string {
	if k.Values.Dtype() != tensor.Int32 || k.Values.Dims() != 1 {
		return "codes of classes are int32, one a row"
	}
	for _, v := range k.Values.Int32s() {
		if v < 0 || int(v) >= len(k.Classes) {
			return fmt.Sprintf("code %d is outside of %d classes", v, len(k.Classes))
		}
	}
	return ""
}

// OfTable returns the features and targets of a table, each as a column of numbers, and its label
// as a column of classes. Missing values are NaN. A table without rows is an *Error.
func OfTable(t *data.Table) (*Columns, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	n := t.Rows()
	if n == 0 {
		return nil, &data.Error{File: t.Name, Msg: "the table has no rows"}
	}
	var columns []Column
	for _, part := range []*data.Table{t, t.Targets} {
		if part == nil {
			continue
		}
		d := len(part.Columns)
		for j, name := range part.Columns {
			v := make([]float64, n)
			for i := range v {
				v[i] = part.X[i*d+j]
			}
			columns = append(columns, Column{Name: name, Values: vector(v), lines: t.Lines})
		}
	}
	if t.Labels != nil {
		columns = append(columns, classColumn(t.LabelName, t.Labels, t.Lines))
	}
	c, err := New(t.Name, columns...)
	if err == nil {
		c.label = t.LabelName
	}
	return c, err
}

// classColumn returns the column of texts that name classes.
func classColumn(name string, texts []string, lines []int) Column {
	codes, classes := data.Codes(texts)
	v := make([]int32, len(codes))
	for i, c := range codes {
		v[i] = int32(c)
	}
	if name == "" {
		name = "label"
	}
	return Column{Name: name, Values: vector(v), Classes: classes, lines: lines}
}

// vector returns a tensor of one axis.
func vector[T any](v []T) *tensor.Dense {
	return tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v))
}

// Columns returns the columns, in the order of the file.
func (c *Columns) Columns() []Column {
	if c == nil {
		return nil
	}
	return slices.Clone(c.columns)
}

// Names returns the names of the columns, in the order of the file.
func (c *Columns) Names() []string {
	var names []string
	for _, k := range c.Columns() {
		names = append(names, k.Name)
	}
	return names
}

// Column returns the named column. The error for a name that is unknown suggests one that is like
// it.
func (c *Columns) Column(name string) (Column, error) {
	for _, k := range c.Columns() {
		if k.Name == name {
			return k, nil
		}
	}
	if c == nil {
		return Column{}, &data.Error{Column: name, Msg: "there are no data"}
	}
	return Column{}, &data.Error{File: c.Name, Column: name, Msg: fmt.Sprintf("no such column%s; there are %s", input.DidYouMean(name, c.Names()), strings.Join(c.Names(), ", "))}
}

// Label returns the name of the column that holds the label, given by the option [data.Label] or
// found in the file; "" if there is none.
func (c *Columns) Label() string {
	if c == nil {
		return ""
	}
	return c.label
}

// Beside returns the columns of several files, in their order. The label is that of the first file
// that has one. Names that recur are an *Error.
func Beside(all ...*Columns) (*Columns, error) {
	var names []string
	var columns []Column
	label := ""
	for _, c := range all {
		if c == nil {
			continue
		}
		names, columns = append(names, c.Name), append(columns, c.columns...)
		if label == "" {
			label = c.label
		}
	}
	out, err := New(strings.Join(names, " and "), columns...)
	if err == nil {
		out.label = label
	}
	return out, err
}

// Rows returns the number of rows.
func (k Column) Rows() int {
	if k.Values == nil || k.Values.Dims() == 0 {
		return 0
	}
	return k.Values.Shape()[0]
}

// Row returns the shape of one row, which is empty for a number or a class.
func (k Column) Row() []int {
	if k.Values == nil || k.Values.Dims() == 0 {
		return nil
	}
	return slices.Clone(k.Values.Shape()[1:])
}

// Numbers reports whether the column holds numbers, or classes whose names are all numbers.
func (k Column) Numbers() bool {
	return k.Classes == nil || !slices.ContainsFunc(k.Classes, input.IsText)
}

// Float64s returns the numbers of the column, row after row; of classes, the numbers that are their
// names. Missing values are NaN, and integers beyond 2⁵³ are rounded. Classes whose names are not
// numbers are an *Error.
func (k Column) Float64s() ([]float64, error) {
	if k.Values == nil {
		return nil, &data.Error{Column: k.Name, Msg: "the column is empty"}
	}
	if !k.Numbers() {
		return nil, &data.Error{Column: k.Name, Msg: fmt.Sprintf("%s is not a number: the column holds %d classes", input.Quote(k.Classes[slices.IndexFunc(k.Classes, input.IsText)]), len(k.Classes))}
	}
	out := make([]float64, k.Values.Shape().TotalSize())
	if k.Classes != nil {
		for i, c := range k.Values.Int32s() {
			out[i], _ = input.Number(k.Classes[c])
		}
		return out, nil
	}
	if k.Values.Dtype() == tensor.Float64 {
		copy(out, k.Values.Float64s())
		return out, nil
	}
	tensors.Floats(out, k.Values)
	return out, nil
}

// Line returns the line of the file that a row starts on, or 0 if it is unknown.
func (k Column) Line(row int) int {
	if row < 0 || row >= len(k.lines) {
		return 0
	}
	return k.lines[row]
}

// String describes what the column holds: "number", "3 classes: 0, 1, 2", "f32[8 8]",
// "tokens, of 60 kinds".
func (k Column) String() string {
	switch {
	case k.Values == nil:
		return "nothing"
	case k.Windowed && k.Next:
		return fmt.Sprintf("the tokens that follow, of %d kinds", k.Vocabulary.Len())
	case k.Windowed:
		return fmt.Sprintf("tokens, of %d kinds", k.Vocabulary.Len())
	case k.Classes != nil:
		shown := k.Classes
		more := ""
		if most := 5; len(shown) > most {
			shown, more = shown[:most], ", …"
		}
		return fmt.Sprintf("%d classes: %s%s", len(k.Classes), strings.Join(shown, ", "), more)
	case k.Values.Dims() == 1:
		return "number"
	}
	return fmt.Sprintf("%v%v", k.Values.Dtype(), k.Row())
}

// String returns the text form.
func (c *Columns) String() string {
	if c == nil || len(c.columns) == 0 {
		return "no data\n"
	}
	var b strings.Builder
	rows := c.columns[0].Rows()
	same := !slices.ContainsFunc(c.columns, func(k Column) bool { return k.Rows() != rows })
	fmt.Fprintf(&b, "%s", c.Name)
	if same {
		fmt.Fprintf(&b, ": %d rows", rows)
	}
	b.WriteByte('\n')
	width := 0
	for _, k := range c.columns {
		width = max(width, len([]rune(k.Name)))
	}
	for _, k := range c.columns {
		fmt.Fprintf(&b, "  %-*s  %v", width, k.Name, k)
		if !same {
			fmt.Fprintf(&b, ", %d rows", k.Rows())
		}
		if k.Name == c.label {
			b.WriteString("; the label")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// WithoutMissing returns all columns without the rows in which a number of a named column is
// missing. It is an *Error if no row is left, or if the columns differ in their number of rows.
func (c *Columns) WithoutMissing(names ...string) (*Columns, error) {
	var keep []bool
	for _, name := range names {
		k, err := c.Column(name)
		if err != nil {
			return nil, err
		}
		if keep == nil {
			keep = make([]bool, k.Rows())
			for i := range keep {
				keep[i] = true
			}
		}
		if k.Rows() != len(keep) {
			return nil, &data.Error{File: c.Name, Column: name, Msg: fmt.Sprintf("%d rows, and the columns before it have %d", k.Rows(), len(keep))}
		}
		for i := range k.gaps() {
			keep[i] = false
		}
	}
	var rows []int
	for i, k := range keep {
		if k {
			rows = append(rows, i)
		}
	}
	if len(rows) == len(keep) {
		return c, nil
	}
	if len(rows) == 0 {
		return nil, &data.Error{File: c.Name, Msg: "every row has a missing value"}
	}
	out := &Columns{Name: c.Name, label: c.label}
	for _, k := range c.columns {
		if k.Rows() != len(keep) {
			return nil, &data.Error{File: c.Name, Column: k.Name, Msg: fmt.Sprintf("%d rows, and others have %d: rows cannot be left out", k.Rows(), len(keep))}
		}
		values := tensors.Like(k.Values, len(rows))
		tensors.CopyRows(values, 0, k.Values, rows)
		k.Values, k.lines = values, tensors.Pick(k.lines, rows)
		out.columns = append(out.columns, k)
	}
	return out, nil
}

// gaps returns the set of rows in which a number is missing.
func (k Column) gaps() map[int]bool {
	gaps := map[int]bool{}
	if k.Values.Dtype() != tensor.Float64 || k.Classes != nil {
		return gaps
	}
	v := k.Values.Float64s()
	for i, x := range v {
		if math.IsNaN(x) {
			gaps[i/max(1, len(v)/k.Rows())] = true
		}
	}
	return gaps
}
