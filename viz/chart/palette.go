package chart

import (
	"fmt"
	"slices"
	"strings"
)

// ink is a colour named by its use. Elements have the light colour as an attribute, and a class
// through which Style sets the dark one.
type ink struct{ class, light, dark string }

var (
	pageInk = ink{"ch-page", "#FFFFFF", "#14191F"}
	textInk = ink{"ch-text", "#1B2733", "#E9EEF3"}
	noteInk = ink{"ch-note", "#59636E", "#97A3AF"}
	gridInk = ink{"ch-grid", "#E1E6EB", "#2B343D"}
	axisInk = ink{"ch-axis", "#8A95A0", "#6B7782"}

	// groupInks are the hues of Okabe and Ito (Color Universal Design, 2008), darkened until they
	// contrast with the page as text does.
	groupInks = [...]ink{
		{"ch-0", "#0072B2", "#56B4E9"},
		{"ch-1", "#B84A00", "#FF8A4C"},
		{"ch-2", "#00795A", "#3CC79F"},
		{"ch-3", "#A3487D", "#E39AC6"},
		{"ch-4", "#8F6200", "#E6B422"},
		{"ch-5", "#5F6973", "#98A3AE"},
	}
)

var (
	titleFont = font{size: 14, weight: 600, ink: textInk}
	labelFont = font{size: 12, ink: textInk}
	noteFont  = font{size: 12, ink: noteInk}
)

// dashes has five entries, shapes seven and groupInks six: together they distinguish 210 groups.
var dashes = [...]raw{"", "7 4", "2 3.5", "10 3 2 3", "14 4"}

// groupInk returns the colour of a group.
func groupInk(group int) ink { return groupInks[group%len(groupInks)] }

// classInk returns the colour of a class of data points. The first two colours are left to the
// groups that are compared on top of the data.
func classInk(class int) ink {
	rest := groupInks[2:]
	return rest[class%len(rest)]
}

// fill and stroke return the attributes that paint in this colour.
func (k ink) fill() raw   { return raw(fmt.Sprintf(` class="%s" fill="%s"`, k.class, k.light)) }
func (k ink) stroke() raw { return raw(fmt.Sprintf(` class="%s-s" stroke="%s"`, k.class, k.light)) }

// both fills with k and outlines with line.
func (k ink) both(line ink, rest raw) raw {
	return raw(fmt.Sprintf(` class="%s %s-s" fill="%s" stroke="%s" %s`, k.class, line.class, k.light, line.light, rest))
}

// ringed paints in colour k with an outline in the page's colour, which separates overlapping
// shapes.
func (k ink) ringed(width float64) raw {
	return k.both(pageInk, raw(fmt.Sprintf(`stroke-width="%v" paint-order="stroke"`, width)))
}

// hollow paints an outline in colour k with a tint inside, so that overlapping points remain
// visible.
func (k ink) hollow() raw {
	return k.both(k, `stroke-width="1.1" fill-opacity=".22" stroke-opacity=".9"`)
}

// opened paints an outline in colour k around the page's colour.
func (k ink) opened() raw { return pageInk.both(k, `stroke-width="1.8"`) }

// dash returns the attribute that draws a line in the group's dash.
func dash(group int) raw {
	if d := dashes[group%len(dashes)]; d != "" {
		return ` stroke-dasharray="` + d + `"`
	}
	return ""
}

// Style returns the CSS rules that the charts of a page share: their size on the page and, for
// readers who prefer them, the dark colours. Printed pages stay light. All rules are confined to
// the classes chart, cloud and spark of svg elements.
func Style() string {
	var b strings.Builder
	b.WriteString(`svg.chart{display:block;width:100%;max-width:36rem;height:auto;break-inside:avoid}
svg.cloud{position:absolute}
svg.spark{width:6em;height:1.25em;vertical-align:-.25em}
svg.chart,svg.spark{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
@media screen and (prefers-color-scheme:dark){
`)
	for _, k := range slices.Concat([]ink{pageInk, textInk, noteInk, gridInk, axisInk}, groupInks[:], bandInks[:]) {
		fmt.Fprintf(&b, "svg .%s{fill:%s}svg .%s-s{stroke:%s}\n", k.class, k.dark, k.class, k.dark)
	}
	b.WriteString("}\n")
	return b.String()
}
