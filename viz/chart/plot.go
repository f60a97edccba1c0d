package chart

import "math"

// Scale maps the values of an axis to coordinates of the chart's viewBox: Lo to From and Hi to To,
// and what is between them in proportion, or that of its logarithms. Where Linear is not 0, values
// are in proportion within ±Linear, and their logarithms beyond.
type Scale struct {
	Lo, Hi   float64
	From, To float64
	Log      bool
	Linear   float64
}

// At returns the coordinate of a value; NaN for one that the axis cannot show.
func (s Scale) At(v float64) float64 {
	if !drawable(v, s.Log) {
		return math.NaN()
	}
	return axis{span: span{s.Lo, s.Hi}, log: s.Log, linear: s.Linear, from: s.From, to: s.To}.at(v)
}

// Plot says where a chart draws values, for a page that adds to the chart what moves. The zero
// value is that of a chart with nothing to draw.
type Plot struct{ X, Y Scale }

func (p plane) plot() Plot {
	scale := func(a axis) Scale {
		return Scale{Lo: a.lo, Hi: a.hi, From: a.from, To: a.to, Log: a.log, Linear: a.linear}
	}
	return Plot{X: scale(p.x), Y: scale(p.y)}
}

// Plot returns where SVG draws the lines. Its errors are those of SVG.
func (l Lines) Plot() (Plot, error) {
	if err := l.check(); err != nil {
		return Plot{}, err
	}
	l = l.fitted()
	data := l.measure()
	if data.x.empty() {
		return Plot{}, nil
	}
	return l.layOut(data).plane.plot(), nil
}

// Plot returns where SVG draws the points. Its errors are those of SVG.
func (s Scatter) Plot() (Plot, error) {
	if err := s.check(); err != nil {
		return Plot{}, err
	}
	data := s.measure()
	if data.x.empty() {
		return Plot{}, nil
	}
	_, _, p := s.layOut(data)
	return p.plot(), nil
}
