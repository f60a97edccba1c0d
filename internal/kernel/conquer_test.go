package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestConquer: vectors of tridiagonal matrices are orthonormal and give the matrix back, where many values
// are equal or nearly so, and where elements are 0, tiny, or of all magnitudes.
func TestConquer(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for _, n := range []int{33, 64, 65, 190} {
		for name, of := range map[string]func(i int) (d, e float64){
			"random":     func(int) (d, e float64) { return r.NormFloat64(), r.NormFloat64() },
			"second":     func(int) (d, e float64) { return 2, -1 },
			"wilkinson":  func(i int) (d, e float64) { return math.Abs(float64(i%21 - 10)), 1 },
			"glued":      func(i int) (d, e float64) { return math.Abs(float64(i%21 - 10)), math.Pow(1e-9, float64(i%21/20)) },
			"apart":      func(i int) (d, e float64) { return float64(i % 3), float64(i%4) * 1e-17 },
			"zero":       func(int) (d, e float64) { return 0, 0 },
			"beside":     func(int) (d, e float64) { return 0, 1 },
			"graded":     func(i int) (d, e float64) { return math.Pow(10, -float64(i)), math.Pow(10, -float64(i)-1) },
			"ascending":  func(i int) (d, e float64) { return math.Pow(2, float64(i-n)), math.Pow(2, float64(i-n)) },
			"almost one": func(int) (d, e float64) { return 1 + 1e-15*r.NormFloat64(), 1e-15 * r.NormFloat64() },
		} {
			d, e, a, v := make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n*n)
			largest := 0.0
			for i := range n {
				d[i], e[i] = of(i)
				a[i*n+i] = d[i]
				if i+1 < n {
					a[i*n+i+1], a[(i+1)*n+i] = e[i], e[i]
				}
				largest = max(largest, math.Abs(d[i]), math.Abs(e[i]))
			}
			NewCtx().conquer(d, e, v, make([]float64, 2*n*n+2*n), n, 0, n)
			turned, unit, times := make([]float64, n*n), make([]float64, n*n), append([]float64(nil), v...)
			transposeTo(turned, v, n, n)
			for i := range n {
				unit[i*n+i] = 1
				for j := range n {
					times[i*n+j] *= d[i] / max(largest, 1)
				}
			}
			for i := range a {
				a[i] /= max(largest, 1)
			}
			what := fmt.Sprintf("%s of order %d", name, n)
			apart64(t, "vectors of "+what, matrixProduct(v, turned, n, n, n), unit, 2e-14)
			apart64(t, "product of "+what, matrixProduct(turned, times, n, n, n), a, 2e-14)
		}
	}
}
