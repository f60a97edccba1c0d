package chart

import (
	"math"
	"testing"
)

// bars are the bars of a chart without the ground and the legend's samples.
func bars(t *testing.T, d drawing) []element {
	_, all := render(t, d)
	var found []element
	for _, e := range all {
		if e.name == "rect" && e.num(t, "height") == barHeight {
			found = append(found, e)
		}
	}
	return found
}

func TestBarLengths(t *testing.T) {
	b := Bars{Frame: Frame{ID: "c", Title: "t"}, Series: []string{"a", "b"},
		Rows: []Row{{"x", "", []float64{4, 2}}, {"y", "a long unit", []float64{-1, 0}}}}
	found := bars(t, b)
	if len(found) != 4 {
		t.Fatalf("%d bars", len(found))
	}
	length := func(i int) float64 { return found[i].num(t, "width") }
	if math.Abs(length(0)-2*length(1)) > .2 || math.Abs(length(0)-4*length(2)) > .3 || length(3) != 0 {
		t.Errorf("bars of 4, 2, -1 and 0 are %v, %v, %v and %v long", length(0), length(1), length(2), length(3))
	}
	if zero := found[0].num(t, "x"); math.Abs(found[2].num(t, "x")+length(2)-zero) > .11 {
		t.Errorf("the negative bar does not end at zero")
	}
}

// Rows with scales of their own have longest bars of equal length, however long
// the values beside them are.
func TestOwnScale(t *testing.T) {
	found := bars(t, gallery()["costs"])
	nodes, flops, time := found[0].num(t, "width"), found[3].num(t, "width"), found[5].num(t, "width")
	if nodes != flops || nodes != time {
		t.Errorf("longest bars are %v, %v and %v long", nodes, flops, time)
	}
}

func TestEqualAspect(t *testing.T) {
	for _, corner := range [][2]float64{{4, 1}, {1, 4}, {1e6, 1}, {1, 1e6}, {3, 2}} {
		for _, height := range []float64{0, 200, 500} {
			s := Scatter{Frame: Frame{ID: "c", Title: "t"}, Y: "y", EqualAspect: true, Height: height, Paths: []Path{
				{Points: [][2]float64{{0, 0}, {corner[0], 0}, {corner[0], corner[1]}}}}}
			_, all := render(t, s)
			var way []point
			for _, e := range all {
				if e.attr["stroke-width"] == "2.2" {
					way = vertices(t, e.attr["d"])
				}
			}
			from, to := way[0], way[len(way)-1]
			dx, dy := to.x-from.x, from.y-to.y
			if math.Abs(dx*corner[1]-dy*corner[0]) > .15*(corner[0]+corner[1]) {
				t.Errorf("%v is drawn as %v by %v", corner, dx, dy)
			}
		}
	}
}

// Points that coincide on the canvas cost no bytes.
func TestScatterDrawsASpotOnce(t *testing.T) {
	few := Scatter{Frame: Frame{ID: "c", Title: "t"}, Points: [][2]float64{{0, 0}, {1, 1}}}
	many := few
	for range 5000 {
		many.Points = append(many.Points, [2]float64{1, 1})
	}
	a, _ := render(t, few)
	b, _ := render(t, many)
	if len(b) > len(a)+20 {
		t.Errorf("%d bytes for two spots, %d for the same spots many times", len(a), len(b))
	}
}

// A chart of many long runs remains small.
func TestSize(t *testing.T) {
	l := Lines{Frame: Frame{ID: "c", Title: "t"}}
	for run := range 40 {
		l.Series = append(l.Series, Series{Y: decay(5000, 600+float64(run), 78, 300), Faint: run > 0, Group: run % 2})
	}
	if svg, _ := render(t, l); len(svg) > 40_000 {
		t.Errorf("%d bytes", len(svg))
	}
}
