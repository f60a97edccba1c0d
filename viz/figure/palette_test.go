package figure

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
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
		check("derivative under a sign", gradLine, page, 4.5)
		check("derivative under a sign in a cell", gradLine, module, 4.5)
		for r := range Role(roles) {
			check(fmt.Sprint("text on ", r), ink, fillOf(r), 7)
			check(fmt.Sprint("second line on ", r), faint, fillOf(r), 4.5)
			check(fmt.Sprint("outline of ", r), lineOf(r), page, 3)
		}
		for _, p := range []paint{page, module, muted} {
			check(fmt.Sprint("secondary text on ", palette[p].name), faint, p, 4.5)
		}
		for step := range HeatSteps {
			fill, text := heatOf(step + 1)
			check(fmt.Sprint("text on heat ", step+1), text, fill, 7)
		}
		for group := range Groups {
			check(fmt.Sprint("text on group ", group+1), ink, groupOf(group+1), 7)
		}
		check("sign of lost digits", page, lossyLine, 4.5)
		check("alarm on page", alarmLine, page, 3)
		check("alarm in module", alarmLine, module, 3)
		check("sign of an alarm", page, alarmLine, 4.5)
		check("sign of what is right", page, lineOf(Reduce), 4.5)
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

// visions are the matrices of Machado, Oliveira and Fernandes (2009) that show linear RGB
// as without one kind of cones.
var visions = map[string][9]float64{
	"all cones":    {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// lab gives the coordinates L*, a*, b* of a colour as one of the visions sees it.
func lab(t *testing.T, hex string, vision [9]float64) (out [3]float64) {
	t.Helper()
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	var c, seen [3]float64
	for i := range c {
		s := float64(v>>(16-8*i)&255) / 255
		if c[i] = s / 12.92; s > 0.04045 {
			c[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for k := range c {
			seen[i] += vision[3*i+k] * c[k]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(r, g, b, white float64) float64 {
		x := (r*seen[0] + g*seen[1] + b*seen[2]) / white
		if x > 0.008856 {
			return math.Cbrt(x)
		}
		return 7.787*x + 16.0/116
	}
	x, y, z := f(0.4124, 0.3576, 0.1805, 0.9505), f(0.2126, 0.7152, 0.0722, 1), f(0.0193, 0.1192, 0.9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Groups have no order, so all must be distinguishable in any vision and theme, also from the
// page, which is the fill of nodes without a group. A difference of 2.3 is just noticeable.
func TestGroupsAreToldApart(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		e := easel{theme: theme}
		fills := []paint{page}
		for group := range Groups {
			fills = append(fills, groupOf(group+1))
		}
		for name, vision := range visions {
			for i, a := range fills {
				for _, b := range fills[:i] {
					x, y := lab(t, e.value(a), vision), lab(t, e.value(b), vision)
					if d := math.Sqrt(math.Pow(x[0]-y[0], 2) + math.Pow(x[1]-y[1], 2) + math.Pow(x[2]-y[2], 2)); d < 18 {
						t.Errorf("theme %d, %s: %s and %s differ by %.1f", theme, name, palette[a].name, palette[b].name, d)
					}
				}
			}
		}
	}
}

// The lowest heat is visible beside nodes without heat, in any vision.
func TestLeastHeatIsSeen(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		e := easel{theme: theme}
		least, _ := heatOf(1)
		for name, vision := range visions {
			x, y := lab(t, e.value(least), vision), lab(t, e.value(page), vision)
			if d := math.Sqrt(math.Pow(x[0]-y[0], 2) + math.Pow(x[1]-y[1], 2) + math.Pow(x[2]-y[2], 2)); d < 7 {
				t.Errorf("theme %d, %s: the least heat and none differ by %.1f", theme, name, d)
			}
		}
	}
}

// Heat gets stronger with every step: darker on a light page, lighter on a dark
// one.
func TestHeatIsMonotone(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		e := easel{theme: theme}
		for step := 1; step < HeatSteps; step++ {
			a, _ := heatOf(step)
			b, _ := heatOf(step + 1)
			if x, y := luminance(t, e.value(a)), luminance(t, e.value(b)); x == y || x > y != (theme == Light) {
				t.Errorf("theme %d: step %d has luminance %.3f, the next %.3f", theme, step, x, y)
			}
		}
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
	signs := map[string]bool{}
	for _, s := range alarmSigns {
		signs[s] = true
	}
	if len(signs) != int(alarms) {
		t.Errorf("%d signs for %d alarms", len(signs), alarms)
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

// TestOneDarkColourAClass: a sign on a node does not change the node's own colours
// where the reader prefers dark, whatever its role.
func TestOneDarkColourAClass(t *testing.T) {
	for r := range Role(roles) {
		f := &Figure{Nodes: []Node{{ID: "n0", Main: "x", Role: r, Alarm: Checked}}}
		var svg strings.Builder
		if err := f.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`\.([fs]-\w+)\{`).FindAllStringSubmatch(svg.String(), -1) {
			if seen[m[1]] {
				t.Errorf("%v: the class %s has two dark colours", r, m[1])
			}
			seen[m[1]] = true
		}
		if len(seen) == 0 {
			t.Errorf("%v: no dark colours", r)
		}
	}
}
