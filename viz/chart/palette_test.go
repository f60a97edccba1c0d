package chart

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of a colour as WCAG 2 defines it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("colour %q", colour)
	}
	linear := func(shift int) float64 {
		c := float64(v>>shift&255) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*linear(16) + .7152*linear(8) + .0722*linear(0)
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a)+.05, luminance(t, b)+.05
	return max(x, y) / min(x, y)
}

func TestContrast(t *testing.T) {
	least := map[ink]float64{textInk: 12, noteInk: 4.5, axisInk: 3}
	for _, k := range groupInks {
		least[k] = 4.5 // lines are named in their colour
	}
	for k, want := range least {
		if c := contrast(t, k.light, pageInk.light); c < want {
			t.Errorf("%s: %.2f on the light page", k.class, c)
		}
		if c := contrast(t, k.dark, pageInk.dark); c < want {
			t.Errorf("%s: %.2f on the dark page", k.class, c)
		}
	}
}

// Groups and classes can be told apart without colour.
func TestGroupsDifferInGreyscale(t *testing.T) {
	lines, places := map[string]int{}, map[string]int{}
	for group := range 35 {
		looks := string(dash(group)) + "|" + string(shape(group, point{}, 4))
		if other, ok := lines[looks]; ok {
			t.Errorf("groups %d and %d look alike", other, group)
		}
		lines[looks] = group
	}
	for class := range len(shapes) {
		looks := string(shape(class, point{}, 4))
		if other, ok := places[looks]; ok {
			t.Errorf("classes %d and %d look alike", other, class)
		}
		places[looks] = class
	}
}

// Bars of neighbouring series differ in how full they are.
func TestBarsDifferInGreyscale(t *testing.T) {
	for i, o := range barOpacity {
		if next := barOpacity[(i+1)%len(barOpacity)]; math.Abs(o-next) < .3 {
			t.Errorf("series %d and the next are filled alike", i)
		}
	}
}

func TestStyle(t *testing.T) {
	css := Style()
	for _, bad := range []string{"var(", "http", "url(", "@import"} {
		if strings.Contains(css, bad) {
			t.Errorf("the style contains %q", bad)
		}
	}
	if strings.Count(css, "{") != strings.Count(css, "}") {
		t.Error("braces do not match")
	}
	for _, k := range groupInks {
		if !strings.Contains(css, "svg ."+k.class+"-s{stroke:"+k.dark+"}") {
			t.Errorf("no dark stroke for %s", k.class)
		}
	}
}
