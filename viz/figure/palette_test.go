package figure

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("colour %q", hex)
	}
	channel := func(c uint64) float64 {
		s := float64(c&255) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(v>>16) + 0.7152*channel(v>>8) + 0.0722*channel(v)
}

func TestContrast(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		e := easel{theme: theme}
		check := func(what string, a, b paint, least float64) {
			x, y := luminance(t, e.value(a)), luminance(t, e.value(b))
			if ratio := (max(x, y) + 0.05) / (min(x, y) + 0.05); ratio < least {
				t.Errorf("theme %d: %s: contrast %.2f, want %v", theme, what, ratio, least)
			}
		}
		check("text on page", ink, page, 7)
		for r := range Role(roles) {
			check(fmt.Sprint("text on ", r), ink, fillOf(r), 7)
			check(fmt.Sprint("second line on ", r), faint, fillOf(r), 4.5)
			check(fmt.Sprint("outline of ", r), lineOf(r), page, 3)
		}
		for _, p := range []paint{page, module, muted} {
			check(fmt.Sprint("secondary text on ", palette[p].name), faint, p, 4.5)
		}
		for p := range 2 {
			check(fmt.Sprint("title of own module ", p), ownOf(p), module, 4.5)
		}
		for _, k := range kindLine {
			check("edge "+palette[k.paint].name, k.paint, page, 3)
			check("edge in module "+palette[k.paint].name, k.paint, module, 3)
		}
		check("mark", page, faint, 4.5)
	}
}

// Without colour each role still has its own outline and each kind its dash.
func TestNothingIsToldByColourAlone(t *testing.T) {
	seen := map[string]Role{}
	for r := range Role(roles) {
		s := shape(r, Rect{0, 0, 100, 50}, "", "")
		if r == Loss || r == Output { // the same outer size
			s = shape(r, grow(Rect{0, 0, 100, 50}, ring), "", "")
		}
		if o, ok := seen[s]; ok {
			t.Errorf("%s and %s look the same", o, r)
		}
		seen[s] = r
	}
	dashes := map[string]bool{}
	for _, k := range kindLine {
		dashes[k.dash] = true
	}
	if len(dashes) != int(kinds) {
		t.Errorf("%d dashes for %d kinds of edge", len(dashes), kinds)
	}
}

func TestPaintNamesAreUnique(t *testing.T) {
	fills, lines := map[string]bool{}, map[string]bool{}
	for p, c := range palette {
		used := fills
		if p >= int(roleLine) {
			used = lines
		} else if p < int(roleFill) {
			if lines[c.name] {
				t.Errorf("paint %q twice", c.name)
			}
			lines[c.name] = true
		}
		if used[c.name] {
			t.Errorf("paint %q twice", c.name)
		}
		used[c.name] = true
	}
}
