package data

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Set is a [Dataset] in memory: named columns, each an array whose first axis is the rows, such as
// x[1797 64] and y[1797]. The names are those of a model's inputs. All columns have the same number
// of rows, at least one. A Set does not change.
type Set struct {
	rows    int
	names   []string // sorted
	columns map[string]*tensor.Dense
}

// NewSet returns a set of columns: row-major arrays of tensor.Float32, Float64, Int32, Int64, Int8,
// Uint8 or Bool, which are not copied. Other arrays are an error, and so are columns that differ in their
// number of rows.
func NewSet(columns map[string]*tensor.Dense) (*Set, error) {
	s := &Set{names: slices.Sorted(maps.Keys(columns)), columns: maps.Clone(columns)}
	if len(s.names) == 0 {
		return nil, fmt.Errorf("data: a set without columns")
	}
	for k, name := range s.names {
		t := columns[name]
		if msg := tensors.CheckColumn(t); msg != "" {
			return nil, fmt.Errorf("data: column %s: %s", input.Quote(name), msg)
		}
		rows := t.Shape()[0]
		if k > 0 && rows != s.rows {
			return nil, fmt.Errorf("data: column %s has %d rows, %s has %d", input.Quote(name), rows, input.Quote(s.names[0]), s.rows)
		}
		s.rows = rows
	}
	return s, nil
}

// Set returns the features as column x[n d], of tensor.Float32 or Float64, and as column y, named
// by the second argument, the codes of the labels (see [Codes]), y[n] of Int32, or the targets, y[n
// k] of dtype; a table without either gives only x. Errors are those of [Table.Dense].
func (t *Table) Set(x, y string, dtype tensor.Dtype) (*Set, error) {
	features, err := t.Dense(dtype)
	if err != nil {
		return nil, err
	}
	columns := map[string]*tensor.Dense{x: features}
	switch {
	case x == y && (t.Labels != nil || t.Targets != nil):
		return nil, oneColumn(x, t.Targets)
	case t.Targets != nil:
		if columns[y], err = t.Targets.Dense(dtype); err != nil {
			return nil, err
		}
	case t.Labels != nil:
		codes, _ := Codes(t.Labels)
		labels := make([]int32, len(codes))
		for i, c := range codes {
			labels[i] = int32(c)
		}
		columns[y] = tensor.New(tensor.WithShape(len(labels)), tensor.WithBacking(labels))
	}
	return NewSet(columns)
}

// oneColumn returns the error for features and labels, or targets, of the same name.
func oneColumn(name string, targets *Table) error {
	what := "labels"
	if targets != nil {
		what = "targets"
	}
	return fmt.Errorf("data: features and %s are both to be column %s", what, input.Quote(name))
}

// Rows returns the number of rows.
func (s *Set) Rows() int {
	if s == nil {
		return 0
	}
	return s.rows
}

// Names returns the sorted names of the columns.
func (s *Set) Names() []string { return slices.Clone(input.OrZero(s).names) }

// Column returns the named column, which must not be changed, or nil.
func (s *Set) Column(name string) *tensor.Dense { return input.OrZero(s).columns[name] }

// NewBatch returns a batch of n rows for [Set.Gather] to fill.
func (s *Set) NewBatch(n int) Batch {
	s = input.OrZero(s)
	b := Batch{Rows: n, Values: make(map[string]*tensor.Dense, len(s.names))}
	for name, t := range s.columns {
		b.Values[name] = tensors.Like(t, n)
	}
	return b
}

// Gather fills b with copies of the given rows. A row outside [0, Rows) is an error.
func (s *Set) Gather(_ context.Context, b Batch, rows []int) error {
	if err := s.check(rows); err != nil {
		return err
	}
	for name, t := range input.OrZero(s).columns {
		to, err := tensors.Column(b.Values, name, t.Dtype(), len(rows), t.Shape()[1:])
		if err != nil {
			return err
		}
		tensors.CopyRows(to, 0, t, rows)
	}
	return nil
}

// check returns an error for the first row outside [0, Rows).
func (s *Set) check(rows []int) error { return tensors.CheckRows(rows, s.Rows()) }

// Subset returns a new set of the given rows, in that order. A row may recur. No rows are an error,
// and so is a row outside [0, Rows).
func (s *Set) Subset(rows []int) (*Set, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("data: a subset of no rows")
	}
	if err := s.check(rows); err != nil {
		return nil, err
	}
	b := s.NewBatch(len(rows))
	out := &Set{rows: b.Rows, names: s.names, columns: b.Values}
	return out, s.Gather(context.Background(), b, rows)
}

// With returns the set with a column added, or replaced if the name is taken. The other columns are
// shared. Errors are those of [NewSet].
func (s *Set) With(name string, column *tensor.Dense) (*Set, error) {
	columns := map[string]*tensor.Dense{}
	maps.Copy(columns, input.OrZero(s).columns)
	columns[name] = column
	return NewSet(columns)
}

// Reshape returns the set with the rows of the named column in another shape, such as images:
// s.Reshape("x", 8, 8) turns x[1797 64] into x[1797 8 8]. Elements are shared. An unknown name is
// an error, and so is a shape of another number of elements.
func (s *Set) Reshape(name string, row ...int) (*Set, error) {
	t := s.Column(name)
	if t == nil {
		return nil, s.missing(name)
	}
	size := 1
	for _, n := range row {
		if n < 1 || size > t.Shape().TotalSize()/n {
			size = 0 // impossible
			break
		}
		size *= n
	}
	if size*s.rows != t.Shape().TotalSize() {
		return nil, fmt.Errorf("data: column %s: rows of %v cannot be laid out as %v", input.Quote(name), []int(t.Shape()[1:]), row)
	}
	flat := tensor.New(tensor.WithShape(append([]int{s.rows}, row...)...), tensor.WithBacking(t.Data()))
	return s.With(name, flat)
}

// Floats returns the set with the named columns converted to dtype, tensor.Float32 or Float64:
// integers such as pixels, booleans as 0 and 1, and float64 for a model of float32. An unknown name
// is an error, and so is a number too large for float32.
func (s *Set) Floats(dtype tensor.Dtype, names ...string) (*Set, error) {
	out := s
	for _, name := range names {
		t := s.Column(name)
		if t == nil {
			return nil, s.missing(name)
		}
		if dtype != tensor.Float32 && dtype != tensor.Float64 {
			return nil, fmt.Errorf("data: column %s as %v: want float32 or float64", input.Quote(name), dtype)
		}
		to := tensors.New(dtype, s.rows, t.Shape()[1:])
		at := 0
		switch dtype {
		case tensor.Float32:
			at = tensors.Floats(to.Float32s(), t)
		case tensor.Float64:
			at = tensors.Floats(to.Float64s(), t)
		}
		if at >= 0 {
			return nil, fmt.Errorf("data: column %s, row %d: %s", input.Quote(name), at/(t.Shape().TotalSize()/s.rows), notFloat32(t.Float64s()[at]))
		}
		var err error
		if out, err = out.With(name, to); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Set) missing(name string) error { return missingColumn(name, s.Names()) }

func missingColumn(name string, names []string) error {
	return fmt.Errorf("data: no column %s%s; there are %s", input.Quote(name), input.DidYouMean(name, names), strings.Join(names, ", "))
}

// Concat returns the rows of several sets, one after the other. It is an error if there are no
// sets, or if they differ in the names, types or row shapes of their columns.
func Concat(sets ...*Set) (*Set, error) {
	n := 0
	for k, s := range sets {
		if s.Rows() == 0 {
			return nil, fmt.Errorf("data: set %d has no rows", k)
		}
		if want, got := rowForm(sets[0]), rowForm(s); got != want {
			return nil, fmt.Errorf("data: set %d has rows of %s, the first of %s", k, got, want)
		}
		n += s.rows
	}
	if n == 0 {
		return nil, fmt.Errorf("data: no sets to put together")
	}
	all := sets[0].NewBatch(n)
	at := 0
	for _, s := range sets {
		rows := identity(s.rows)
		for name, t := range s.columns {
			tensors.CopyRows(all.Values[name], at, t, rows)
		}
		at += s.rows
	}
	return NewSet(all.Values)
}

// String describes the columns: "x[1797 64] float32, y[1797] int32".
func (s *Set) String() string { return s.form(0) }

// rowForm describes a row: "x[64] float32, y[] int32".
func rowForm(s *Set) string { return s.form(1) }

// form describes the columns without their first so many axes.
func (s *Set) form(axes int) string {
	if s.Rows() == 0 {
		return "no rows"
	}
	var parts []string
	for _, name := range s.names {
		t := s.columns[name]
		parts = append(parts, fmt.Sprintf("%s%v %v", name, []int(t.Shape()[axes:]), t.Dtype()))
	}
	return strings.Join(parts, ", ")
}
