package lab

import "github.com/tapestry-ml/tapestry/train/data"

// Plane is the plane of the first two principal components of a table: where
// points and centres are drawn.
type Plane struct {
	mean  []float64
	axes  [2][]float64
	Share [2]float64 // of the variance along each axis
}

// NewPlane finds the plane; see [NewPCA].
func NewPlane(t *data.Table) (*Plane, error) {
	pca, err := NewPCA(t)
	if err != nil {
		return nil, err
	}
	p := &Plane{mean: pca.Mean}
	total := pca.Residual(0)
	for a := range p.axes {
		if a >= len(pca.Axes) { // one feature, or one point
			p.axes[a] = make([]float64, len(pca.Mean))
			continue
		}
		p.axes[a] = pca.Axes[a]
		if total > 0 {
			p.Share[a] = pca.Variance[a] / total
		}
	}
	return p, nil
}

// At is the place of a point in the plane.
func (p *Plane) At(x []float64) (out [2]float64) {
	if len(x) != len(p.mean) {
		return out
	}
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
	if d == 0 {
		return nil
	}
	out := make([][2]float64, len(x)/d)
	for i := range out {
		out[i] = p.At(x[i*d : (i+1)*d])
	}
	return out
}
