package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// features are all quantities of a wine except the alcohol, which is to be predicted.
const features = 12

// wine takes every ninth wine for training, some others for early stopping, and the rest for
// testing. All are standardised by the training wines.
func wine() (few, held, unseen linear.LeastSquares, err error) {
	all := data.Wine()
	var rows [3][]int
	for i := range all.Rows() {
		part := 0
		if i%9 > 0 {
			part = 1 + i%9%2
		}
		rows[part] = append(rows[part], i)
	}
	var parts [3]linear.LeastSquares
	var mean, std []float64
	for k := range parts {
		part, err := all.Subset(rows[k])
		if err != nil {
			return few, held, unseen, err
		}
		if k == 0 {
			mean, std = data.Standardise(part)
		} else if err := data.Scale(part, mean, std); err != nil {
			return few, held, unseen, err
		}
		parts[k] = leastSquares(part)
	}
	return parts[0], parts[1], parts[2], nil
}

// leastSquares makes the first column the target.
func leastSquares(t *data.Table) linear.LeastSquares {
	p := linear.LeastSquares{N: t.Rows(), D: features}
	for i := range p.N {
		row := t.X[i*(features+1) : (i+1)*(features+1)]
		p.Y, p.X = append(p.Y, row[0]), append(p.X, row[1:]...)
	}
	return p
}

// observations is the feed of the data.
func observations(p linear.LeastSquares) (*data.Set, error) {
	return data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(p.N, p.D), tensor.WithBacking(p.X)),
		"y": tensor.New(tensor.WithShape(p.N), tensor.WithBacking(p.Y)),
	})
}

// meanSquare is the mean of (x·w − y)².
func meanSquare(p linear.LeastSquares, w []float64) (sum float64) {
	for i, y := range p.Y {
		for j, v := range w {
			y -= p.X[i*p.D+j] * v
		}
		sum += y * y
	}
	return sum / float64(p.N)
}

func norm(w []float64) float64 { return apart(w, make([]float64, len(w))) }

// apart is ‖a − b‖.
func apart(a, b []float64) (sum float64) {
	for j := range a {
		sum += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(sum)
}
