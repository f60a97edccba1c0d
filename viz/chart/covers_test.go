package chart

import (
	"strings"
	"testing"
)

// Charts that cover the same values have the same ticks, whatever they draw.
func TestCovers(t *testing.T) {
	draw := func(l Lines) string {
		t.Helper()
		l.Frame = Frame{ID: "c", Title: "t"}
		var b strings.Builder
		if err := l.SVG(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	low, high := Series{X: []float64{5, 6}, Y: []float64{1, 2}}, Series{X: []float64{5, 6}, Y: []float64{700, 900}}
	covers := [][2]float64{{5, 1}, {50, 900}}
	for _, s := range []Series{low, high} {
		beside := draw(Lines{Series: []Series{s}, Covers: covers})
		for _, tick := range []string{">0<", ">200<", ">800<", ">50<"} {
			if !strings.Contains(beside, tick) {
				t.Errorf("%v beside other charts: no tick %s", s.Y, tick)
			}
		}
		if strings.Contains(beside, "not shown") {
			t.Error("what is covered is missed")
		}
		if alone := draw(Lines{Series: []Series{s}}); strings.Contains(alone, ">200<") {
			t.Errorf("%v alone: a tick at 200", s.Y)
		}
	}
	if log := draw(Lines{Series: []Series{high}, LogY: true, Covers: [][2]float64{{5, 0}, {5, 1}}}); !strings.Contains(log, ">1<") || strings.Contains(log, "not shown") {
		t.Error("a logarithmic axis does not reach 1, or complains of 0")
	}
}
