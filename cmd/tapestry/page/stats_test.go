package page

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

func arrayOf(t *testing.T, values ...float64) tape.Array {
	t.Helper()
	s, err := graph.NewShape(graph.Dims(len(values))...)
	if err != nil {
		t.Fatal(err)
	}
	return tape.Array{Type: graph.Type{DType: graph.F64, Shape: s}, F64: values}
}

func TestStats(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, q := range []struct {
		values              []float64
		finite, nan, inf, z int
		min, mean, std, max float64
		bins                int
	}{
		{[]float64{1, 2, 3, 4}, 4, 0, 0, 0, 1, 2.5, math.Sqrt(1.25), 4, histogramBins},
		{[]float64{0, math.Copysign(0, -1), 5}, 3, 0, 0, 2, 0, 5.0 / 3, math.Sqrt(50.0 / 9), 5, histogramBins},
		{[]float64{nan, inf, -inf, 7}, 1, 1, 2, 0, 7, 7, 0, 7, 1},
		{[]float64{nan, nan}, 0, 2, 0, 0, nan, nan, nan, nan, 0},
		{[]float64{1e308, -1e308}, 2, 0, 0, 0, -1e308, 0, 1e308, 1e308, histogramBins},
		{[]float64{1e9 + 1, 1e9 + 2, 1e9 + 3}, 3, 0, 0, 0, 1e9 + 1, 1e9 + 2, math.Sqrt(2.0 / 3), 1e9 + 3, histogramBins},
		{[]float64{5e-324, 0}, 2, 0, 0, 1, 0, 0, 5e-324, 5e-324, histogramBins},
	} {
		s := newStats(arrayOf(t, q.values...))
		same := func(a number, b float64) bool {
			return float64(a) == b || math.IsNaN(float64(a)) && math.IsNaN(b) || math.Abs(float64(a)-b) <= 1e-9*math.Abs(b)
		}
		if s.N != len(q.values) || s.Finite != q.finite || s.NaN != q.nan || s.Inf != q.inf || s.Zeros != q.z {
			t.Errorf("%v: counts %+v", q.values, s)
		}
		if !same(s.Min, q.min) || !same(s.Mean, q.mean) || q.values[0] != 5e-324 && !same(s.Std, q.std) || !same(s.Max, q.max) {
			t.Errorf("%v: %+v", q.values, s)
		}
		n := 0
		for i, b := range s.Hist {
			n += b.N
			if i > 0 && b.Lo != s.Hist[i-1].Hi || math.IsInf(float64(b.Hi), 0) {
				t.Errorf("%v: bin %d is %+v", q.values, i, b)
			}
		}
		if len(s.Hist) != q.bins || n != q.finite {
			t.Errorf("%v: %d bins with %d elements", q.values, len(s.Hist), n)
		}
		if q.bins > 1 && (s.Hist[0].N == 0 || s.Hist[q.bins-1].N == 0 || s.Hist[0].Lo != s.Min || s.Hist[q.bins-1].Hi != s.Max) {
			t.Errorf("%v: the histogram does not begin at the least and end at the largest: %+v", q.values, s.Hist)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 0.5: "0.5", 123.4: "123", 99.96: "100", 9.97: "10", 999.9: "1e3", 12.34: "12", 1234: "1.2e3", 0.001: "1e−3", 2.5e-10: "2.5e−10", -3e-5: "−3e−5", math.Inf(-1): "∞"} {
		if got := short(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
	if got := sizeText(1536); got != "1.5 KiB" {
		t.Error(got)
	}
	if got := timeText(1.5e-6); got != "1.5 µs" {
		t.Error(got)
	}
}

// TestHeats: larger values are darker; zero and values that are not finite have no colour.
func TestHeats(t *testing.T) {
	g := graph.New("g")
	node := func(name string) *graph.Node { return g.Input(name, graph.F32) }
	h := newHeats([]layer{{values: map[*graph.Node]float64{node("a"): 1e-3, node("b"): 10, node("c"): 0, node("d"): math.NaN()}}})
	if text := h.text("x", short); text != "x; colours from 1e−3 to 10, by orders of magnitude" {
		t.Error(text)
	}
	last := 0
	for _, v := range []float64{1e-3, 1e-2, 0.1, 1, 10} {
		c := h.of(v)
		if c <= last || c > colours {
			t.Errorf("%v has colour %d after %d", v, c, last)
		}
		last = c
	}
	for _, v := range []float64{0, math.NaN(), math.Inf(1)} {
		if h.of(v) != 0 {
			t.Errorf("%v has colour %d", v, h.of(v))
		}
	}
}

// TestWindow reads a corner of an array of three axes, by hand.
func TestWindow(t *testing.T) {
	s, err := graph.NewShape(graph.Ax("a", 2), graph.Ax("b", 3), graph.Ax("c", 4))
	if err != nil {
		t.Fatal(err)
	}
	a := tape.Array{Type: graph.Type{DType: graph.F64, Shape: s}, F64: make([]float64, 24)}
	for i := range a.F64 {
		a.F64[i] = float64(i)
	}
	v := window{at: []int{1, 1, 2}, row: 1, col: 2, rows: 5, cols: 5}.view(a, tape.Array{})
	if text(v.Cells) != `[["18","19"],["22","23"]]` || v.Row.To != 3 || v.Col.To != 4 || text(v.Fixed) != `[{"axis":0,"index":1}]` || v.GradCells != nil {
		t.Errorf("%+v %s", v, text(v.Cells))
	}
	v = window{at: []int{0, 2, 3}, row: -1, col: 0, rows: 5, cols: 5}.view(a, a)
	if text(v.Cells) != `[["11","23"]]` || text(v.GradCells) != text(v.Cells) || v.Row != nil || len(v.Fixed) != 2 {
		t.Errorf("%+v %s", v, text(v.Cells))
	}
}
