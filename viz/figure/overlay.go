package figure

import (
	"math"
	"strings"
)

// HeatSteps is the number of fills from pale to strong.
const HeatSteps = 7

// darkSteps is the number of steps that bear dark text, in a light drawing.
const darkSteps = 4

// An Alarm says that something is wrong with a node, or was checked and is not. Of
// two the greater is the worse.
type Alarm uint8

// The alarms. Each has a sign at the top left of the node, so that colour is never
// the only source.
const (
	NoAlarm   Alarm = iota
	Checked         // checked and right: a tick
	Wrong           // checked and wrong: a thick border and a cross
	NotFinite       // NaN or infinite: a thick border, hatched sides and an exclamation mark
	First           // the first node that is not finite, or the cause of what is wrong: the same with ①
	alarms    = iota
)

var alarmNames = [alarms]string{"none", "checked", "wrong", "not finite", "first"}

// String returns a short lower-case name.
func (a Alarm) String() string { return nameOf(alarmNames[:], int(a)) }

// wrong reports whether a tells of a fault.
func (a Alarm) wrong() bool { return a >= Wrong }

var alarmTitles = [alarms]string{
	"", "checked and right", "checked and wrong", "not finite", "the first that is not finite, or the cause of what is wrong",
}

// alarmSigns holds the lines of the sign of each alarm, around 0,0.
var alarmSigns = [alarms]string{
	"", "M-4,0.4L-1.2,3.4L4,-3", "M-3.2,-3.2L3.2,3.2M-3.2,3.2L3.2,-3.2", "M0,-4.6V1M0,3.2V4.8", "M-2.2,-2L0.6,-4.4V4.6M-2,4.4H3.2",
}

// alarmMarks are the signs in DOT.
var alarmMarks = [alarms]string{"", "✓", "✗", "!", "①"}

// badgeLimit is the number of characters of a badge.
const badgeLimit = 12

// alarm draws the sign of an alarm.
func (d *drawing) alarm(at Point, a Alarm) {
	disc := checkedLine
	if a.wrong() {
		disc = alarmLine
	}
	d.sign(at, disc, alarmSigns[a])
}

// hatch draws slanted lines along the left and right side of a node, within its
// outline and beside its text. (A pattern fill would need a link to its definition.)
func (d *drawing) hatch(r Role, box Rect) {
	const step, size, wide = 6.5, 8.0, 6.0
	box = grow(box, -ringOf(r)-2)
	mid := box.Centre().Y
	var b strings.Builder
	stroke := func(x0, y0, x1, y1 float64) {
		b.WriteString("M" + xy(Point{x0, y0}) + "L" + xy(Point{x1, y1}))
	}
	for low := mid - box.H/2 + size; low <= mid+box.H/2; low += step {
		high := low - size
		stroke(box.X+inset(r, -1, low-mid), low, box.X+inset(r, -1, high-mid)+wide, high)
		stroke(box.X+box.W-inset(r, 1, low-mid)-wide, low, box.X+box.W-inset(r, 1, high-mid), high)
	}
	d.put(`<path d="`, b.String(), `"`, d.easel.attrs(none, alarmLine, "hatch"), ` stroke-width="1.6"/>`)
}

// overlayItems explains heat and the alarms that are present.
func (d *drawing) overlayItems(heat bool, present [alarms]bool) (items []legendItem) {
	if heat {
		text := line(d.figure.Heat, 90)
		if text == "" {
			text = "heat, from the least to the most"
		}
		const wide = 17.0
		items = append(items, legendItem{HeatSteps * wide, text, func(x, y float64) {
			for k := range HeatSteps {
				fill, _ := heatOf(k + 1)
				d.put(rectangle(Rect{x + wide*float64(k), y - 8, wide, 16}, 0, d.easel.attrs(fill, rule)))
			}
		}})
	}
	for a, ok := range present {
		if ok && Alarm(a) != NoAlarm {
			items = append(items, legendItem{16, alarmTitles[a], func(x, y float64) { d.alarm(Point{x + 8, y}, Alarm(a)) }})
		}
	}
	return items
}

// overlay sets what heat, alarm and badge change of a node.
func (d *dotGraph) overlay(n *Node, attrs map[string]string) {
	if n.Heat > 0 {
		fill, text := heatOf(n.Heat)
		attrs["fillcolor"], attrs["fontcolor"] = quote(d.easel.value(fill)), quote(d.easel.value(text))
	}
	if n.Alarm.wrong() {
		attrs["color"], attrs["penwidth"] = quote(d.easel.value(alarmLine)), "3"
	}
	if mark := strings.TrimSpace(alarmMarks[n.Alarm] + " " + line(n.Badge, badgeLimit)); mark != "" {
		attrs["xlabel"] = quote(mark)
	}
}

// badgeWidth is the width of the plate of a badge.
func badgeWidth(badge string) float64 { return math.Ceil(TextWidth(badge, labelSize)) + 8 }
