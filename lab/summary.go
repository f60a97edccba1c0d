package lab

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Summary describes values, one per seed. A seed that diverged counts as infinite; one that was not
// measured (NaN) does not count.
type Summary struct {
	N              int     // values that count
	Median, Q1, Q3 float64 // and the quartiles
	Mean, Half     float64 // Mean ± Half is the 95 % interval by Student's t; Half is NaN for one value, and where one is infinite
}

// Summarise returns the summary of values. All but N are NaN if none counts.
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

// halfInterval returns half the width of the 95 % interval of the mean, by Student's t.
func halfInterval(v []float64) float64 {
	n := float64(len(v))
	return distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * standardError(v)
}

// Median returns the middle of the values that are not NaN, or the mean of the two in the middle.
// It is NaN without any.
func Median(v []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(known)
	return Quantile(known, 0.5)
}

// Quantile returns the q-quantile of sorted values, for q from 0 to 1, interpolated linearly
// between values as NumPy and R do by default. It is NaN without values and for another q.
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

func allFinite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func allNaN(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) })
}

// standardError returns the standard error of the mean of at least two values, whose squares may
// overflow.
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
