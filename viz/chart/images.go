package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Images draws small images in rows, enlarged so that each pixel is visible: handwritten digits,
// the filters of a convolution, an autoencoder's reconstructions. Positive values are drawn in
// ink and negative ones in a colour, the stronger the larger. A value that is not finite is
// crossed out. The height of the chart follows from the images.
type Images struct {
	Frame
	Rows []ImageRow
	// Pixel is the side of an image's pixel in pixels of the chart; 0 means 6.
	Pixel float64
}

// ImageRow has images side by side, on several lines if they are many.
type ImageRow struct {
	Name   string // before the images; "" for none
	Images []Image
}

// Image has values over a rectangle.
type Image struct {
	Caption string    // below the image; "" for none
	Columns int       // pixels from left to right
	Values  []float64 // row after row
	Full    float64   // the magnitude of full ink; 0 means the largest in the image
	Pixel   float64   // replaces Images.Pixel, so that a coarse image can be as large as a fine one; 0 does not
}

// Sizes of images, in pixels.
const (
	imageGap     = 8.0
	captionGap   = 14.0 // from an image to the baseline of its caption
	captionFoot  = 4.0  // below that
	defaultPixel = 6.0
)

// SVG writes the chart as one element. It is an error if values do not fill a rectangle, a
// magnitude of full ink is negative, or an image is wider than the chart.
func (m Images) SVG(w io.Writer) error {
	if err := m.check(); err != nil {
		return err
	}
	if !slices.ContainsFunc(m.Rows, func(r ImageRow) bool { return len(r.Images) > 0 }) {
		return m.blank(w, m.bodyTop()+80)
	}
	left, pitch := m.columns()
	var body canvas
	y := m.bodyTop() + 6
	for _, r := range m.Rows {
		if r.Name != "" && len(r.Images) > 0 {
			mid := y + float64(m.pixel(r.Images[0])*r.Images[0].rows()/2) + 4
			body.text(point{margin, mid}, start, labelFont, fitted(r.Name, labelFont.size, left-margin-labelGap))
		}
		for line := range slices.Chunk(r.Images, m.perLine(left, pitch)) {
			height := 0.0
			for i, one := range line {
				corner := point{left + float64(pitch*float64(i)), y}
				m.draw(&body, one, corner, pitch)
				height = max(height, m.height(one))
			}
			y += height + imageGap
		}
	}
	c := m.open(y-imageGap+margin, m.figures())
	c.printf("%v", raw(body.String()))
	return c.close(w)
}

// columns returns where the images begin, and the distance from one to the next. All rows have
// the same, so that related images are aligned.
func (m Images) columns() (left, pitch float64) {
	left = margin
	for _, r := range m.Rows {
		if r.Name != "" {
			left = max(left, margin+labelGap+min(textWidth(r.Name, labelFont.size), .3*(m.width()-2*margin)))
		}
		for _, one := range r.Images {
			pitch = max(pitch, m.pixel(one)*float64(one.Columns), textWidth(one.Caption, noteFont.size))
		}
	}
	room := m.width() - margin - left
	return left, min(pitch, room) + imageGap
}

// perLine returns the number of images on a line.
func (m Images) perLine(left, pitch float64) int {
	return max(1, int((m.width()-margin-left+imageGap)/pitch))
}

// pixel returns the side of a pixel of an image.
func (m Images) pixel(one Image) float64 {
	return orDefault(one.Pixel, orDefault(m.Pixel, defaultPixel))
}

// height returns the height of an image with its caption.
func (m Images) height(one Image) float64 {
	h := m.pixel(one) * one.rows()
	if one.Caption != "" {
		h += captionGap + captionFoot
	}
	return h
}

// draw draws an image with its corner at p.
func (m Images) draw(c *canvas, one Image, p point, pitch float64) {
	size := m.pixel(one)
	width, height := size*float64(one.Columns), size*one.rows()
	shaded, crosses := one.shaded(p, size)
	c.printf(`<g shape-rendering="crispEdges">`)
	for shade := -shades; shade <= shades; shade++ {
		d := shaded[shades+shade]
		if d == "" {
			continue
		}
		ink, strength := textInk, shade
		if shade < 0 {
			ink, strength = groupInks[1], -shade
		}
		c.printf(`<path d="%v"%v fill-opacity="%v"/>`, d, ink.fill(), raw(fmt.Sprintf("%.3g", float64(strength)/shades)))
	}
	c.printf("</g>\n")
	if crosses != "" {
		c.printf(`<path d="%v" fill="none"%v stroke-width=".7"/>`+"\n", crosses, groupInks[0].stroke())
	}
	c.printf(`<rect x="%v" y="%v" width="%v" height="%v" fill="none"%v stroke-width=".8"/>`+"\n", p.x, p.y, width, height, axisInk.stroke())
	if one.Caption != "" {
		c.text(point{p.x, p.y + height + captionGap}, start, noteFont, fitted(one.Caption, noteFont.size, pitch-imageGap))
	}
}

func (i Image) rows() float64 { return float64(len(i.Values) / i.Columns) }

// shades is the number of strengths of ink.
const shades = 16

// shade returns the strength of ink of a value, from −shades to shades; ok is false if the value
// is not finite.
func (i Image) shade(v, full float64) (shade int, ok bool) {
	if !drawable(v, false) {
		return 0, false
	}
	return int(math.Round(shades * max(-1, min(1, v/full)))), true
}

// full returns the magnitude of full ink.
func (i Image) full() float64 {
	if i.Full > 0 {
		return i.Full
	}
	most := 0.0
	for _, v := range i.Values {
		if drawable(v, false) {
			most = max(most, math.Abs(v))
		}
	}
	return orDefault(most, 1)
}

// shaded returns, for an image with its corner at p, the area of each strength of ink, by shades
// plus the strength, and crosses over values that are not finite. Equal neighbours in a row are
// one rectangle.
func (i Image) shaded(p point, size float64) (areas [2*shades + 1]raw, crosses raw) {
	full := i.full()
	for at := 0; at < len(i.Values); at += i.Columns {
		row := i.Values[at : at+i.Columns]
		top := p.y + float64(size*float64(at/i.Columns))
		for from, to := 0, 0; from < len(row); from = to {
			shade, ok := i.shade(row[from], full)
			for to = from + 1; to < len(row); to++ {
				if next, known := i.shade(row[to], full); next != shade || known != ok {
					break
				}
			}
			x0, x1 := p.x+float64(size*float64(from)), p.x+float64(size*float64(to))
			switch {
			case !ok:
				for x := from; x < to; x++ {
					x0, x1 := p.x+float64(size*float64(x)), p.x+float64(size*float64(x+1))
					crosses += path([]point{{x0, top}, {x1, top + size}}, []point{{x0, top + size}, {x1, top}})
				}
			case shade != 0:
				areas[shades+shade] += rectangle(x0, top, x1, top+size)
			}
		}
	}
	return areas, crosses
}

// rectangle returns the data of a closed path, which takes fewer bytes than an element.
func rectangle(x0, y0, x1, y1 float64) raw {
	var c canvas
	c.printf("M%v %vH%vV%vH%vZ", x0, y0, x1, y1, x0)
	return raw(c.String())
}

func (m Images) check() error {
	if err := m.Frame.check(); err != nil {
		return err
	}
	for i, r := range m.Rows {
		for j, one := range r.Images {
			switch {
			case one.Columns < 1 || len(one.Values) == 0 || len(one.Values)%one.Columns != 0:
				return m.errorf("row %d %q, image %d: %d values for %d columns", i, r.Name, j, len(one.Values), one.Columns)
			case !(one.Full >= 0 && one.Full <= finiteMax):
				return m.errorf("row %d %q, image %d: full ink at %v", i, r.Name, j, one.Full)
			}
		}
	}
	left, _ := m.columns()
	room := m.width() - margin - left
	for i, r := range m.Rows {
		for j, one := range r.Images {
			if size := m.pixel(one); !(size >= 1 && size*float64(one.Columns) <= room && size*one.rows() <= 4000) {
				return m.errorf("row %d %q, image %d: %d×%v pixels of %v do not fit", i, r.Name, j, one.Columns, one.rows(), size)
			}
		}
	}
	return nil
}

// figures describes the chart to readers who cannot see it.
func (m Images) figures() string {
	said := []string{"Small images."}
	for _, r := range m.Rows {
		line := count(len(r.Images), "image")
		if r.Name != "" {
			line = r.Name + ": " + line
		}
		var captions []string
		for _, one := range r.Images {
			if one.Caption != "" {
				captions = append(captions, one.Caption)
			}
		}
		if len(captions) > 0 {
			line += ": " + strings.Join(captions, "; ")
		}
		said = append(said, line+".")
	}
	return strings.Join(said, " ")
}
