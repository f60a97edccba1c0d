package data

import "math"

// moments returns the mean and standard deviation of k quantities. It calls each three times, which
// must call visit with the same values every time: runs of values in which quantity 0 … k−1 take
// turns. NaN is skipped. A deviation of 0 is returned as 1, and so is that of no values.
//
// Everything is computed relative to a quantity's first value and to the largest distance from it:
// a constant then has a deviation of exactly 0, a large offset costs no digits, and squares neither
// overflow nor underflow.
func moments(k int, each func(visit func(x []float64)) error) (mean, std []float64, err error) {
	n := make([]int, k)
	first, span, sum, squares := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	// pass calls f with each value and the quantity that it belongs to.
	pass := func(f func(j int, v float64)) {
		if err != nil {
			return
		}
		err = each(func(x []float64) {
			for i, v := range x {
				if !math.IsNaN(v) {
					f(i%k, v)
				}
			}
		})
	}
	pass(func(j int, v float64) {
		if n[j]++; n[j] == 1 {
			first[j] = v
		}
		span[j] = max(span[j], math.Abs(v-first[j]))
	})
	pass(func(j int, v float64) {
		if span[j] > 0 {
			sum[j] += (v - first[j]) / span[j]
		}
	})
	pass(func(j int, v float64) {
		if span[j] > 0 {
			u := (v-first[j])/span[j] - sum[j]/float64(n[j])
			squares[j] += float64(u * u)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	mean, std = first, span
	for j := range k {
		if n[j] > 0 {
			mean[j] += float64(span[j] * (sum[j] / float64(n[j])))
			std[j] *= math.Sqrt(squares[j] / float64(n[j]))
		}
		if std[j] == 0 { // constant, or the span is the smallest float64 and its half rounds to 0
			std[j] = 1
		}
	}
	return mean, std, nil
}
