package data

import (
	"fmt"
	"math"
	"slices"
)

// FillMean replaces the missing values of t, which are NaN, by the mean of the others in their
// column, in place. It returns the means, by column, for [Fill] to apply to other rows, such as
// those held out. A column without values is an *Error and leaves t as it was.
func FillMean(t *Table) (mean []float64, err error) {
	return t.fillBy(func(j int) float64 {
		mean, _ := t.moments(j)
		return mean
	})
}

// FillMedian is [FillMean] with the median of each column: its middle value, or the mean of the two
// in the middle.
func FillMedian(t *Table) (median []float64, err error) {
	return t.fillBy(func(j int) float64 {
		x := t.present(j)
		slices.Sort(x)
		lower, upper := x[(len(x)-1)/2], x[len(x)/2]
		if lower == upper {
			return lower
		}
		return lower/2 + upper/2 // the sum might overflow
	})
}

// fillBy fills each column with a statistic of it.
func (t *Table) fillBy(statistic func(j int) float64) ([]float64, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	values := make([]float64, len(t.Columns))
	for j, name := range t.Columns {
		if len(t.present(j)) == 0 {
			return nil, &Error{File: t.Name, Column: name, Msg: "every value is missing"}
		}
		values[j] = statistic(j)
	}
	if err := Fill(t, values); err != nil {
		return nil, err
	}
	return values, nil
}

// Fill replaces the missing values of t, which are NaN, by values[j] in column j, in place. The
// values may be constants, or those that [FillMean] or [FillMedian] returned for another table. It
// is an *Error, and leaves t as it was, if they are not finite or not as many as the columns.
func Fill(t *Table, values []float64) error {
	if err := t.Check(); err != nil {
		return err
	}
	d := len(t.Columns)
	if len(values) != d {
		return &Error{File: t.Name, Msg: fmt.Sprintf("%d values to fill %d columns", len(values), d)}
	}
	for j, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &Error{File: t.Name, Column: t.Columns[j], Msg: fmt.Sprintf("cannot fill with %g", v)}
		}
	}
	for k := range t.Rows() * d {
		if math.IsNaN(t.X[k]) {
			t.X[k] = values[k%d]
		}
	}
	return nil
}

// DropMissing returns a new table of the rows of t in which no value is missing, possibly none.
func (t *Table) DropMissing() (*Table, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	var whole []int
	d := len(t.Columns)
	for i := range t.Rows() {
		if !slices.ContainsFunc(t.X[i*d:(i+1)*d], math.IsNaN) {
			whole = append(whole, i)
		}
	}
	return t.Subset(whole)
}

// Mask returns a table like t that holds 1 where t has a value and 0 where the value is missing, as
// further features for a model that should know the difference. Call it before the values are
// filled.
func (t *Table) Mask() *Table {
	mask := *t
	mask.X = make([]float64, len(t.X))
	for k, v := range t.X {
		if !math.IsNaN(v) {
			mask.X[k] = 1
		}
	}
	return &mask
}

// present returns the values of column j that are not missing.
func (t *Table) present(j int) []float64 {
	d := len(t.Columns)
	x := make([]float64, 0, t.Rows())
	for i := range t.Rows() {
		if v := t.X[i*d+j]; !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return x
}
