package tapetest

import (
	"math"
	"testing"
)

// Dropped holds samples of y_n = Σ_d w_d·x_nd·m_nd/(1 − p), where all m are 1 with probability 1 − p
// and else 0, to what theory says of them. samples[k][n] is row n in sample k. Mean and variance,
//
//	E y_n = Σ_d w_d·x_nd,  Var y_n = Σ_d (w_d·x_nd)²·p/(1 − p),
//
// must be right within five standard errors, that of the variance from the fourth cumulant, and no
// correlation between neighbouring rows or successive samples may be more than five: of the thousand such
// figures that a seed could be chosen by, none is so far off by chance. Numbers come from fixed seeds, so a
// test either passes for ever or never does.
func Dropped(t testing.TB, samples [][]float64, x [][]float64, w []float64, p float64) {
	t.Helper()
	n, q := float64(len(samples)), 1-p
	standard := make([][]float64, len(samples))
	for k := range samples {
		if len(samples[k]) != len(x) {
			t.Fatalf("sample %d has %d rows, want %d", k, len(samples[k]), len(x))
		}
		standard[k] = make([]float64, len(x))
	}
	for row, xs := range x {
		mean, variance, fourth := 0.0, 0.0, 0.0 // fourth is the cumulant
		for d, x := range xs {
			a := w[d] * x / q
			mean += a * q
			variance += a * a * q * p
			fourth += a * a * a * a * q * p * (1 - 6*q*p)
		}
		m, v := 0.0, 0.0
		for k := range samples {
			m += samples[k][row] / n
		}
		for k := range samples {
			v += (samples[k][row] - m) * (samples[k][row] - m) / (n - 1)
			standard[k][row] = (samples[k][row] - mean) / math.Sqrt(variance)
		}
		if bound := 5 * math.Sqrt(variance/n); !(math.Abs(m-mean) <= bound) {
			t.Errorf("row %d: the mean of %d samples is %v, want %v ± %v", row, len(samples), m, mean, bound)
		}
		if bound := 5 * math.Sqrt((fourth+2*variance*variance)/n); !(math.Abs(v-variance) <= bound) {
			t.Errorf("row %d: the variance of %d samples is %v, want %v ± %v", row, len(samples), v, variance, bound)
		}
	}
	for row := range x {
		successive, neighbours := 0.0, 0.0
		for k := range standard {
			successive += standard[k][row] * standard[(k+1)%len(standard)][row] / n
			neighbours += standard[k][row] * standard[k][(row+1)%len(x)] / n
		}
		bound := 5 / math.Sqrt(n)
		if !(math.Abs(successive) <= bound) {
			t.Errorf("row %d: successive samples are correlated by %v, want at most %v", row, successive, bound)
		}
		if len(x) > 1 && !(math.Abs(neighbours) <= bound) {
			t.Errorf("rows %d and %d are correlated by %v, want at most %v", row, (row+1)%len(x), neighbours, bound)
		}
	}
}
