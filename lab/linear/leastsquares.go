package linear

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// LeastSquares is the data of a linear model y ≈ X·w.
type LeastSquares struct {
	X    []float64 // observations, row-major [n d]
	Y    []float64 // targets [n]
	N, D int       // observations and features
}

func (p LeastSquares) check() error {
	if p.N < 1 || p.D < 1 || len(p.X) != p.N*p.D || len(p.Y) != p.N {
		return fmt.Errorf("%d numbers and %d targets for %d observations of %d features", len(p.X), len(p.Y), p.N, p.D)
	}
	return nil
}

func checkPenalty(λ float64) error {
	if !(λ >= 0) {
		return fmt.Errorf("least squares: λ = %v: want at least 0", λ)
	}
	return nil
}

// svd decomposes X = U·diag(σ)·Vᵀ.
func (p LeastSquares) svd() (u, v *mat.Dense, σ []float64, err error) {
	if err := p.check(); err != nil {
		return nil, nil, nil, err
	}
	var f mat.SVD
	if !f.Factorize(mat.NewDense(p.N, p.D, p.X), mat.SVDThin) {
		return nil, nil, nil, errors.New("least squares: the singular value decomposition did not converge")
	}
	u, v = new(mat.Dense), new(mat.Dense)
	f.UTo(u)
	f.VTo(v)
	return u, v, f.Values(nil), nil
}

// Solve returns the weights w [d] that minimise ‖X·w − y‖² + λ‖w‖². By the singular value
// decomposition of X their component along each right singular vector is σ·uᵀy/(σ² + λ). Where λ is
// 0 and several w are minimal, it returns the one of least norm; singular values that are 0 up to
// rounding count as 0. A negative λ, and data of other sizes than N and D say, are errors.
func (p LeastSquares) Solve(λ float64) ([]float64, error) {
	if err := checkPenalty(λ); err != nil {
		return nil, err
	}
	u, v, σ, err := p.svd()
	if err != nil {
		return nil, err
	}
	w := make([]float64, p.D)
	for i, s := range σ {
		if p.vanishes(s, σ[0]) {
			continue
		}
		c := s * along(u, i, p.Y) / (s*s + λ)
		for j := range w {
			w[j] += c * v.At(j, i)
		}
	}
	return w, nil
}

// vanishes reports whether a singular value is 0 up to rounding.
func (p LeastSquares) vanishes(σ, largest float64) bool {
	return σ <= largest*float64(max(p.N, p.D))*0x1p-52
}

// along returns the inner product of column i and x.
func along(m *mat.Dense, i int, x []float64) (s float64) {
	for j, v := range x {
		s += m.At(j, i) * v
	}
	return s
}

// Augmented returns the data with d fake observations √λ·I added, whose targets are 0. Least
// squares on them is ridge regression on p (the notes on regularisation in least squares).
func (p LeastSquares) Augmented(λ float64) LeastSquares {
	x, y := append([]float64(nil), p.X...), append([]float64(nil), p.Y...)
	for j := range p.D {
		row := make([]float64, p.D)
		row[j] = math.Sqrt(λ)
		x, y = append(x, row...), append(y, 0)
	}
	return LeastSquares{x, y, p.N + p.D, p.D}
}
