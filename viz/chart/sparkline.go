package chart

import (
	"fmt"
	"io"
)

// Sparkline draws a line of the size of a word, for tables and running text (Tufte, Beautiful
// Evidence, 2006).
type Sparkline struct {
	Name  string    // for screen readers and as a tooltip
	X     []float64 // positions of the values; nil for 0, 1, 2…
	Y     []float64
	Log   bool // a logarithmic axis
	Group int  // from 0; selects the colour
}

// SVG writes the sparkline as one element, with a dot at the last value. It needs no ID. It is an
// error if the slices have different lengths or the group is negative.
func (s Sparkline) SVG(w io.Writer) error {
	if s.Group < 0 {
		return fmt.Errorf("sparkline %q: the group %d is negative", s.Name, s.Group)
	}
	if s.X != nil && len(s.X) != len(s.Y) {
		return fmt.Errorf("sparkline %q: %d values of x for %d of y", s.Name, len(s.X), len(s.Y))
	}
	const width, height, room = 96, 20, 3
	series := Series{Name: s.Name, X: s.X, Y: s.Y, Group: s.Group}
	lines := Lines{LogY: s.Log, Series: []Series{series}}
	data := lines.measure()

	c := new(canvas)
	c.printf(`<svg class="spark" role="img" aria-label="%[1]v" width="%[2]v" height="%[3]v" viewBox="0 0 %[2]v %[3]v"><title>%[1]v</title>`,
		lines.sentence(series), width, height)
	if !data.x.empty() {
		x := axis{span: data.x.opened(false)}.between(room, width-room)
		y := axis{span: data.y.opened(s.Log), log: s.Log}.between(height-room, room)
		line := newCurve(len(s.Y), series.point, x, y)
		c.printf(`<path d="%v" fill="none"%v stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/>`,
			line.path(), groupInk(s.Group).stroke())
		_, last := line.ends()
		c.printf(`<path d="%v"%v/>`, shape(0, last, 2.5), groupInk(s.Group).fill())
	}
	return c.close(w)
}
