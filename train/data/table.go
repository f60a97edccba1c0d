package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Table holds n rows of d features, and for each row a label, or targets, or neither.
type Table struct {
	Name      string    // the file, as errors cite it
	Columns   []string  // the d feature names
	X         []float64 // n·d features, row after row
	Labels    []string  // n labels, or nil
	LabelName string    // name of the label column; "" without labels
	Targets   *Table    // the n rows of numbers to predict, or nil; see the option Targets
	Lines     []int     // the line of the file that each row starts on; nil if there is no file
}

// Rows returns n, the number of rows.
func (t *Table) Rows() int {
	if t == nil || len(t.Columns) == 0 {
		return 0
	}
	return len(t.X) / len(t.Columns)
}

// Dense returns a copy of the features as a tensor [n d] of tensor.Float32 or tensor.Float64. A
// value that is not finite, or too large for float32, is an *Error at its line and column. Another
// dtype is an *Error too, and so is a table without rows.
func (t *Table) Dense(dtype tensor.Dtype) (*tensor.Dense, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	n, d := t.Rows(), len(t.Columns)
	if n == 0 {
		return nil, &Error{File: t.Name, Msg: "the table has no rows"}
	}
	if err := t.finite(); err != nil {
		return nil, err
	}
	switch dtype {
	case tensor.Float64:
		return tensor.New(tensor.WithShape(n, d), tensor.WithBacking(slices.Clone(t.X))), nil
	case tensor.Float32:
		x := make([]float32, n*d)
		for k, v := range t.X {
			if x[k] = float32(v); math.IsInf(float64(x[k]), 0) {
				return nil, t.errorAt(k/d, k%d, notFloat32(v))
			}
		}
		return tensor.New(tensor.WithShape(n, d), tensor.WithBacking(x)), nil
	}
	return nil, &Error{File: t.Name, Msg: fmt.Sprintf("dtype %v is neither float32 nor float64", dtype.Type)}
}

func notFloat32(v float64) string { return fmt.Sprintf("%g does not fit float32", v) }

// Subset returns a new table of the given rows, in that order. A row may recur. A row outside [0,
// n) is an *Error.
func (t *Table) Subset(rows []int) (*Table, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	n, d := t.Rows(), len(t.Columns)
	s := &Table{Name: t.Name, Columns: slices.Clone(t.Columns), LabelName: t.LabelName}
	s.X = make([]float64, 0, len(rows)*d)
	for _, i := range rows {
		if i < 0 || i >= n {
			return nil, &Error{File: t.Name, Msg: fmt.Sprintf("row %d is outside [0, %d)", i, n)}
		}
		s.X = append(s.X, t.X[i*d:(i+1)*d]...)
	}
	s.Labels = tensors.Pick(t.Labels, rows)
	s.Lines = tensors.Pick(t.Lines, rows)
	if t.Targets != nil {
		var err error
		if s.Targets, err = t.Targets.Subset(rows); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Take returns a new table of the named features, in that order, with the labels or targets of t.
// It separates, for example, the features that a model reads from those that it predicts:
//
//	in, err := houses.Take("area", "age")
//	out, err := houses.Take("price")
//
// A name that t lacks, or that is given twice, is an *Error.
func (t *Table) Take(names ...string) (*Table, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &Error{File: t.Name, Msg: "a table of no features"}
	}
	places := make([]int, len(names))
	for k, name := range names {
		if places[k] = slices.Index(t.Columns, name); places[k] < 0 {
			return nil, &Error{File: t.Name, Column: name, Msg: "there is no such feature" + input.DidYouMean(name, t.Columns)}
		}
		if slices.Contains(names[:k], name) {
			return nil, &Error{File: t.Name, Column: name, Msg: "the feature is taken twice"}
		}
	}
	n, d := t.Rows(), len(t.Columns)
	s := &Table{
		Name: t.Name, Columns: slices.Clone(names), X: make([]float64, 0, n*len(names)),
		Labels: slices.Clone(t.Labels), LabelName: t.LabelName, Lines: slices.Clone(t.Lines),
	}
	for i := range n {
		for _, j := range places {
			s.X = append(s.X, t.X[i*d+j])
		}
	}
	if t.Targets != nil {
		var err error
		if s.Targets, err = t.Targets.Take(t.Targets.Columns...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Check returns an *Error if t, made by hand, contradicts itself: if it has no features, or if X,
// Labels, Lines and Targets are not of one number of rows. Every function that takes a table calls
// it.
func (t *Table) Check() error {
	if t == nil {
		return &Error{Msg: "there is no table"}
	}
	n, d := t.Rows(), len(t.Columns)
	msg := ""
	switch {
	case d == 0:
		msg = "the table has no feature columns"
	case len(t.X) != n*d:
		msg = fmt.Sprintf("%d values do not fill rows of %d columns", len(t.X), d)
	case t.Labels != nil && len(t.Labels) != n:
		msg = fmt.Sprintf("%d labels for %d rows", len(t.Labels), n)
	case t.Lines != nil && len(t.Lines) != n:
		msg = fmt.Sprintf("%d line numbers for %d rows", len(t.Lines), n)
	case t.Targets != nil && (t.Labels != nil || t.Targets.Labels != nil || t.Targets.Targets != nil):
		msg = "a table has labels or targets, and targets have neither"
	case t.Targets != nil && t.Targets.Rows() != n:
		msg = fmt.Sprintf("%d rows of targets for %d rows", t.Targets.Rows(), n)
	case t.Targets != nil:
		return t.Targets.Check()
	default:
		return nil
	}
	return &Error{File: t.Name, Msg: msg}
}

// finite returns an error for the first value that is not finite.
func (t *Table) finite() error {
	d := len(t.Columns)
	for k, v := range t.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return t.errorAt(k/d, k%d, fmt.Sprintf("%g is not finite", v))
		}
	}
	return nil
}

// errorAt returns an error at feature j of row i.
func (t *Table) errorAt(i, j int, msg string) error {
	e := &Error{File: t.Name, Column: t.Columns[j], Msg: msg}
	if t.Lines != nil {
		e.Line = t.Lines[i]
	}
	return e
}
