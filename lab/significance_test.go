package lab_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
)

// Differences whose t is the 97.5 % point of the tables have p = 0.05.
func TestStudentT(t *testing.T) {
	for df, quantile := range map[int]float64{1: 12.7062047364, 2: 4.3026527297, 4: 2.7764451052, 9: 2.2621571628, 29: 2.0452296421} {
		n := df + 1
		d := make([]float64, n)
		mean, ss := 0.0, 0.0
		for i := range d {
			d[i] = math.Sin(float64(3 * i))
			mean += d[i] / float64(n)
		}
		for _, v := range d {
			ss += (v - mean) * (v - mean)
		}
		sd := math.Sqrt(ss / float64(df))
		for i := range d {
			d[i] += quantile*sd/math.Sqrt(float64(n)) - mean
		}
		if p := lab.StudentT.P(d); math.Abs(p-0.05) > 1e-9 {
			t.Errorf("%d degrees of freedom: p = %v, want 0.05", df, p)
		}
		if s := lab.Summarise(d); math.Abs(s.Mean-s.Half) > 1e-9 {
			t.Errorf("%d degrees of freedom: interval %v ± %v, want one that ends at 0", df, s.Mean, s.Half)
		}
	}
	for _, c := range []struct {
		d    []float64
		want float64
	}{{[]float64{0, 0, 0}, 1}, {[]float64{2, 2}, 0}, {[]float64{1}, math.NaN()}, {nil, math.NaN()}, {[]float64{1, math.Inf(1)}, math.NaN()}} {
		for _, test := range []lab.Test{lab.StudentT, lab.SignFlips} {
			want := c.want
			if test == lab.SignFlips && want == 0 {
				want = 0.5 // of two flips of two
			}
			if p := test.P(c.d); p != want && !(math.IsNaN(p) && math.IsNaN(want)) {
				t.Errorf("%v of %v: p = %v, want %v", test, c.d, p, want)
			}
		}
	}
}

func TestSignFlips(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{
		{[]float64{1, 2, 3}, 2. / 8},
		{[]float64{1, -2, 3}, 6. / 8}, // sums ±6, ±4, ±2, 0, 0
		{[]float64{.1, .2, -.3}, 1},   // 0 up to rounding
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2. / 1024},
	} {
		if p := lab.SignFlips.P(c.d); p != c.want {
			t.Errorf("%v: p = %v, want %v", c.d, p, c.want)
		}
	}
	// 14 of 20 signs are positive: the binomial's two tails, 2·Σ_{k≥14} C(20,k)/2²⁰.
	d := slices.Repeat([]float64{1}, 20)
	for i := range 6 {
		d[3*i] = -1
	}
	if p := lab.SignFlips.P(d); math.Abs(p-0.11531829833984375) > 0.005 {
		t.Errorf("14 of 20: p = %v, want about 0.1153", p)
	}
	if a, b := lab.SignFlips.P(d), lab.SignFlips.P(d); a != b {
		t.Errorf("p is %v, and then %v", a, b)
	}
}

// Losses on their way to infinity have differences whose squares overflow.
func TestLargeDifferences(t *testing.T) {
	small, large := []float64{1, 2, 4}, []float64{1e300, 2e300, 4e300}
	for _, test := range []lab.Test{lab.StudentT, lab.SignFlips} {
		if a, b := test.P(small), test.P(large); math.Abs(a-b) > 1e-12 {
			t.Errorf("%v: p = %v, of the same 10³⁰⁰ times as large %v", test, a, b)
		}
	}
	if a, b := lab.Summarise(small), lab.Summarise(large); math.Abs(b.Half/1e300-a.Half) > 1e-12 {
		t.Errorf("intervals of %v and %v", a.Half, b.Half)
	}
}

// What R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives.
func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.01, nan, 0.04, 0.03, 0.005}, []float64{0.03, nan, 0.06, 0.06, 0.02}},
		{[]float64{0.7, 0.8}, []float64{1, 1}},
		{[]float64{0.04}, []float64{0.04}},
		{nil, nil},
	} {
		got := lab.Holm(c.p)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%v is corrected to %v, want %v", c.p, got, c.want)
		}
	}
}

func TestLetters(t *testing.T) {
	for _, c := range []struct {
		n       int
		differ  [][2]int
		letters string
	}{
		{3, nil, "a a a"},
		{3, [][2]int{{0, 1}, {0, 2}, {1, 2}}, "a b c"},
		{3, [][2]int{{0, 2}}, "a ab b"},
		{4, [][2]int{{0, 2}, {0, 3}, {1, 3}}, "a ab bc c"},
		{1, nil, "a"},
		{0, nil, ""},
	} {
		got := strings.Join(lab.Letters(c.n, func(i, j int) bool { return slices.Contains(c.differ, [2]int{i, j}) }), " ")
		if got != c.letters {
			t.Errorf("%d, of which %v differ: %q, want %q", c.n, c.differ, got, c.letters)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(7)
		differ := map[[2]int]bool{}
		for i := range n {
			for j := range i {
				differ[[2]int{j, i}] = rng.IntN(2) == 0
			}
		}
		got := lab.Letters(n, func(i, j int) bool { return differ[[2]int{i, j}] })
		for pair, d := range differ {
			if strings.ContainsAny(got[pair[0]], got[pair[1]]) == d {
				t.Fatalf("%v: %d and %d share a letter although they differ: %v, in %s", got, pair[0], pair[1], d, fmt.Sprint(differ))
			}
		}
	}
}

// NumPy's quantiles; what diverged is the largest.
func TestSummarise(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	s := lab.Summarise([]float64{7, 1, nan, 2, 4})
	if s.N != 4 || s.Median != 3 || s.Q1 != 1.75 || s.Q3 != 4.75 || s.Mean != 3.5 || math.Abs(s.Half-3.1824463053*math.Sqrt(7)/2) > 1e-9 {
		t.Errorf("got %+v", s)
	}
	if s := lab.Summarise([]float64{3, inf, 1}); s.Median != 3 || s.Q1 != 2 || s.Q3 != inf || s.Mean != inf || !math.IsNaN(s.Half) {
		t.Errorf("with a diverged run: %+v", s)
	}
	if s := lab.Summarise([]float64{3, -inf, 1}); s.Median != 1 || s.Q1 != -inf {
		t.Errorf("with a diverged run where larger is better: %+v", s)
	}
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{inf, 3, 1}, 3}, {[]float64{inf, 3, inf}, inf}, {[]float64{nan, 4, 1, nan}, 2.5}, {[]float64{1, inf}, inf}, {[]float64{inf, inf}, inf}} {
		if got := lab.Median(c.v); got != c.want || got != lab.Summarise(c.v).Median {
			t.Errorf("the median of %v is %v, want %v", c.v, got, c.want)
		}
	}
	if got := lab.Median([]float64{nan}); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
	if s := lab.Summarise([]float64{nan}); s.N != 0 || !math.IsNaN(s.Median) || !math.IsNaN(s.Mean) {
		t.Errorf("without values: %+v", s)
	}
}
