package chart

import "math"

// finiteMax is the largest magnitude that is drawn, and its inverse the smallest on a logarithmic
// axis. Within these bounds, spans and powers of ten are finite.
const finiteMax = 1e300

// drawable reports whether an axis can show v.
func drawable(v float64, log bool) bool {
	if log {
		return v >= 1/finiteMax && v <= finiteMax
	}
	return math.Abs(v) <= finiteMax // false for NaN
}

// span is a closed interval, empty while lo > hi.
type span struct{ lo, hi float64 }

var emptySpan = span{math.Inf(1), math.Inf(-1)}

func (s span) empty() bool { return s.lo > s.hi }

// add widens s until it holds v.
func (s *span) add(v float64) { s.lo, s.hi = min(s.lo, v), max(s.hi, v) }

// opened returns s, widened until ticks have labels that differ in the digits shown. An empty
// span becomes the unit interval.
func (s span) opened(log bool) span {
	if s.empty() {
		s = span{1, 1}
	}
	largest := max(math.Abs(s.lo), math.Abs(s.hi))
	const digits = 1e-6
	switch {
	case log && s.hi/s.lo < 1+digits:
		return span{s.lo / 1.1, s.hi * 1.1}
	case log:
		return s
	case largest < 1/finiteMax:
		return span{-1, 1}
	case s.lo == s.hi:
		return span{s.lo - largest/10, s.hi + largest/10}
	case s.hi-s.lo < digits*largest:
		return span{s.lo - digits*largest, s.hi + digits*largest}
	}
	return s
}

// axis maps values to pixels.
type axis struct {
	span
	log      bool
	linear   float64 // if not 0, logarithmic beyond ±linear
	from, to float64 // pixels of lo and hi
	ticks    []tick
}

// coveringAxis returns an axis whose bounds are round numbers around s.
func coveringAxis(s span, log bool, most int) axis {
	s = s.opened(log)
	if log {
		ticks, lo, hi := logTicks(s.lo, s.hi, most)
		return axis{span: span{lo, hi}, log: true, ticks: ticks}
	}
	ticks := linearTicks(s.lo, s.hi, most)
	return axis{span: span{ticks[0].value, ticks[len(ticks)-1].value}, ticks: ticks}
}

// tightAxis returns an axis with the bounds of s, and the ticks within.
func tightAxis(s span, log bool, most int) axis {
	a := coveringAxis(s, log, most)
	a.span = s.opened(log)
	a.ticks = a.inside(a.ticks)
	return a
}

// inside returns the ticks within the axis.
func (a axis) inside(ticks []tick) []tick {
	room := slack * (a.hi - a.lo)
	var inside []tick
	for _, t := range ticks {
		if t.value >= a.lo-room && t.value <= a.hi+room {
			inside = append(inside, t)
		}
	}
	return inside
}

// marked returns the axis with ticks at those of the values that it reaches; without values, the
// axis is unchanged.
func (a axis) marked(values []float64) axis {
	if values == nil {
		return a
	}
	var ticks []tick
	for _, v := range values {
		ticks = append(ticks, tick{v, Format(v)})
	}
	a.ticks = a.inside(ticks)
	return a
}

// between places the axis on the canvas.
func (a axis) between(from, to float64) axis {
	a.from, a.to = from, to
	return a
}

// at returns the pixel of v.
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	switch {
	case a.log:
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	case a.linear != 0:
		v, lo, hi = signed(v, a.linear), signed(lo, a.linear), signed(hi, a.linear)
	}
	return a.from + float64((v-lo)/(hi-lo)*(a.to-a.from)) // not fused: the same pixel on all machines
}

// labelWidth returns the width of the widest tick label.
func (a axis) labelWidth() float64 {
	var w float64
	for _, t := range a.ticks {
		w = max(w, textWidth(t.label, noteFont.size))
	}
	return w
}
