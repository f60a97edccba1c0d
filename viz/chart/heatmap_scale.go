package chart

import "math"

// bandInks has the colours of values from low to high, each further from the page's colour than
// the one before. They differ in lightness alone, so that greyscale and colour-blind readers see
// the same order.
var bandInks = [...]ink{
	{"ch-b0", "#FFFFF6", "#17222B"},
	{"ch-b1", "#EEF7CD", "#1A2E3C"},
	{"ch-b2", "#DBF0C1", "#1C3A4C"},
	{"ch-b3", "#C3E6BE", "#1F475D"},
	{"ch-b4", "#A1D8BF", "#21556B"},
	{"ch-b5", "#7DC7C2", "#276477"},
	{"ch-b6", "#5DB3C2", "#337582"},
	{"ch-b7", "#449CBE", "#45868B"},
	{"ch-b8", "#3983B3", "#619995"},
	{"ch-b9", "#326AA3", "#82ADA0"},
	{"ch-b10", "#2D508F", "#A8C3AE"},
	{"ch-b11", "#283675", "#D3DBBD"},
}

// scale has the bands of colour that values fall into.
type scale struct {
	levels []tick // between the bands, ascending
}

// newScale divides a span into bands, at most as many as there are colours.
func newScale(s span, log bool) scale {
	s = s.opened(log)
	var all []tick
	if log {
		all = fineLevels(s)
	} else {
		all = linearTicks(s.lo, s.hi, len(bandInks))
	}
	var inside []tick
	for _, t := range all {
		if t.value > s.lo && t.value < s.hi {
			inside = append(inside, t)
		}
	}
	return scale{inside}
}

// fineLevels returns round numbers within a span, evenly spaced on a logarithmic scale: the
// densest series that needs no more colours than there are.
func fineLevels(s span) []tick {
	var last []tick
	for _, mantissas := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.4, 1.7, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8}} {
		var ticks []tick
		for e := int(math.Floor(math.Log10(s.lo))) - 1; e <= int(math.Ceil(math.Log10(s.hi))); e++ {
			for _, m := range mantissas {
				if v := scaled(m*10, e-1); v > s.lo && v < s.hi {
					ticks = append(ticks, tick{v, Format(v)})
				}
			}
		}
		if len(ticks) >= len(bandInks) {
			if last == nil { // too many powers of ten: keep some of them
				stride := (len(ticks) + len(bandInks) - 2) / (len(bandInks) - 1)
				for i := 0; i < len(ticks); i += stride {
					last = append(last, ticks[i])
				}
			}
			break
		}
		last = ticks
	}
	if len(last) < 3 {
		return linearTicks(s.lo, s.hi, len(bandInks))
	}
	return last
}

// ink returns the colour of a band. The bands together use the whole range of colours.
func (s scale) ink(band int) ink {
	if len(s.levels) == 0 {
		return bandInks[0]
	}
	return bandInks[band*(len(bandInks)-1)/len(s.levels)]
}

// lineInk returns a colour that stands out from both bands beside a level.
func (s scale) lineInk(level int) ink {
	if 2*level < len(s.levels) {
		return textInk
	}
	return pageInk
}

// Sizes of the bar that explains the colours, in pixels.
const (
	barGap   = 14 // between plot and bar
	barWidth = 14
	barLabel = 6 // between bar and labels
)

// width returns the width of the bar with its labels and the gap.
func (s scale) width(name string) float64 {
	w := min(72, textWidth(name, noteFont.size)-barWidth-barLabel)
	for _, t := range s.levels {
		w = max(w, textWidth(t.label, noteFont.size))
	}
	return barGap + barWidth + barLabel + w
}

// bar draws the bands beside the plot, the lowest at the bottom.
func (s scale) bar(c *canvas, p plane, name string, column float64) {
	x, n := p.right+barGap, float64(len(s.levels)+1)
	step := (p.bottom - p.top) / n
	for band := range len(s.levels) + 1 {
		y := p.bottom - step*float64(band+1)
		c.printf(`<rect x="%v" y="%v" width="%v" height="%v"%v/>`+"\n", x, y, float64(barWidth), step, s.ink(band).both(axisInk, `stroke-width=".6"`))
	}
	every := int(math.Ceil(lineHeight / step))
	for i, t := range s.levels {
		if i%every == 0 {
			c.text(point{x + barWidth + barLabel, p.bottom - step*float64(i+1) + 4}, start, noteFont, t.label)
		}
	}
	if name != "" {
		c.text(point{x, p.top - 10}, start, noteFont, fitted(name, noteFont.size, column-barGap))
	}
}
