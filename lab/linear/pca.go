package linear

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
	"gonum.org/v1/gonum/mat"
)

// PCA is the principal component analysis of a table: the directions along which its rows vary
// most.
type PCA struct {
	Mean     []float64   // [d]: of each feature
	Axes     [][]float64 // [min(n, d)][d]: orthonormal directions, that of the largest variance first
	Variance []float64   // [min(n, d)]: of the rows along each axis, divided by n
}

// NewPCA finds all min(n, d) components of a table of n rows and d features by the singular value
// decomposition of the centred table. The sign of each axis makes its largest component positive. A
// table without rows or columns is an error.
func NewPCA(t *data.Table) (*PCA, error) {
	if t.Rows() == 0 {
		return nil, errors.New("principal components of a table without rows")
	}
	n, d := t.Rows(), len(t.Columns)
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("principal components of %d rows of %d features", n, d)
	}
	p := &PCA{Mean: make([]float64, d)}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j, v := range t.X[i*d : (i+1)*d] {
			p.Mean[j] += v / float64(n)
		}
	}
	for i := range n {
		for j, v := range t.X[i*d : (i+1)*d] {
			x.Set(i, j, v-p.Mean[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil, errors.New("principal components: the decomposition did not converge")
	}
	var v mat.Dense
	svd.VTo(&v)
	for a, s := range svd.Values(nil) {
		axis := mat.Col(nil, a, &v)
		sign, most := 1.0, 0.0
		for _, w := range axis {
			if w*w > most {
				most, sign = w*w, 1
				if w < 0 {
					sign = -1
				}
			}
		}
		for j := range axis {
			axis[j] *= sign
		}
		p.Axes = append(p.Axes, axis)
		p.Variance = append(p.Variance, s*s/float64(n))
	}
	return p, nil
}

// Residual returns the mean over the rows of ‖x − x̂‖², where x̂ is the reconstruction of a row x
// from the first k components: the variance along all others. No map of rank k leaves less (Eckart
// & Young, 1936), so neither does a linear autoencoder with a bottleneck of k.
func (p *PCA) Residual(k int) (left float64) {
	for a := max(0, k); a < len(p.Variance); a++ {
		left += p.Variance[a]
	}
	return left
}

// Scores returns the coordinates of the rows of a table along the first k axes, row-major [n k]: a
// short description to draw, or to learn from where few rows are labelled. A table of other columns
// than the PCA's, and more components than there are, are errors.
func (p *PCA) Scores(t *data.Table, k int) ([]float64, error) {
	if p == nil || t == nil {
		return nil, errors.New("scores of no table, or along no axes: NewPCA finds them")
	}
	if len(t.Columns) != len(p.Mean) || k < 0 || k > len(p.Axes) {
		return nil, fmt.Errorf("%d components of %d features: there are %d, of %d", k, len(t.Columns), len(p.Axes), len(p.Mean))
	}
	d, out := len(p.Mean), make([]float64, 0, t.Rows()*k)
	for i := range t.Rows() {
		for _, axis := range p.Axes[:k] {
			z := 0.0
			for j, v := range t.X[i*d : (i+1)*d] {
				z += (v - p.Mean[j]) * axis[j]
			}
			out = append(out, z)
		}
	}
	return out, nil
}
