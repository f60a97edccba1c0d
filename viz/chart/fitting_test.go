package chart

import (
	"math"
	"strings"
	"testing"
)

// The vertical axis is chosen by the values: where an even one shows only the largest, their orders
// of magnitude are shown, of both signs if there are both.
func TestFitY(t *testing.T) {
	for _, test := range []struct {
		y         []float64
		has, lack string // ticks, separated by spaces
	}{
		{[]float64{8e33, 3, 1, math.NaN()}, "10⁰ 10³⁰", "0 8"},
		{[]float64{2, 1, .5}, "0.5 2.0", "0.1"},
		{[]float64{900, 20, 1}, "0 1000", "1 10"},
		{[]float64{1000, 20, 1}, "1 10 100 1000", "0"},
		{[]float64{-1e9, -2, -5, 3, 4, 2e7}, "-10⁸ -1 0 1", "-5e8"},
		{[]float64{0, 1e-4, 2e-4, 1e6}, "0 10⁻⁴ 10⁶", "500_000"},
		{[]float64{-2, -3, -2e5}, "-10⁶ -100 -1 0", "1 -3"},
		{[]float64{-3, -1, 1e-9, 2, 4}, "-2 0 4", "10⁻⁹"}, // it only passes 0
		{[]float64{0, 0, 0}, "0", "10⁰"},
	} {
		x := make([]float64, len(test.y))
		for i := range x {
			x[i] = float64(33 + i)
		}
		var b strings.Builder
		l := Lines{Frame: Frame{ID: "c", Title: "t"}, Y: "loss", FitY: true, Series: []Series{{Name: "s", X: x, Y: test.y}}}
		if err := l.SVG(&b); err != nil {
			t.Fatal(err)
		}
		for i, list := range []string{test.has, test.lack} {
			for _, tick := range strings.Fields(list) {
				tick = ">" + strings.ReplaceAll(tick, "_", thinSpace) + "</text>"
				if strings.Contains(b.String(), tick) != (i == 0) {
					t.Errorf("%v: tick %s is there: %v", test.y, tick, i != 0)
				}
			}
		}
	}
}

// The places on an axis of both signs ascend, and its bounds and ticks cover what it is made for.
func TestSignedAxis(t *testing.T) {
	for _, s := range []span{{-1e300, 1e300}, {-3, 1e8}, {-1e8, -3}, {0, 1e9}, {-40, 0.5}, {-.2, .3}} {
		for _, linear := range []float64{1e-300, 1e-3, 1, 100} {
			a := signedAxis(s, linear, 7).between(0, 100)
			if a.lo > s.lo || a.hi < s.hi || len(a.ticks) < 2 {
				t.Fatalf("%v, linear within %v: from %v to %v with %d ticks", s, linear, a.lo, a.hi, len(a.ticks))
			}
			if len(a.ticks) > 9 {
				t.Errorf("%v, linear within %v: %d ticks", s, linear, len(a.ticks))
			}
			for i, k := range a.ticks {
				if p := a.at(k.value); !(p >= -1e-9 && p <= 100+1e-9) || i > 0 && p <= a.at(a.ticks[i-1].value) {
					t.Errorf("%v, linear within %v: tick %s lies at %v", s, linear, k.label, p)
				}
			}
		}
	}
}
