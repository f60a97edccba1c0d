package lab

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Summary is what the runs of a setting gave, over the seeds. A run that diverged
// counts as infinite; what was not measured (NaN) does not count.
type Summary struct {
	N              int // values
	Median, Q1, Q3 float64
	Mean, Half     float64 // with its 95 % interval, Mean ± Half, by Student's t; Half is NaN for one value
}

// Summarise gives the figures of values. Without any they are NaN.
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

// halfInterval is half the 95 % interval of the mean, by Student's t.
func halfInterval(v []float64) float64 {
	n := float64(len(v))
	return distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * standardError(v)
}

// Median is the middle of the values that are known, or half way between the two in the
// middle; NaN without any. What is infinite and what is NaN count as in [Summarise].
func Median(v []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(known)
	return Quantile(known, 0.5)
}

// Quantile is where a share q of the sorted values lies below: between two values on
// the straight line from one to the other, as NumPy's and R's default. NaN without
// values.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
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

// standardError is that of the mean of at least two values. Their squares may overflow.
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
