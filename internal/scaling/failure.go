package scaling

import "math"

// Failures says how often machines fail, and what that costs.
type Failures struct {
	Between float64 // seconds between two failures of one node, on average
	Save    float64 // seconds that a checkpoint takes
	Restart float64 // seconds from a failure until the job computes again
}

// Interval returns after how many seconds of work a checkpoint should be written on so many nodes, by
// the first terms of Daly (2006):
//
//	√(2·Save·M)·(1 + √(Save/2M)/3 + Save/18M) − Save,  M = Between/nodes
//
// which is M where saving takes 2M or longer. The first factor is Young's (1974).
func (f Failures) Interval(nodes int) float64 {
	m := f.Between / float64(nodes)
	if f.Save >= 2*m {
		return m
	}
	x := f.Save / (2 * m)
	return math.Sqrt(2*f.Save*m)*(1+math.Sqrt(x)/3+x/9) - f.Save
}

// Useful returns the part of the time that is left for work at that interval τ, where failures come
// as a Poisson process (Daly 2006):
//
//	τ / (M·e^{Restart/M}·(e^{(τ+Save)/M} − 1))
func (f Failures) Useful(nodes int) float64 {
	m, τ := f.Between/float64(nodes), f.Interval(nodes)
	return τ / (m * math.Exp(f.Restart/m) * math.Expm1((τ+f.Save)/m))
}

// Steps returns how many times the steps of an unlimited batch a training takes with so many rows in
// a batch, where critical is the batch of twice as many steps (McCandlish, Kaplan, Amodei et al.,
// 2018):
//
//	1 + critical/rows
func Steps(rows, critical float64) float64 { return 1 + critical/rows }
