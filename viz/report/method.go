package report

import (
	"math"
	"slices"
)

// curve picks a curve of a run.
type curve func(Run) []float64

func loss(r Run) []float64     { return r.Loss }
func inertia(r Run) []float64  { return r.Inertia }
func spread(r Run) []float64   { return r.Spread }
func movement(r Run) []float64 { return r.Movement }
func angle(r Run) []float64    { return r.Angle }

// last returns the end of a curve, NaN if it is empty.
func last(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)-1]
}

// result returns the run's final inertia, or else its loss; +Inf if it diverged.
func (r Run) result() float64 {
	if r.Diverged {
		return math.Inf(1)
	}
	if len(r.Inertia) == 0 {
		return r.End
	}
	return last(r.Inertia)
}

// median returns the median of the known values, the mean of the middle two if their number is
// even, NaN if there are none.
func median(v []float64) float64 {
	v = ranked(v)
	if len(v) == 0 {
		return math.NaN()
	}
	a, b := v[(len(v)-1)/2], v[len(v)/2]
	if a == b || math.IsInf(a, -1) {
		return a
	}
	return a + (b-a)/2
}

// ranked returns the known values in ascending order.
func ranked(v []float64) []float64 {
	v = slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(v)
	return v
}

// finites returns the finite values in ascending order.
func finites(v []float64) []float64 {
	v = slices.DeleteFunc(slices.Clone(v), func(x float64) bool { return !finite(x) })
	slices.Sort(v)
	return v
}

// best returns the run with the smallest result, the first among equals.
func (m Method) best() Run {
	best := m.Runs[0]
	for _, r := range m.Runs[1:] {
		if r.result() < best.result() || !finite(best.result()) && finite(r.result()) {
			best = r
		}
	}
	return best
}

// ends returns the last values of a curve, by run.
func (m Method) ends(c curve) []float64 {
	var out []float64
	for _, r := range m.Runs {
		out = append(out, last(c(r)))
	}
	return out
}

// results returns what the runs are judged by.
func (m Method) results() []float64 {
	var out []float64
	for _, r := range m.Runs {
		out = append(out, r.result())
	}
	return out
}

// typical returns the median over the runs, step by step. Runs that came to rest before the
// others keep their last value, and runs that diverged count as larger than all others.
func (m Method) typical(c curve) []float64 {
	steps := 0
	for _, r := range m.Runs {
		steps = max(steps, len(c(r)))
	}
	var out []float64
	for step := range steps {
		var at []float64
		for _, r := range m.Runs {
			switch v := c(r); {
			case step < len(v):
				at = append(at, v[step])
			case r.Diverged:
				at = append(at, math.Inf(1))
			default:
				at = append(at, last(v))
			}
		}
		out = append(out, median(at))
	}
	return out
}

// aris returns the agreements with the labels, by run.
func (m Method) aris() []float64 {
	var out []float64
	for _, r := range m.Runs {
		out = append(out, r.ARI)
	}
	return out
}

// settled returns the first step from which a curve stays within 1 % of its end; ok is false if
// that is the end itself.
func settled(v []float64) (step int, ok bool) {
	end := last(v)
	if !finite(end) {
		return 0, false
	}
	step = len(v) - 1
	for step > 0 && math.Abs(v[step-1]-end) <= .01*math.Abs(end) {
		step--
	}
	return step, step < len(v)-1
}

// some reports whether any method has a curve to draw.
func some(ms []Method, c curve) bool {
	for _, m := range ms {
		for _, r := range m.Runs {
			if len(c(r)) > 1 && slices.ContainsFunc(c(r), finite) {
				return true
			}
		}
	}
	return false
}

// labelledRuns reports whether any run was compared with labels.
func labelledRuns(ms []Method) bool {
	return slices.ContainsFunc(ms, func(m Method) bool { return slices.ContainsFunc(m.aris(), finite) })
}

// steps returns the steps of the run's inertias; nil for 0, 1, 2….
func (r Run) steps() []float64 {
	var out []float64
	for _, step := range r.At {
		out = append(out, float64(step))
	}
	return out
}
