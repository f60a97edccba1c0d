package inspect_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
)

// counted are n numbers 0, ½, 1, …
func counted(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i) / 2
	}
	return out
}

func TestValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		what string
		a    tape.Array
		w    inspect.Window
		want string
	}{
		{"a scalar", array([]float64{-0.25}), inspect.Window{}, `
x = -0.2500
`},
		{"a matrix whose middle is left out", array(counted(150*4), graph.Ax("i", 150), graph.Ax("d", 4)), inspect.Window{Rows: 5, Columns: 3}, `
x[i=0..149 d=0..3]
       d=0  …      3
i=0      0  …    1.5
1      2.0  …    3.5
…        …  …      …
148  296.0  …  297.5
149  298.0  …  299.5
`},
		{"a page of it", array(counted(150*4), graph.Ax("i", 150), graph.Ax("d", 4)), inspect.Window{Rows: 3, Columns: 2, From: []int{100, 2}}, `
x[i=100..102 of 150 d=2..3 of 4]
         d=2      3
i=100  201.0  201.5
101    203.0  203.5
102    205.0  205.5
`},
		{"its end", array(counted(150*4), graph.Ax("i", 150), graph.Ax("d", 4)), inspect.Window{Rows: 3, Columns: 2, From: []int{999, 99}}, `
x[i=149 of 150 d=3 of 4]
         d=3
i=149  299.5
`},
		{"numbers that are far apart or none", array([]float64{1.5, nan, -inf, 0, 1e-7, -0.25}, graph.Ax("i", 2), graph.Ax("j", 3)), inspect.Window{}, `
x[i=0..1 j=0..2]
       j=0        1       2
i=0  1.500      NaN    -Inf
1        0  1.0e-07  -0.250
`},
		{"large and small ones", array([]float64{1.5e9, 2.25e-9}, graph.Ax("i", 1), graph.Ax("j", 2)), inspect.Window{Digits: 3}, `
x[i=0 j=0..1]
          j=0         1
i=0  1.50e+09  2.25e-09
`},
		{"axes without names", array([]float64{1, 2, 3, 4}, graph.Dims(2, 2)...), inspect.Window{}, `
x[0..1 0..1]
   0  1
0  1  2
1  3  4
`},
		{"a vector", array(counted(10), graph.Ax("w", 10)), inspect.Window{Columns: 4}, `
x[w=0..9]
w=0      0  0.500  1.000  1.500
4    2.000  2.500  3.000  3.500
8    4.000  4.500
`},
		{"a long vector", array(counted(100), graph.Ax("w", 100)), inspect.Window{Columns: 4, Rows: 3, Digits: 3}, `
x[w=0..99]
w=0     0   0.5   1.0   1.5
…       …     …     …     …
96   48.0  48.5  49.0  49.5
`},
		{"a page of it", array(counted(100), graph.Ax("w", 100)), inspect.Window{Columns: 4, Rows: 2, From: []int{50}, Digits: 3}, `
x[w=50..57 of 100]
w=50  25.0  25.5  26.0  26.5
54    27.0  27.5  28.0  28.5
`},
		{"three axes", array(counted(12), graph.Ax("b", 3), graph.Ax("i", 2), graph.Ax("j", 2)), inspect.Window{Rows: 4, Digits: 2}, `
x[b=0 of 3 i=0..1 j=0..1]
     j=0    1
i=0    0  0.5
1    1.0  1.5
x[b=1 of 3 i=0..1 j=0..1]
     j=0    1
i=0  2.0  2.5
1    3.0  3.5
… and 1 more
`},
		{"the last of four", array(counted(16), graph.Ax("a", 2), graph.Ax("b", 2), graph.Ax("i", 2), graph.Ax("j", 2)), inspect.Window{From: []int{1, 1, 0, 1}, Digits: 2}, `
x[a=1 of 2 b=1 of 2 i=0..1 j=1 of 2]
     j=1
i=0  6.5
1    7.5
`},
		{"whole numbers", tape.Array{Type: typeOf(t, graph.I32, graph.Ax("i", 3)), I32: []int32{7, -12, 0}}, inspect.Window{}, `
x[i=0..2]
i=0  7  -12  0
`},
		{"truths", tape.Array{Type: typeOf(t, graph.Bool, graph.Ax("i", 2)), Bool: []bool{true, false}}, inspect.Window{}, `
x[i=0..1]
i=0  true  false
`},
		{"no value", tape.Array{Type: typeOf(t, graph.F32, graph.Ax("i", 2))}, inspect.Window{}, `
x: no value`},
	} {
		if got := inspect.Values("x", c.a, c.w); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

func typeOf(t *testing.T, dt graph.DType, axes ...graph.Axis) graph.Type {
	t.Helper()
	s, err := graph.NewShape(axes...)
	if err != nil {
		t.Fatal(err)
	}
	return graph.Type{DType: dt, Shape: s}
}

// FuzzValues: no window panics or shows more rows than it may.
func FuzzValues(f *testing.F) {
	f.Add(3, 4, 5, 2, 2, 1, 1, 1)
	f.Add(1, 1, 1, -1, 0, -5, 9, 3)
	f.Fuzz(func(t *testing.T, a, b, c, rows, columns, from0, from1, digits int) {
		sizes := []int{1 + abs(a)%5, 1 + abs(b)%40, 1 + abs(c)%40}
		v := array(counted(sizes[0]*sizes[1]*sizes[2]), graph.Dims(sizes...)...)
		w := inspect.Window{Rows: rows % 50, Columns: columns % 50, Digits: digits % 20}
		if from0 != 0 {
			w.From = []int{from0, from1}
		}
		text := inspect.Values("x", v, w)
		most := w.Rows
		if most <= 0 {
			most = 10
		}
		if n := strings.Count(text, "\n"); n > 3*most+3 {
			t.Errorf("%d lines in a window of %d rows:\n%s", n, most, text)
		}
	})
}

func abs(v int) int { return max(v, -(v + 1)) }
