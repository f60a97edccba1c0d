package linear

import "github.com/tapestry-ml/tapestry/train/data"

// Plane is a plane through the features of a table, on which points and centres are drawn.
type Plane struct {
	Mean  []float64    // the point of the plane at (0, 0), one number per feature
	Axes  [2][]float64 // orthonormal directions; zero where the data have none
	Share [2]float64   // of the variance along each axis, from 0 to 1
}

// NewPlane returns the plane of the first two principal components of a table; see [NewPCA].
func NewPlane(t *data.Table) (*Plane, error) {
	pca, err := NewPCA(t)
	if err != nil {
		return nil, err
	}
	p := &Plane{Mean: pca.Mean}
	total := pca.Residual(0)
	for a := range p.Axes {
		if a >= len(pca.Axes) { // one feature, or one point
			p.Axes[a] = make([]float64, len(pca.Mean))
			continue
		}
		p.Axes[a] = pca.Axes[a]
		if total > 0 {
			p.Share[a] = pca.Variance[a] / total
		}
	}
	return p, nil
}

// At returns the coordinates of the point of the plane that is nearest to x, which has one number
// per feature. They are 0 for an x of another length.
func (p *Plane) At(x []float64) (out [2]float64) {
	for a := range out {
		if len(x) != len(p.Mean) || len(x) != len(p.Axes[a]) {
			return [2]float64{}
		}
		for j, v := range x {
			out[a] += (v - p.Mean[j]) * p.Axes[a][j]
		}
	}
	return out
}

// Points returns the coordinates of all rows of x, row-major [n d].
func (p *Plane) Points(x []float64) [][2]float64 {
	d := len(p.Mean)
	if d == 0 {
		return nil
	}
	out := make([][2]float64, len(x)/d)
	for i := range out {
		out[i] = p.At(x[i*d : (i+1)*d])
	}
	return out
}
