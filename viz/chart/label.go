package chart

import (
	"cmp"
	"math"
	"slices"
)

// lineName is the name of a line, with the place of its label.
type lineName struct {
	name string
	ink  ink
	x, y float64 // of the line's end, in the axes' units
	key  key     // for the legend
}

// labelGap is the space between a plot and the labels beside it.
const labelGap = 10

// labelColumn returns the width that names take beside a plot.
func labelColumn(names []lineName) float64 {
	if len(names) == 0 {
		return 0
	}
	var w float64
	for _, n := range names {
		w = max(w, textWidth(n.name, labelFont.size*boldness))
	}
	return w + labelGap
}

// roomBeside reports whether a chart of the given inner width and body has room for a column of
// names and a plot beside it.
func roomBeside(names []lineName, column, inner, body float64) bool {
	const axes = 4 * lineHeight // above and below the plot
	return column < .36*inner && inner-column > 220 && float64(len(names))*lineHeight < body-axes-margin
}

// drawEndLabels writes names in a column beside the plot, each as near to its line's end as the
// others allow. Where the two are apart, a thin lead connects them.
func drawEndLabels(c *canvas, p plane, names []lineName) {
	slices.SortStableFunc(names, func(a, b lineName) int { return cmp.Compare(b.y, a.y) })
	ideal := make([]float64, len(names))
	for i, n := range names {
		ideal[i] = p.y.at(n.y)
	}
	x := p.right + labelGap
	for i, y := range apart(ideal, lineHeight, p.top, p.bottom) {
		n := names[i]
		tip := point{p.x.at(n.x) + 5, ideal[i]}
		if tip.x < p.right || math.Abs(y-tip.y) > 5 {
			c.line(tip, point{x - 2, y}, n.ink.stroke()+` stroke-width=".8" stroke-opacity=".7"`)
		}
		f := labelFont
		f.ink, f.weight = n.ink, 600
		c.text(point{x, y + 4}, start, f, n.name)
	}
}

// apart moves ascending positions so that neighbours are at least gap apart and all lie within
// [low, high], minimising the sum of squared moves. If [low, high] is too short, positions run
// past its end.
func apart(ideal []float64, gap, low, high float64) []float64 {
	// After gap·i is subtracted, the result must be an ascending sequence: pool neighbours that are
	// out of order at their mean until none are (isotonic regression).
	type pool struct {
		sum float64
		n   int
	}
	var pools []pool
	mean := func(p pool) float64 { return p.sum / float64(p.n) }
	for i, y := range ideal {
		p := pool{y - gap*float64(i), 1}
		for len(pools) > 0 && mean(pools[len(pools)-1]) >= mean(p) {
			last := pools[len(pools)-1]
			p = pool{last.sum + p.sum, last.n + p.n}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	high -= gap * float64(len(ideal)-1)
	moved := make([]float64, 0, len(ideal))
	for _, p := range pools {
		y := max(low, min(high, mean(p)))
		for range p.n {
			moved = append(moved, y+gap*float64(len(moved)))
		}
	}
	return moved
}

// box is the space that a text takes.
type box struct{ left, top, right, bottom float64 }

func (b box) overlaps(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

func (b box) within(o box) bool {
	return b.left >= o.left && b.right <= o.right && b.top >= o.top && b.bottom <= o.bottom
}

// textBox returns the space of a text with its baseline at p.
func textBox(p point, a anchor, size float64, s string) box {
	w := textWidth(s, size)
	switch a {
	case middle:
		p.x -= w / 2
	case end:
		p.x -= w
	}
	return box{p.x, p.y - float64(.8*size), p.x + w, p.y + float64(.25*size)}
}

// drawNoteAt writes a text next to p, in the first of the corners around it that is within the
// plot and free of the texts in taken, and returns the boxes of all texts. If no corner is free,
// the text is left out.
func drawNoteAt(c *canvas, p point, s string, plot box, taken []box) []box {
	f := labelFont
	f.ringed = true
	for _, corner := range []struct {
		dx, dy float64
		anchor anchor
	}{{8, -6, start}, {-8, -6, end}, {8, 15, start}, {-8, 15, end}, {0, -10, middle}, {0, 20, middle}} {
		q := point{p.x + corner.dx, p.y + corner.dy}
		b := textBox(q, corner.anchor, f.size, s)
		if b.within(plot) && !slices.ContainsFunc(taken, b.overlaps) {
			c.text(q, corner.anchor, f, s)
			return append(taken, b)
		}
	}
	return taken
}
