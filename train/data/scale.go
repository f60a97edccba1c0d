package data

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Standardise shifts and scales each column of t, in place, to mean 0 and standard deviation 1. It
// returns the means and deviations, in the columns' units, for [Scale] to apply to other rows. The
// deviation is the population's (divided by n, as in scikit-learn's StandardScaler); for a constant
// column it is taken as 1, so that the column becomes 0. Missing values (NaN) are skipped and stay.
// The difference between any two values of a column must not overflow float64.
func Standardise(t *Table) (mean, std []float64) {
	t = input.OrZero(t)
	mean, std = make([]float64, len(t.Columns)), make([]float64, len(t.Columns))
	for j := range t.Columns {
		mean[j], std[j] = t.moments(j)
	}
	t.rescale(mean, std)
	return mean, std
}

// Centre shifts each column of t, in place, to mean 0, and returns the means in the columns' units.
func Centre(t *Table) (mean []float64) {
	t = input.OrZero(t)
	mean = make([]float64, len(t.Columns))
	one := make([]float64, len(t.Columns))
	for j := range t.Columns {
		mean[j], _ = t.moments(j)
		one[j] = 1
	}
	t.rescale(mean, one)
	return mean
}

// Scale changes each column of t, in place, to (x − mean) / std, with the means and deviations that
// [Standardise] returned for another table. It is an *Error, and leaves t as it was, if they are
// not as many as the columns, a mean is not finite, or a deviation is not positive and finite.
func Scale(t *Table, mean, std []float64) error {
	if err := t.Check(); err != nil {
		return err
	}
	d := len(t.Columns)
	if len(mean) != d || len(std) != d {
		return &Error{File: t.Name, Msg: fmt.Sprintf("%d means and %d deviations for %d columns", len(mean), len(std), d)}
	}
	for j, name := range t.Columns {
		if m, s := mean[j], std[j]; !scalable(m, s) {
			return &Error{File: t.Name, Column: name, Msg: fmt.Sprintf("cannot scale by mean %g and deviation %g", m, s)}
		}
	}
	t.rescale(mean, std)
	return nil
}

func (t *Table) rescale(mean, std []float64) {
	d := len(mean)
	for k := range t.Rows() * d {
		t.X[k] = (t.X[k] - mean[k%d]) / std[k%d]
	}
}

// moments returns the mean and standard deviation of column j; a deviation of 0 counts as 1.
func (t *Table) moments(j int) (mean, std float64) {
	x := t.present(j)
	m, s, _ := moments(1, func(visit func([]float64)) error { visit(x); return nil })
	return m[0], s[0]
}
