package tape_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/tape"
)

// fresh returns the values that a store of that seed makes for a leaf.
func fresh(t *testing.T, seed uint64, init initial.Init, axes ...graph.Axis) []float64 {
	t.Helper()
	g := graph.New("fresh")
	g.Param("w", graph.F64, axes...).Init(init)
	d, err := tape.NewStore(g, tape.Seed(seed)).Get("w")
	if err != nil {
		t.Fatal(err)
	}
	return d.Float64s()
}

// TestOrthogonal: QᵀQ = gain²·I where the matrix is tall, QQᵀ = gain²·I where it is
// wide; a kernel's window counts among its rows.
func TestOrthogonal(t *testing.T) {
	for _, c := range []struct {
		gain float64
		axes []graph.Axis
	}{
		{1, graph.Dims(7, 7)},
		{2, graph.Dims(40, 6)},
		{0.5, graph.Dims(6, 40)},
		{1, []graph.Axis{graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Ax("in", 2), graph.Ax("out", 5)}},
		{1, []graph.Axis{graph.Ax("k", 2), graph.Ax("in", 1), graph.Ax("out", 5)}},
		{3, graph.Dims(4)},
		{1, nil},
		{-1, graph.Dims(250, 250)},
	} {
		q := fresh(t, 3, initial.Orthogonal(c.gain), c.axes...)
		columns := 1
		if len(c.axes) > 0 {
			columns = c.axes[len(c.axes)-1].Size
		}
		rows := len(q) / columns
		n, size, stride, step := rows, columns, columns, 1
		if columns < rows {
			n, size, stride, step = columns, rows, 1, columns
		}
		for a := range n {
			for b := range n {
				dot, want := 0.0, 0.0
				for i := range size {
					dot += q[a*stride+i*step] * q[b*stride+i*step]
				}
				if a == b {
					want = c.gain * c.gain
				}
				if !(math.Abs(dot-want) < 4e-15*max(1, want)) {
					t.Fatalf("%v: vectors %d and %d have the product %v, want %v", c.axes, a, b, dot, want)
				}
			}
		}
	}
}

// TestFreshSpread: what is drawn has the mean and spread that the initialiser says,
// and no uniform value lies beyond its ends.
func TestFreshSpread(t *testing.T) {
	axes := []graph.Axis{graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Ax("in", 20), graph.Ax("out", 100)}
	const in, out = 180, 100
	for _, c := range []struct {
		init          initial.Init
		variance, end float64
	}{
		{initial.Xavier(), 1. / in, math.Inf(1)},
		{initial.He(), 2. / in, math.Inf(1)},
		{initial.Glorot(), 2. / (in + out), math.Inf(1)},
		{initial.GlorotUniform(), 2. / (in + out), math.Sqrt(6. / (in + out))},
		{initial.HeUniform(), 2. / in, math.Sqrt(6. / in)},
		{initial.Orthogonal(1), 1. / in, 1},
	} {
		v := fresh(t, 1, c.init, axes...)
		mean, square, most := 0.0, 0.0, 0.0
		for _, x := range v {
			mean += x / float64(len(v))
			square += x * x / float64(len(v))
			most = max(most, math.Abs(x))
		}
		if math.Abs(mean) > 0.03*math.Sqrt(c.variance) || math.Abs(square/c.variance-1) > 0.05 || most > c.end {
			t.Errorf("%v: mean %v, variance %v, at most %v; want 0, %v, %v", c.init, mean, square, most, c.variance, c.end)
		}
	}
}

// TestFreshSeeds: a basis depends on the seed, and on nothing else.
func TestFreshSeeds(t *testing.T) {
	a, b, c := fresh(t, 1, initial.Orthogonal(1), graph.Dims(3, 3)...), fresh(t, 1, initial.Orthogonal(1), graph.Dims(3, 3)...), fresh(t, 2, initial.Orthogonal(1), graph.Dims(3, 3)...)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("%v and %v from one seed", a, b)
		}
	}
	if a[0] == c[0] {
		t.Errorf("%v from two seeds", a)
	}
}
