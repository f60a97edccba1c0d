package geometry

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"gonum.org/v1/gonum/mat"
)

// move is one random draw of a transformation.
type move struct {
	motion Motion
	axes   []string
	offset []float64   // of a translation
	turn   [][]float64 // of a rotation
	order  []int       // of a permutation
	factor float64     // of a scaling
}

// draw draws a move at random. The offsets of a translation have the standard deviation spread.
func (t Transformation) draw(rng *rand.Rand, spread float64) move {
	m := move{motion: t.Motion, axes: t.Axes, factor: 1}
	size := t.size()
	switch t.Motion {
	case Translation:
		for range size {
			m.offset = append(m.offset, spread*rng.NormFloat64())
		}
	case Rotation:
		m.turn = orthogonal(rng, size)
	case Permutation:
		m.order = rng.Perm(size)
		if size > 1 && slices.IsSorted(m.order) {
			m.order[0], m.order[1] = 1, 0
		}
	case Scaling:
		m.factor = math.Exp2(0.3 + rng.Float64())
		if rng.IntN(2) == 0 {
			m.factor = 1 / m.factor
		}
	}
	return m
}

// orthogonal draws an orthogonal matrix [n n] uniformly: the Q of the QR decomposition of a normal
// matrix, with the signs of R's diagonal (Mezzadri, 2007).
func orthogonal(rng *rand.Rand, n int) [][]float64 {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range n {
			out[i][j] = math.Copysign(q.At(i, j), q.At(i, j)*r.At(j, j))
		}
	}
	return out
}

// reaches reports whether the move changes values of the shape.
func (m move) reaches(shape graph.Shape) bool {
	if m.motion == Scaling || len(m.axes) == 0 {
		return true
	}
	for _, name := range m.axes {
		if k := shape.Index(name); k >= 0 && shape.Dim(k) == max(len(m.offset), len(m.turn), len(m.order)) {
			return true
		}
	}
	return false
}

// apply returns the moved elements of a tensor. The power matters for a scaling only.
func (m move) apply(v []float64, shape graph.Shape, power float64) []float64 {
	out := slices.Clone(v)
	if m.motion == Scaling {
		f := math.Pow(m.factor, power)
		for i := range out {
			out[i] *= f
		}
		return out
	}
	if len(m.axes) == 0 {
		for i := range out {
			out[i] += m.offset[0]
		}
		return out
	}
	for _, name := range m.axes {
		if k := shape.Index(name); k >= 0 {
			out = m.along(out, shape, k)
		}
	}
	return out
}

// along returns the elements moved along one axis.
func (m move) along(v []float64, shape graph.Shape, axis int) []float64 {
	size, inner := shape.Dim(axis), 1
	for k := axis + 1; k < shape.Rank(); k++ {
		inner *= shape.Dim(k)
	}
	out := slices.Clone(v)
	for i := range out {
		place := i / inner % size
		at := func(p int) float64 { return v[i+(p-place)*inner] }
		switch m.motion {
		case Translation:
			out[i] += m.offset[place]
		case Permutation:
			out[i] = at(m.order[place])
		case Rotation:
			out[i] = 0
			for p, w := range m.turn[place] {
				out[i] += w * at(p)
			}
		}
	}
	return out
}
