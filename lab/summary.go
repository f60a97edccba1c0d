package lab

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Summary describes values, one for each seed. A value that is NaN does not count; a seed that
// diverged counts as infinite.
type Summary struct {
	N              int     // number of values that count
	Median, Q1, Q3 float64 // median and quartiles
	// Mean ± Half is the 95 % confidence interval of the mean by Student's t. Half is NaN for a single
	// value, and if a value is infinite.
	Mean, Half float64
}

// Summarise returns the summary of the values. All its fields but N are NaN if no value counts.
func Summarise(v []float64) Summary {
	known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(known)
	s := Summary{N: len(known), Median: Quantile(known, 0.5), Q1: Quantile(known, 0.25), Q3: Quantile(known, 0.75), Mean: math.NaN(), Half: math.NaN()}
	if len(known) == 0 {
		return s
	}
	if s.Mean = stat.Mean(known, nil); len(known) > 1 && allFinite(known) {
		s.Half = halfInterval(known)
	}
	return s
}

// halfInterval returns half the width of the 95 % confidence interval of the mean, by Student's t.
func halfInterval(v []float64) float64 {
	n := float64(len(v))
	return distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * standardError(v)
}

// Median returns the middle one of the values that are not NaN, or the mean of the two in the
// middle. It is NaN if there are none.
func Median(v []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(known)
	return Quantile(known, 0.5)
}

// Quantile returns the q-quantile of sorted values for q from 0 to 1, interpolated linearly as
// NumPy and R do by default. It is NaN without values and for any other q.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if rest := at - float64(i); rest > 0 && sorted[i] != sorted[i+1] && !math.IsInf(sorted[i], -1) {
		return sorted[i] + rest*(sorted[i+1]-sorted[i])
	}
	return sorted[i]
}

// allFinite reports whether no value is infinite or NaN.
func allFinite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// allNaN reports whether every value is NaN.
func allNaN(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) })
}

// standardError returns the standard error of the mean of at least two values. It does not overflow
// where the squares of the values do.
func standardError(v []float64) float64 {
	unit := largest(v)
	if unit == 0 {
		return 0
	}
	small := make([]float64, len(v))
	for i, x := range v {
		small[i] = x / unit
	}
	return unit * stat.StdDev(small, nil) / math.Sqrt(float64(len(v)))
}
