package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestPlot: values lie where Plot says, on linear and logarithmic axes, with a legend and with
// points that are missing.
func TestPlot(t *testing.T) {
	l := Lines{Frame: Frame{ID: "l", Title: "Lines"}, X: "step", Y: "loss", LogY: true,
		Series: []Series{{Name: "a", Y: []float64{100, 10, math.NaN(), 1}}, {Name: "b", X: []float64{0, 3}, Y: []float64{7, 50}, Group: 1}}}
	p, err := l.Plot()
	if err != nil {
		t.Fatal(err)
	}
	svg, _ := render(t, l)
	for _, v := range [][2]float64{{0, 100}, {1, 10}, {0, 7}, {3, 50}} {
		if at := fmt.Sprintf("%v %v", number(p.X.At(v[0])), number(p.Y.At(v[1]))); !strings.Contains(svg, at) {
			t.Errorf("%v is not at %s in %s", v, at, svg)
		}
	}
	if got := p.Y.At(0); !math.IsNaN(got) {
		t.Errorf("0 on a logarithmic axis: %v", got)
	}
	fit := Lines{Frame: Frame{ID: "f", Title: "Both signs"}, X: "step", Y: "loss", FitY: true, Series: []Series{{Name: "a", Y: []float64{-1e5, 3, 1e6, -20}}}}
	if p, err = fit.Plot(); err != nil || p.Y.Linear == 0 {
		t.Fatalf("%+v, %v", p.Y, err)
	}
	svg, _ = render(t, fit)
	for i, y := range fit.Series[0].Y {
		if at := fmt.Sprintf("%v %v", number(p.X.At(float64(i))), number(p.Y.At(y))); !strings.Contains(svg, at) {
			t.Errorf("%v is not at %s in %s", y, at, svg)
		}
	}
	s := Scatter{Frame: Frame{ID: "s", Title: "Scatter"}, EqualAspect: true, Height: 260, Points: [][2]float64{{-3, 1}, {4, -1}, {math.NaN(), 0}},
		Paths: []Path{{Name: "centres", Points: [][2]float64{{0, 0}, {2, .5}}}}}
	if p, err = s.Plot(); err != nil {
		t.Fatal(err)
	}
	svg, _ = render(t, s)
	if at := fmt.Sprintf("%v %vL%v %v", number(p.X.At(0)), number(p.Y.At(0)), number(p.X.At(2)), number(p.Y.At(.5))); !strings.Contains(svg, at) {
		t.Errorf("the path is not %s in %s", at, svg)
	}
	if unit := (p.X.At(1) - p.X.At(0)) + (p.Y.At(1) - p.Y.At(0)); math.Abs(unit) > 1e-9 {
		t.Errorf("a unit differs by %v", unit)
	}
	s.Covers = [][2]float64{{-9, 0}, {math.NaN(), 7}}
	wider, err := s.Plot()
	if err != nil || wider.X.Lo > -9 || wider.Y.Hi >= 7 {
		t.Errorf("the axes do not cover -9: %+v, %v", wider, err)
	}
	if covered, _ := render(t, s); strings.Contains(covered, "2 points not shown") {
		t.Error("what is covered counts as missing")
	}
	for _, empty := range []interface{ Plot() (Plot, error) }{Lines{Frame: l.Frame}, Scatter{Frame: s.Frame}} {
		if p, err := empty.Plot(); err != nil || p != (Plot{}) {
			t.Errorf("%T: %v, %v", empty, p, err)
		}
	}
	for _, wrong := range []interface{ Plot() (Plot, error) }{Lines{}, Scatter{}} {
		if _, err := wrong.Plot(); err == nil {
			t.Errorf("%T: no error", wrong)
		}
	}
}
