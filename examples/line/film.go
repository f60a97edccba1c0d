package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/train"
)

// seen is the part of the axis that is drawn; the data lie between −2 and 2.
const seen = 2.3

// film keeps the net of elbows as it was before the first step and after each.
type film struct {
	trainer *train.Trainer
	shots   []shot
}

// shot is the net at one moment.
type shot struct {
	w, b, v []float64
	c       float64
}

// Observe is for [train.Plan].
func (f *film) Observe(e train.Event) error {
	if e.Kind != train.Begun && e.Kind != train.Stepped {
		return nil
	}
	v, err := numbers(f.trainer, "w", "b", "v", "c")
	if err == nil {
		f.shots = append(f.shots, shot{v[0], v[1], v[2], v[3][0]})
	}
	return err
}

// numbers are copies of parameters.
func numbers(t *train.Trainer, paths ...string) (out [][]float64, err error) {
	for _, path := range paths {
		p, err := t.Store().Get(path)
		if err != nil {
			return nil, err
		}
		out = append(out, p.Float64s())
	}
	return out, nil
}

// at is ŷ(x).
func (s shot) at(x float64) float64 {
	y := s.c
	for h := range s.w {
		y += s.v[h] * max(0, s.w[h]*x+s.b[h])
	}
	return y
}

// elbow returns where unit h bends the curve, and by how much its slope changes there.
func (s shot) elbow(h int) (x, bend float64) {
	return -s.b[h] / s.w[h], s.v[h] * math.Abs(s.w[h])
}

// within counts the elbows among the data.
func (s shot) within() (n int) {
	for h := range s.w {
		if x, _ := s.elbow(h); math.Abs(x) < 2 {
			n++
		}
	}
	return n
}
