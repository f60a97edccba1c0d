package inspect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
)

// array makes one of float64s.
func array(v []float64, axes ...graph.Axis) tape.Array {
	shape, err := graph.NewShape(axes...)
	if err != nil {
		panic(err)
	}
	return tape.Array{Type: graph.Type{DType: graph.F64, Shape: shape}, F64: v}
}

func vector(v ...float64) tape.Array { return array(v, graph.Ax("i", len(v))) }

// near compares up to rounding; NaN equals NaN.
func near(a, b float64) bool { return a == b || a != a && b != b || math.Abs(a-b) <= 1e-12*math.Abs(b) }

// TestStatistics compares with sums, sorting and counting of the finite elements.
func TestStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		n, bins := 1+rng.IntN(60), 1+rng.IntN(12)
		v := make([]float64, n)
		for i := range v {
			switch rng.IntN(12) {
			case 0:
				v[i] = math.NaN()
			case 1:
				v[i] = math.Inf(1 - 2*rng.IntN(2))
			case 2:
				v[i] = math.Copysign(0, float64(1-2*rng.IntN(2)))
			default:
				v[i] = math.Round(rng.NormFloat64()*8) / 4
			}
		}
		var finite []float64
		zeros, nan, plus, minus := 0, 0, 0, 0
		for _, x := range v {
			switch {
			case math.IsNaN(x):
				nan++
			case math.IsInf(x, 1):
				plus++
			case math.IsInf(x, -1):
				minus++
			default:
				finite = append(finite, x)
				if x == 0 {
					zeros++
				}
			}
		}
		s := inspect.StatisticsOf(vector(v...), bins)
		if s.Count != n || s.Finite != len(finite) || s.Zeros != zeros || s.NaN != nan || s.PosInf != plus || s.NegInf != minus {
			t.Fatalf("trial %d: counts %+v of %v", trial, s, v)
		}
		if len(finite) == 0 {
			continue
		}
		lo, hi, sum := slices.Min(finite), slices.Max(finite), 0.0
		for _, x := range finite {
			sum += x
		}
		mean, squares := sum/float64(len(finite)), 0.0
		for _, x := range finite {
			squares += (x - mean) * (x - mean)
		}
		std := math.Sqrt(squares / float64(len(finite)))
		if s.Min != lo || s.Max != hi || math.Abs(s.Mean-mean) > 1e-12 || math.Abs(s.Std-std) > 1e-12 || s.AbsMax != max(-lo, hi, math.Abs(lo), math.Abs(hi)) {
			t.Fatalf("trial %d: %+v, want mean %v, std %v, from %v to %v", trial, s, mean, std, lo, hi)
		}
		want := make([]int, bins)
		if lo == hi {
			want = []int{len(finite)}
		} else {
			for _, x := range finite {
				k := 0 // the last bin that begins at x or below
				for k < bins-1 && (x-lo)/(hi-lo)*float64(bins) >= float64(k+1) {
					k++
				}
				want[k]++
			}
		}
		if !slices.Equal(s.Bins, want) {
			t.Fatalf("trial %d: histogram %v, want %v", trial, s.Bins, want)
		}
	}
}

// TestStatisticsAtTheEdge: sums of the largest and smallest numbers neither overflow nor vanish.
func TestStatisticsAtTheEdge(t *testing.T) {
	most, least := math.MaxFloat64, math.SmallestNonzeroFloat64
	s := inspect.StatisticsOf(vector(most, most, -most, most), 4)
	if !near(s.Mean, most/2) || !near(s.Std, most*math.Sqrt(0.75)) || !slices.Equal(s.Bins, []int{1, 0, 0, 3}) {
		t.Errorf("of the largest: %+v", s)
	}
	s = inspect.StatisticsOf(vector(0, least), 2)
	if s.Max != least || !slices.Equal(s.Bins, []int{1, 1}) {
		t.Errorf("of the smallest: %+v", s)
	}
	s = inspect.StatisticsOf(vector(math.NaN(), math.Inf(1)), 3)
	if s.Finite != 0 || s.Bins != nil || s.Min == s.Min || s.Mean == s.Mean {
		t.Errorf("of nothing finite: %+v", s)
	}
	if s := inspect.StatisticsOf(tape.Array{}, 3); s.Count != 0 {
		t.Errorf("of no value: %+v", s)
	}
}

func TestStatisticsText(t *testing.T) {
	for want, v := range map[string][]float64{
		"min -1  mean 0.25  max 2  std 1.09  |x| ≤ 2  2 of 4 are 0": {-1, 0, 0, 2},
		"0.5":             {0.5},
		"all 3  1 NaN":    {3, 3, math.NaN()},
		"1 +Inf  1 -Inf":  {math.Inf(1), math.Inf(-1)},
		"1e-05":           {1e-5},
		"1.235e+09":       {1234567890},
		"123456":          {123456},
		"-0.3333  1 +Inf": {-1. / 3, math.Inf(1)},
	} {
		if got := inspect.StatisticsOf(vector(v...), 4).String(); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	for want, v := range map[string][]float64{"▂█ ▄": {0, 0.3, 0.3, 0.3, 0.3, 1, 1}, "█": {2, 2}, "": {math.NaN()}, "▁█": append(make([]float64, 1), slices.Repeat([]float64{9}, 100)...)} {
		if got := inspect.StatisticsOf(vector(v...), max(1, len([]rune(want)))).Spark(); got != want {
			t.Errorf("%v is drawn %q, want %q", v, got, want)
		}
	}
}
