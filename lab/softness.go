package lab

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Softness says how centres r_j share the rows x_i at one γ, where α_ij is the softmax over j of
// −γ‖x_i − r_j‖².
type Softness struct {
	// Entropy is mean_i −Σ_j α_ij·ln α_ij: 0 where every row has one centre, and ln k where all
	// centres share every row alike.
	Entropy float64
	// Reach is the root mean squared distance of the centres from the mean of the rows, in units of
	// the [Scale] of the data: 0 where all centres are at the mean, and above 1 where they lie further
	// out than the rows.
	Reach float64
}

// NewSoftness measures centres, row-major [k d], on a table of d columns. The measures are NaN for
// centres that do not fit the table, and without rows.
func NewSoftness(t *data.Table, centres []float64, gamma float64) Softness {
	if t == nil || t.Rows() == 0 || len(t.Columns) == 0 || len(centres) == 0 || len(centres)%len(t.Columns) != 0 {
		return Softness{math.NaN(), math.NaN()}
	}
	n, d := t.Rows(), len(t.Columns)
	k := len(centres) / d
	mean := make([]float64, d)
	var s Softness
	z := make([]float64, k)
	for i := range n {
		x, most := row(t, i), math.Inf(-1)
		for f, v := range x {
			mean[f] += v / float64(n)
		}
		for j := range z {
			z[j] = -gamma * sqDist(x, centres[j*d:(j+1)*d])
			most = math.Max(most, z[j])
		}
		sum, weighted := 0.0, 0.0
		for _, v := range z {
			if e := math.Exp(v - most); e > 0 {
				sum += e
				weighted += e * (v - most)
			}
		}
		s.Entropy += (math.Log(sum) - weighted/sum) / float64(n)
	}
	for j := range k {
		s.Reach += sqDist(centres[j*d:(j+1)*d], mean) / float64(k)
	}
	s.Reach = math.Sqrt(s.Reach) / Scale(t)
	return s
}
