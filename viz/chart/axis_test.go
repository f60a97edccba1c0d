package chart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLinearTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		a := math.Pow(10, 40*rng.Float64()-20) * rng.NormFloat64()
		b := a + math.Pow(10, 40*rng.Float64()-20)
		if rng.IntN(3) == 0 {
			a = 0
		}
		s := span{min(a, b), max(a, b)}.opened(false)
		most := 5 + rng.IntN(5)
		ticks := linearTicks(s.lo, s.hi, most)
		n := len(ticks)
		if n < 3 || n > most {
			t.Fatalf("[%v, %v]: %d ticks of at most %d", s.lo, s.hi, n, most)
		}
		step := ticks[1].value - ticks[0].value
		if ticks[0].value > s.lo+1e-6*step || ticks[n-1].value < s.hi-1e-6*step {
			t.Fatalf("%v does not cover [%v, %v]", ticks, s.lo, s.hi)
		}
		if ticks[1].value <= s.lo || ticks[n-2].value >= s.hi {
			t.Fatalf("%v goes beyond [%v, %v] by a tick", ticks, s.lo, s.hi)
		}
		power := math.Pow(10, math.Floor(math.Log10(step)+1e-6))
		if m := math.Round(step / power); m != 1 && m != 2 && m != 5 {
			t.Fatalf("step %v of %v", step, ticks)
		}
		labels := map[string]bool{}
		for _, k := range ticks {
			// The step is a difference and knows few of a large value's digits.
			if q := k.value / step; math.Abs(q-math.Round(q)) > 1e-2 {
				t.Fatalf("%v is no multiple of %v", k.value, step)
			}
			if labels[k.label] {
				t.Fatalf("label %q twice in %v", k.label, ticks)
			}
			labels[k.label] = true
		}
	}
}

func TestLogTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20000 {
		lo := math.Pow(10, 400*rng.Float64()-200)
		s := span{lo, lo * math.Pow(10, math.Pow(10, 4*rng.Float64()-2))}.opened(true)
		most := 5 + rng.IntN(5)
		ticks, from, to := logTicks(s.lo, s.hi, most)
		if n := len(ticks); n < 3 || n > most {
			t.Fatalf("[%v, %v]: %d ticks of at most %d: %v", s.lo, s.hi, n, most, ticks)
		}
		if from > s.lo*(1+1e-6) || to < s.hi*(1-1e-6) || from < s.lo/3 || to > s.hi*3 {
			t.Fatalf("[%v, %v] does not closely cover [%v, %v]", from, to, s.lo, s.hi)
		}
		for i, k := range ticks {
			if k.value < from*(1-1e-6) || k.value > to*(1+1e-6) || i > 0 && k.value <= ticks[i-1].value {
				t.Fatalf("ticks %v of [%v, %v]", ticks, from, to)
			}
			if s.hi/s.lo > 20 {
				power := math.Pow(10, math.Floor(math.Log10(k.value)+1e-6))
				if m := k.value / power; math.Abs(m-1) > 1e-6 && math.Abs(m-2) > 1e-6 && math.Abs(m-5) > 1e-6 {
					t.Fatalf("tick %v", k.value)
				}
			}
		}
	}
}

func TestTickLabels(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		log    bool
		want   string
	}{
		{0, 1, false, "0 0.2 0.4 0.6 0.8 1.0"},
		{0, 200, false, "0 50 100 150 200"},
		{78.85, 81.2, false, "78.5 79.0 79.5 80.0 80.5 81.0 81.5"},
		{-3, 3, false, "-3 -2 -1 0 1 2 3"},
		{0, 1166500, false, "0 200_000 400_000 600_000 800_000 1_000_000 1_200_000"},
		{0, 3e-5, false, "0 5e-6 1e-5 1.5e-5 2e-5 2.5e-5 3e-5"},
		{-4e8, 2e8, false, "-4e8 -3e8 -2e8 -1e8 0 1e8 2e8"},
		{1, 3000, true, "1 10 100 1000"},
		{1e-9, 1, true, "10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 10⁰"},
		{1e-14, 1, true, "10⁻¹² 10⁻⁹ 10⁻⁶ 10⁻³ 10⁰"},
		{7, 120, true, "5 10 20 50 100 200"},
		{2, 7, true, "2 5 10"},
		{3, 4, true, "3.0 3.2 3.4 3.6 3.8 4.0"},
	} {
		var labels []string
		for _, k := range coveringAxis(span{test.lo, test.hi}, test.log, 7).ticks {
			labels = append(labels, k.label)
		}
		want := strings.ReplaceAll(test.want, "_", thinSpace)
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("[%v, %v]: %s, want %s", test.lo, test.hi, got, want)
		}
	}
}

func TestOpenedSpanCanBeDivided(t *testing.T) {
	for _, v := range []float64{0, 1, -1, 1e300, -1e300, 1e-300, 5e-324, 78.85} {
		for _, log := range []bool{false, true} {
			if !drawable(v, log) {
				continue
			}
			a := coveringAxis(span{v, v}, log, 6).between(0, 100)
			if p := a.at(v); !(p > 0 && p < 100) {
				t.Errorf("%v (log %v) lies at %v of %v", v, log, p, a)
			}
		}
	}
}
