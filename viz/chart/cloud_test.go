package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// dotsOf returns the places of a cloud's dots in the chart that refers to it, in pixels.
func dotsOf(t *testing.T, s Scatter) [][2]float64 {
	t.Helper()
	var own, chart strings.Builder
	if err := s.Cloud.SVG(&own); err != nil {
		t.Fatal(err)
	}
	if err := s.SVG(&chart); err != nil {
		t.Fatal(err)
	}
	var x, y, scale, width float64
	use := regexp.MustCompile(`<use href="#` + s.Cloud.ID + `" .*`).FindString(chart.String())
	if _, err := fmt.Sscanf(regexp.MustCompile(`translate.*?"`).FindString(use), "translate(%g %g)scale(%g)\"", &x, &y, &scale); err != nil {
		t.Fatalf("%v in %s", err, chart.String())
	}
	if _, err := fmt.Sscanf(regexp.MustCompile(`stroke-width.*?"[^"]*"`).FindString(use), "stroke-width=\"%g\"", &width); err != nil || math.Abs(width*scale-dotOf(max(1, len(s.Cloud.Points)-1))) > 1e-3 {
		t.Errorf("a dot is %g wide: %v", width*scale, err)
	}
	var out [][2]float64
	at := [2]float64{}
	for _, m := range regexp.MustCompile(`m(-?\d+)([+-]\d+)h0`).FindAllStringSubmatch(own.String(), -1) {
		var dx, dy float64
		fmt.Sscan(m[1], &dx)
		fmt.Sscan(m[2], &dy)
		at[0], at[1] = at[0]+dx, at[1]+dy
		out = append(out, [2]float64{x + scale*at[0], y + scale*at[1]})
	}
	return out
}

// TestCloud: each point of a cloud has a dot where the axes of the chart that refers to it say.
func TestCloud(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, unit := range []float64{1, 1e-6, 1e299} {
		c := &Cloud{ID: "all", Name: "data", Points: [][2]float64{{math.NaN(), 0}}}
		for range 3000 {
			c.Points = append(c.Points, [2]float64{unit * rng.NormFloat64(), unit * (3 + rng.NormFloat64()/4)})
		}
		s := Scatter{Frame: Frame{ID: "c", Title: "t"}, Cloud: c, EqualAspect: true, Covers: [][2]float64{{0, 9 * unit}}}
		p, err := s.Plot()
		if err != nil {
			t.Fatal(err)
		}
		dots := dotsOf(t, s)
		if len(dots) > 3000 || len(dots) < 2900 {
			t.Errorf("unit %g: %d dots", unit, len(dots))
		}
		for _, q := range c.Points[1:] {
			near := math.Inf(1)
			for _, d := range dots {
				near = min(near, math.Hypot(d[0]-p.X.At(q[0]), d[1]-p.Y.At(q[1])))
			}
			if near > .15 {
				t.Fatalf("unit %g: the nearest dot is %.2f pixels from %v", unit, near, q)
			}
		}
	}
}

// TestCloudIsSmall: thousands of points take few bytes each, and a chart that refers to them none.
func TestCloudIsSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &Cloud{ID: "all"}
	for range 8000 {
		c.Points = append(c.Points, [2]float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	var own, chart strings.Builder
	if err := c.SVG(&own); err != nil {
		t.Fatal(err)
	}
	if err := (Scatter{Frame: Frame{ID: "c", Title: "t"}, Cloud: c, EqualAspect: true}).SVG(&chart); err != nil {
		t.Fatal(err)
	}
	if own.Len() > 9*8000 || chart.Len() > 6000 {
		t.Errorf("the cloud has %d bytes, the chart %d", own.Len(), chart.Len())
	}
}

// TestCloudEdges: clouds without extent, or without a point that can be drawn, and those that
// cannot be referred to.
func TestCloudEdges(t *testing.T) {
	one := Scatter{Frame: Frame{ID: "c", Title: "t"}, EqualAspect: true, Cloud: &Cloud{ID: "all", Points: [][2]float64{{2, 3}, {2, 3}}}}
	p, err := one.Plot()
	if err != nil {
		t.Fatal(err)
	}
	if dots := dotsOf(t, one); len(dots) != 1 || math.Hypot(dots[0][0]-p.X.At(2), dots[0][1]-p.Y.At(3)) > .1 {
		t.Errorf("one place has the dots %v", dots)
	}
	var b strings.Builder
	none := Scatter{Frame: one.Frame, EqualAspect: true, Cloud: &Cloud{ID: "all", Points: [][2]float64{{math.NaN(), 3}}}, Points: [][2]float64{{1, 1}}}
	if err := none.SVG(&b); err != nil || strings.Contains(b.String(), "<use") || !strings.Contains(b.String(), "1 point not shown") {
		t.Errorf("%v: %s", err, b.String())
	}
	for want, s := range map[string]Scatter{
		`chart "c": a cloud in a chart whose axes have different units`:                        {Frame: one.Frame, Cloud: one.Cloud},
		`chart "c": cloud "1": the id is not a letter followed by letters, digits, '-' or '_'`: {Frame: one.Frame, EqualAspect: true, Cloud: &Cloud{ID: "1"}},
	} {
		if err := s.SVG(&b); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := (Cloud{ID: ""}).SVG(&b); err == nil {
		t.Error("a cloud without a name is no error")
	}
}
