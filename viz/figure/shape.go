package figure

import (
	"math"
	"strings"
)

// Proportions of the shapes, in pixels.
const (
	funnel  = 13.0 // by how much a reduction narrows on each side
	waist   = 9.0  // by how much an operation along an axis narrows in the middle
	bar     = 5.0  // from a side of a box that moves elements to the line inside
	hexagon = 11.0 // from the side corners of a gradient to its flat top
	slant   = 10.0 // of an update
	corner  = 9.0  // cut off a constant
	octagon = 13.0 // cut off each corner of a hyperparameter
)

// inset returns how far the border of a shape is inside its rectangle, on the right (dir 1) or
// left, dy below the middle. The shape has the given height.
func inset(r Role, height, dir, dy float64) float64 {
	half := height / 2
	switch r {
	case Input:
		return half - math.Sqrt(max(0, float64(half*half)-float64(dy*dy)))
	case Hyper:
		return max(0, math.Abs(dy)-half+octagon)
	case Reduce:
		return funnel * (dy + half) / height
	case Along:
		return waist * (1 - math.Abs(dy)/half)
	case Gradient:
		return hexagon * math.Abs(dy) / half
	case Update:
		return slant * (half + dir*dy) / height
	}
	return 0
}

// shape returns the elements of the outline of role r in the outer rectangle
// box, with attributes for the filled outline and for further lines.
func shape(r Role, box Rect, attrs, lines string) string {
	out := ringOf(r)
	box = grow(box, -out)
	x0, y0, x1, y1 := box.X, box.Y, box.X+box.W, box.Y+box.H
	switch r {
	case Input:
		return rectangle(box, box.H/2, attrs)
	case Hyper:
		in := min(octagon, box.H/2-2)
		return polygon(attrs, x0+in, y0, x1-in, y0, x1, y0+in, x1, y1-in, x1-in, y1, x0+in, y1, x0, y1-in, x0, y0+in)
	case Param:
		return rectangle(box, 2, attrs) + rectangle(grow(box, -innerLine(box)), 0, lines)
	case State:
		return rectangle(box, 2, attrs) + rectangle(grow(box, -innerLine(box)), 0, lines+` stroke-dasharray="3 2"`)
	case Const:
		return polygon(attrs, x0, y0, x1-corner, y0, x1, y0+corner, x1, y1, x0, y1)
	case Reduce:
		in := min(funnel, box.W/4)
		return polygon(attrs, x0, y0, x1, y0, x1-in, y1, x0+in, y1)
	case Along:
		in, mid := min(waist, box.W/4), (y0+y1)/2
		return polygon(attrs, x0, y0, x1, y0, x1-in, mid, x1, y1, x0, y1, x0+in, mid)
	case Move:
		in := min(bar, box.W/4)
		return rectangle(box, 2, attrs) + rectangle(Rect{box.X + in, box.Y, box.W - 2*in, box.H}, 0, lines)
	case Gradient:
		in, mid := min(hexagon, box.W/4), (y0+y1)/2
		return polygon(attrs+gradientDash, x0+in, y0, x1-in, y0, x1, mid, x1-in, y1, x0+in, y1, x0, mid)
	case Update:
		in := min(slant, box.W/4)
		return polygon(attrs, x0+in, y0, x1, y0, x1-in, y1, x0, y1)
	case Loss:
		return rectangle(box, 6, attrs) + rectangle(grow(box, out), 9, lines)
	case Output:
		return rectangle(box, 6, attrs) + rectangle(grow(box, out), 9, lines+` stroke-dasharray="2 3"`)
	}
	return rectangle(box, 6, attrs)
}

// innerLine returns the distance from a parameter's border to its inner line.
func innerLine(box Rect) float64 {
	if 28 < box.H && box.H < 40 { // in a dense drawing its text is near the border
		return 2.5
	}
	return 3.5
}

const gradientDash = ` stroke-dasharray="6 3"`

func grow(r Rect, by float64) Rect { return Rect{r.X - by, r.Y - by, r.W + 2*by, r.H + 2*by} }

func rectangle(r Rect, radius float64, attrs string) string {
	s := `<rect x="` + num(r.X) + `" y="` + num(r.Y) + `" width="` + num(r.W) + `" height="` + num(r.H) + `"`
	if radius > 0 {
		s += ` rx="` + num(radius) + `"`
	}
	return s + attrs + "/>"
}

func polygon(attrs string, xy ...float64) string {
	var b strings.Builder
	b.WriteString(`<polygon points="`)
	for i, v := range xy {
		if i > 0 {
			b.WriteByte(" ,"[i%2])
		}
		b.WriteString(num(v))
	}
	b.WriteString(`" stroke-linejoin="round"` + attrs + "/>")
	return b.String()
}
