package main

import (
	"github.com/tapestry-ml/tapestry/train/data"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// linear predicts missing pixels m from the others o as well as a linear function can, if the mean
// μ and the covariance C are those of all digits:
//
//	x̂_m = μ_m + C_mo·C_oo⁻¹·(x_o − μ_o)
//
// It solves a separate system for every image, whereas the net is one function for all masks.
type linear struct {
	mean       []float64
	covariance mat.SymDense
}

// ridge is added to the diagonal of C, since some pixels never have ink.
const ridge = 1e-3

func newLinear(fit *data.Set) *linear {
	x := mat.NewDense(fit.Rows(), 64, ink(fit))
	l := &linear{mean: make([]float64, 64)}
	for p := range l.mean {
		l.mean[p] = stat.Mean(mat.Col(nil, p, x), nil)
	}
	stat.CovarianceMatrix(&l.covariance, x, nil)
	for p := range l.mean {
		l.covariance.SetSym(p, p, l.covariance.At(p, p)+ridge)
	}
	return l
}

// ink is the pixels of a set from 0 to 1.
func ink(s *data.Set) []float64 {
	pixels := s.Column("x").Data().([]float32)
	out := make([]float64, len(pixels))
	for i, v := range pixels {
		out[i] = float64(v) / 16
	}
	return out
}

// errors are the mean squared errors over the missing pixels, of the mean of each pixel and of
// the linear guess.
func (l *linear) errors(s *data.Set) (mean, best float64, err error) {
	x, missing := ink(s), s.Column("missing").Data().([]bool)
	n := 0.0
	for row := range s.Rows() {
		var known, hidden []int
		for p, m := range missing[64*row : 64*row+64] {
			if m {
				hidden = append(hidden, p)
			} else {
				known = append(known, p)
			}
		}
		weights, err := l.solve(x[64*row:64*row+64], known)
		if err != nil {
			return 0, 0, err
		}
		for _, p := range hidden {
			guess := l.mean[p]
			for i, q := range known {
				guess += l.covariance.At(p, q) * weights.AtVec(i)
			}
			v := x[64*row+p]
			mean += (l.mean[p] - v) * (l.mean[p] - v)
			best += (guess - v) * (guess - v)
			n++
		}
	}
	return mean / n, best / n, nil
}

// solve is C_oo⁻¹·(x_o − μ_o).
func (l *linear) solve(x []float64, known []int) (*mat.VecDense, error) {
	var weights mat.VecDense
	if len(known) == 0 {
		return &weights, nil
	}
	C, right := mat.NewSymDense(len(known), nil), mat.NewVecDense(len(known), nil)
	for i, p := range known {
		right.SetVec(i, x[p]-l.mean[p])
		for j, q := range known[i:] {
			C.SetSym(i, i+j, l.covariance.At(p, q))
		}
	}
	return &weights, weights.SolveVec(C, right)
}
