package lab

import (
	"errors"

	"github.com/tapestry-ml/tapestry/train/data"
	"gonum.org/v1/gonum/mat"
)

// Plane is the plane of the first two principal components of a table: where
// points and centres are drawn.
type Plane struct {
	mean  []float64
	axes  [2][]float64
	Share [2]float64 // of the variance along each axis
}

// NewPlane finds the plane by the singular value decomposition of the centred
// table. Signs are chosen so that each axis's largest component is positive.
func NewPlane(t *data.Table) (*Plane, error) {
	n, d := t.Rows(), len(t.Columns)
	p := &Plane{mean: make([]float64, d)}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j, v := range row(t, i) {
			p.mean[j] += v / float64(n)
		}
	}
	for i := range n {
		for j, v := range row(t, i) {
			x.Set(i, j, v-p.mean[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil, errors.New("principal components: the decomposition did not converge")
	}
	var v mat.Dense
	svd.VTo(&v)
	values := svd.Values(nil)
	total := 0.0
	for _, s := range values {
		total += s * s
	}
	for a := range p.axes {
		p.axes[a] = make([]float64, d)
		if _, c := v.Dims(); a >= c {
			continue // one feature, or one point
		}
		sign, most := 1.0, 0.0
		for j := range d {
			p.axes[a][j] = v.At(j, a)
			if w := v.At(j, a); w*w > most {
				most, sign = w*w, 1
				if w < 0 {
					sign = -1
				}
			}
		}
		for j := range d {
			p.axes[a][j] *= sign
		}
		if total > 0 {
			p.Share[a] = values[a] * values[a] / total
		}
	}
	return p, nil
}

// At is the place of a point in the plane.
func (p *Plane) At(x []float64) (out [2]float64) {
	for a := range out {
		for j, v := range x {
			out[a] += (v - p.mean[j]) * p.axes[a][j]
		}
	}
	return out
}

// Points are the places of all rows, row-major [n d].
func (p *Plane) Points(x []float64) [][2]float64 {
	d := len(p.mean)
	out := make([][2]float64, len(x)/d)
	for i := range out {
		out[i] = p.At(x[i*d : (i+1)*d])
	}
	return out
}
