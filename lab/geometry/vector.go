package geometry

import "math"

// dot returns the inner product.
func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// axpy adds f·x to y in place.
func axpy(y []float64, f float64, x []float64) {
	for i := range y {
		y[i] += f * x[i]
	}
}

// normalise scales v to length 1 and returns the length it had. A zero vector stays as it is.
func normalise(v []float64) float64 {
	l := math.Sqrt(dot(v, v))
	if l > 0 {
		for i := range v {
			v[i] /= l
		}
	}
	return l
}

// difference returns a − b.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// squaredDistance returns ‖a − b‖².
func squaredDistance(a, b []float64) (s float64) {
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return s
}

// angle returns the angle between two vectors in degrees, accurate also where they are nearly
// parallel (Kahan, How futile are mindless assessments of roundoff, §12). It is NaN where one of
// them is zero or not finite.
func angle(a, b []float64) float64 {
	la, lb := math.Sqrt(dot(a, a)), math.Sqrt(dot(b, b))
	if !(la > 0 && lb > 0) || math.IsInf(la, 0) || math.IsInf(lb, 0) {
		return math.NaN()
	}
	apart, along := 0.0, 0.0
	for i := range a {
		u, v := a[i]/la, b[i]/lb
		apart += (u - v) * (u - v)
		along += (u + v) * (u + v)
	}
	return 2 * math.Atan2(math.Sqrt(apart), math.Sqrt(along)) * 180 / math.Pi
}

// allWithin reports whether no value is NaN or has a magnitude above most.
func allWithin(v []float64, most float64) bool {
	for _, x := range v {
		if !(math.Abs(x) <= most) {
			return false
		}
	}
	return true
}
