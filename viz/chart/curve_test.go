package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// unit maps values to themselves as pixels.
var unit = axis{span: span{0, 1000}, from: 0, to: 1000}

func curveOf(y []float64, step float64) curve {
	return newCurve(len(y), func(i int) (float64, float64) { return float64(i) * step, y[i] }, unit, unit)
}

func TestCurveBreaks(t *testing.T) {
	nan := math.NaN()
	c := curveOf([]float64{nan, 1, 2, nan, math.Inf(1), 3, nan, 4, 5}, 1)
	if got, want := path(c...), raw("M1 1L2 2M5 3L5 3M7 4L8 5"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is left out makes no visible difference, and much is left out.
func TestThinning(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	noisy, smooth := make([]float64, 100_000), make([]float64, 100_000)
	for i := range noisy {
		smooth[i] = 100 + 80*math.Sin(float64(i)/20000)
		noisy[i] = smooth[i] + rng.NormFloat64()
	}
	for name, test := range map[string]struct {
		y    []float64
		most int
	}{"noisy": {noisy, 4 * 400}, "smooth": {smooth, 60}} {
		s := curveOf(test.y, 400./100_000)[0]
		thin := straightened(columns(s, 1))
		if len(thin) > test.most || len(thin) < 10 {
			t.Errorf("%s: %d points are left", name, len(thin))
		}
		if thin[0] != s[0] || thin[len(thin)-1] != s[len(s)-1] {
			t.Errorf("%s: an end is lost", name)
		}
		low := func(a, b point) int {
			if a.y < b.y {
				return -1
			}
			return 1
		}
		for x := 0.; x < 400; x++ {
			in := func(p point) bool { return math.Floor(p.x) != x }
			all := slices.DeleteFunc(slices.Clone(s), in)
			kept := slices.DeleteFunc(columns(s, 1), in)
			if slices.MinFunc(all, low).y != slices.MinFunc(kept, low).y || slices.MaxFunc(all, low).y != slices.MaxFunc(kept, low).y {
				t.Fatalf("%s: column %v has lost an extreme", name, x)
			}
		}
	}
}

func TestStraightenedStaysClose(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var s []point
	for range 1500 { // more than a run, and turning back
		s = append(s, point{rng.Float64() * 5, rng.Float64()})
	}
	thin := straightened(s)
	if len(thin) == len(s) || len(thin) < 500 {
		t.Errorf("%d of %d points are left", len(thin), len(s))
	}
	k := 0
	for _, p := range s {
		if k+1 < len(thin) && p == thin[k+1] {
			k++
		}
		if d := distance(p, thin[k], thin[min(k+1, len(thin)-1)]); d > .1 {
			t.Fatalf("%v is %v away", p, d)
		}
	}
	if k != len(thin)-1 {
		t.Errorf("points came in another order")
	}
}

func TestSpread(t *testing.T) {
	y := make([]float64, 101)
	var xs []float64
	for _, p := range curveOf(y, 1).spread(4, .5) {
		xs = append(xs, p.x)
	}
	if !slices.Equal(xs, []float64{13, 38, 63, 88}) {
		t.Errorf("markers at %v", xs)
	}
	if got := curveOf(y[:1], 1).spread(4, .5); len(got) != 0 {
		t.Errorf("markers on a single point: %v", got)
	}
}
