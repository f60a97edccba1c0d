package figure

import (
	"math"
	"strings"
)

// HeatSteps is the number of fills from pale to strong.
const HeatSteps = 7

// Groups is the number of fills of categories.
const Groups = 6

// darkSteps is the number of steps that have dark text on them, in a light drawing.
const darkSteps = 4

// An Alarm says that something is wrong with a node, or that it was checked and is right. Of two
// alarms the greater is the worse.
type Alarm uint8

// The alarms. Each has a sign at the top left of the node, so that colour is never the only
// indication.
const (
	NoAlarm   Alarm = iota
	Checked         // checked and right: a tick
	Lossy           // loses the most digits among nodes that affect a result: a wave
	Wrong           // checked and wrong: a thick border and a cross
	NotFinite       // NaN or infinite: a thick border, hatched sides and an exclamation mark
	First           // the first node that is not finite: the same with ①
	alarms    = iota
)

var alarmNames = [alarms]string{"none", "checked", "lossy", "wrong", "not finite", "first"}

// String returns a short lower-case name.
func (a Alarm) String() string { return nameOf(alarmNames[:], int(a)) }

// wrong reports whether a is a fault.
func (a Alarm) wrong() bool { return a >= Wrong }

var alarmTitles = [alarms]string{
	"", "checked and right", "loses the most digits that reach a result", "checked and wrong", "not finite", "the first that is not finite",
}

// alarmSigns has the lines of the sign of each alarm, around 0,0.
var alarmSigns = [alarms]string{
	"", "M-4,0.4L-1.2,3.4L4,-3", "M-4.6,1C-3,-3.4 -1.4,-3.4 0,0S3,3.4 4.6,-1", "M-3.2,-3.2L3.2,3.2M-3.2,3.2L3.2,-3.2", "M0,-4.6V1M0,3.2V4.8", "M-2.2,-2L0.6,-4.4V4.6M-2,4.4H3.2",
}

// alarmMarks are the signs in DOT.
var alarmMarks = [alarms]string{"", "✓", "∼", "✗", "!", "①"}

// badgeLimit is the largest number of characters of a badge.
const badgeLimit = 12

// alarm draws the sign of an alarm.
func (d *drawing) alarm(at Point, a Alarm) {
	disc := checkedLine
	switch {
	case a.wrong():
		disc = alarmLine
	case a == Lossy:
		disc = lossyLine
	}
	d.sign(at, disc, alarmSigns[a])
}

// hatch draws slanted lines along the left and right side of a node, within its outline and
// beside its text. (A pattern fill would need a link to its definition.)
func (d *drawing) hatch(r Role, box Rect) {
	const step, size, wide = 6.5, 8.0, 6.0
	box = grow(box, -ringOf(r))
	tall := box.H
	box = grow(box, -2)
	mid := box.Centre().Y
	var b strings.Builder
	stroke := func(x0, y0, x1, y1 float64) {
		b.WriteString("M" + xy(Point{x0, y0}) + "L" + xy(Point{x1, y1}))
	}
	for low := mid - box.H/2 + size; low <= mid+box.H/2; low += step {
		high := low - size
		stroke(box.X+inset(r, tall, -1, low-mid), low, box.X+inset(r, tall, -1, high-mid)+wide, high)
		stroke(box.X+box.W-inset(r, tall, 1, low-mid)-wide, low, box.X+box.W-inset(r, tall, 1, high-mid), high)
	}
	d.put(`<path d="`, b.String(), `"`, d.easel.attrs(none, alarmLine, "hatch"), ` stroke-width="1.6"/>`)
}

// swatch is the width of a colour in the legend.
const swatch = 17.0

// present says which marks of an overlay occur, for the legend.
type present struct {
	heat, group, bare bool // bare: a node with neither
	alarm             [alarms]bool
}

// overlayItems explains heat, groups, nodes with neither, and the alarms that occur.
func (d *drawing) overlayItems(here present) (items []legendItem) {
	said := wrap(d.figure.Heat, legendSize, d.width-2*border-HeatSteps*swatch-40, 4)
	swatches := func(text string, fills []paint) {
		items = append(items, legendItem{width: float64(len(fills)) * swatch, text: text, draw: func(x, y float64) {
			for k, fill := range fills {
				d.put(rectangle(Rect{x + swatch*float64(k), y - 8, swatch, 16}, 0, d.easel.attrs(fill, rule)))
			}
		}})
	}
	told := func(otherwise string) string {
		if len(said) == 0 {
			return otherwise
		}
		first := said[0]
		said = said[1:]
		return first
	}
	if here.heat {
		var fills []paint
		for k := range HeatSteps {
			fill, _ := heatOf(k + 1)
			fills = append(fills, fill)
		}
		swatches(told("heat, from the least to the most"), fills)
	}
	if here.group {
		var fills []paint
		for k := range Groups {
			fills = append(fills, groupOf(k+1))
		}
		swatches(told("groups, in no order"), fills)
	}
	for _, more := range said {
		items = append(items, legendItem{width: HeatSteps * swatch, text: more, below: true, draw: func(x, y float64) {}})
	}
	switch {
	case here.bare && here.heat:
		swatches("without colour: zero, or nothing measured", []paint{page})
	case here.bare && here.group:
		swatches("without colour: none, or several", []paint{page})
	}
	for a, ok := range here.alarm {
		if ok && Alarm(a) != NoAlarm {
			items = append(items, legendItem{width: 16, text: alarmTitles[a], draw: func(x, y float64) { d.alarm(Point{x + 8, y}, Alarm(a)) }})
		}
	}
	return items
}

// overlay sets the attributes that heat, alarm and badge change.
func (d *dotGraph) overlay(n *Node, attrs map[string]string) {
	if fill, text, ok := n.overlaid(); ok {
		attrs["fillcolor"], attrs["fontcolor"] = quote(d.easel.value(fill)), quote(d.easel.value(text))
	}
	if n.Alarm.wrong() {
		attrs["color"], attrs["penwidth"] = quote(d.easel.value(alarmLine)), "3"
	}
	if mark := strings.TrimSpace(alarmMarks[n.Alarm] + " " + line(n.Badge, badgeLimit)); mark != "" {
		attrs["xlabel"] = quote(mark)
	}
}

// badgeWidth returns the width of the background of a badge.
func badgeWidth(badge string) float64 { return math.Ceil(TextWidth(badge, labelSize)) + 8 }
