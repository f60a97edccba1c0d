package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// point is a place on the canvas, in pixels of the viewBox.
type point struct{ x, y float64 }

// canvas collects the text of one SVG element.
type canvas struct{ strings.Builder }

// printf writes as fmt.Fprintf does, but prepares two kinds of argument for SVG: a float64 is
// rounded to a tenth of a pixel, and a string is escaped. Finished markup is passed as raw.
func (c *canvas) printf(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case float64:
			args[i] = number(a)
		case string:
			args[i] = escape(a)
		}
	}
	fmt.Fprintf(c, format, args...)
}

// raw is markup, written as it is.
type raw string

// number writes v with at most one decimal.
func number(v float64) raw {
	// Adding zero turns -0 into 0.
	return raw(strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64))
}

// escape makes s safe in text and attributes; characters that XML forbids
// become U+FFFD.
func escape(s string) raw {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return raw(b.String())
}

// anchor says which end of a text lies at its x.
type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// font is a manner of writing.
type font struct {
	size   float64
	weight int
	ink    ink
	ringed bool // legible on top of lines
}

// text writes one line of text with its baseline at p.
func (c *canvas) text(p point, a anchor, f font, s string) {
	paint := f.ink.fill()
	if f.ringed {
		paint = f.ink.ringed(3)
	}
	c.printf(`<text x="%v" y="%v"%v font-size="%v"`, p.x, p.y, paint, f.size)
	if a != start {
		c.printf(` text-anchor="%v"`, a)
	}
	if f.weight != 0 {
		c.printf(` font-weight="%v"`, f.weight)
	}
	c.printf(">%v</text>\n", s)
}

// line draws a straight line with the given attributes.
func (c *canvas) line(p, q point, attrs raw) {
	c.printf(`<path d="M%v %vL%v %v"%v/>`+"\n", p.x, p.y, q.x, q.y, attrs)
}

// path returns the data of a path through each segment. A segment of one point becomes a line of
// length 0, which a round cap shows as a dot.
func path(segments ...[]point) raw {
	var c canvas
	for _, s := range segments {
		for i, p := range s {
			switch i {
			case 0:
				c.printf("M%v %v", p.x, p.y)
			case 1:
				c.printf("L%v %v", p.x, p.y)
			default:
				c.printf(" %v %v", p.x, p.y)
			}
		}
		if len(s) == 1 {
			c.printf("L%v %v", s[0].x, s[0].y)
		}
	}
	return raw(c.String())
}
