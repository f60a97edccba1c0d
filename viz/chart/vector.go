package chart

import "fmt"

// Vector is an arrow from one place of a [Scatter] to another, drawn to scale. Vectors of one kind
// share Name and Group and have one entry in the legend.
type Vector struct {
	Name     string
	Group    int // from 0; selects colour and dash
	From, To [2]float64
}

// drawable reports whether the vector has finite ends.
func (v Vector) drawable() bool {
	for _, x := range [...]float64{v.From[0], v.From[1], v.To[0], v.To[1]} {
		if !drawable(x, false) {
			return false
		}
	}
	return true
}

// drawVectors draws the vectors in order. Those shorter than a pixel are left out.
func (s Scatter) drawVectors(c *canvas, p plane) {
	for _, v := range s.Vectors {
		from, to := point{p.x.at(v.From[0]), p.y.at(v.From[1])}, point{p.x.at(v.To[0]), p.y.at(v.To[1])}
		if dx, dy := to.x-from.x, to.y-from.y; !v.drawable() || dx*dx+dy*dy < 1 {
			continue
		}
		head, line := arrowHead(from, to, 7), path([]point{from, to})
		c.printf("<g fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"><title>%v</title>", v.sentence())
		c.printf(`<path d="%v%v"%v stroke-width="4.5" stroke-opacity=".8"/>`, line, head, pageInk.stroke())
		c.printf(`<path d="%v"%v stroke-width="2"%v/>`, line, groupInk(v.Group).stroke(), dash(v.Group))
		c.printf(`<path d="%v"%v stroke-width="2"/>`+"</g>\n", head, groupInk(v.Group).stroke())
	}
}

// sentence describes a vector in figures.
func (v Vector) sentence() string {
	if !v.drawable() {
		return v.Name + ": no finite data."
	}
	return fmt.Sprintf("%s: from (%s, %s) by (%s, %s).", v.Name, Format(v.From[0]), Format(v.From[1]), Format(v.To[0]-v.From[0]), Format(v.To[1]-v.From[1]))
}
