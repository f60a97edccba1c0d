package chart

import (
	"fmt"
	"strings"
)

// summary describes a line in figures.
type summary struct {
	n             int // points that can be drawn; the rest holds if there is one
	firstX, first float64
	lastX, last   float64
	y             span
}

// summarise reads the points of a series that the chart can draw.
func (l Lines) summarise(s Series) summary {
	f := summary{y: emptySpan}
	for i := range s.Y {
		x, y := s.point(i)
		if !drawable(x, l.LogX) || !drawable(y, l.LogY) {
			continue
		}
		if f.n == 0 {
			f.firstX, f.first = x, y
		}
		f.n++
		f.lastX, f.last = x, y
		f.y.add(y)
	}
	return f
}

// sentence describes a series in figures.
func (l Lines) sentence(s Series) string {
	f := l.summarise(s)
	var b strings.Builder
	if s.Name != "" {
		b.WriteString(s.Name + ": ")
	}
	switch {
	case f.n == 0:
		b.WriteString("no finite data")
	case s.Points:
		b.WriteString(count(f.n, "point"))
	case f.n == 1:
		fmt.Fprintf(&b, "%s at %s", Format(f.first), Format(f.firstX))
	default:
		fmt.Fprintf(&b, "%s at %s to %s at %s", Format(f.first), Format(f.firstX), Format(f.last), Format(f.lastX))
		if f.y.lo < min(f.first, f.last) {
			fmt.Fprintf(&b, ", lowest %s", Format(f.y.lo))
		}
		if f.y.hi > max(f.first, f.last) {
			fmt.Fprintf(&b, ", highest %s", Format(f.y.hi))
		}
	}
	b.WriteString(".")
	return b.String()
}

// figures describes the chart to readers who cannot see it.
func (l Lines) figures(e extent) string {
	said := []string{"Line chart" + against(l.X, l.LogX, l.Y, l.LogY) + "."}
	if l.linear != 0 {
		said[0] += " The vertical axis is linear within ±" + Format(l.linear) + " and logarithmic beyond."
	}
	faint := 0
	for _, s := range l.Series {
		if s.Faint && !l.namesGroup(s) {
			faint++
		} else {
			said = append(said, l.sentence(s))
		}
	}
	if faint > 0 {
		said = append(said, fmt.Sprintf("%s of single runs.", count(faint, "faint line")))
	}
	for _, r := range l.Rules {
		said = append(said, fmt.Sprintf("Level %s: %s.", r.Name, Format(r.Y)))
	}
	for _, m := range l.Marks {
		said = append(said, fmt.Sprintf("Marked %s: %s at %s.", m.Name, Format(m.Y), Format(m.X)))
	}
	if e.missing > 0 {
		said = append(said, missingText(e.missing, l.LogX || l.LogY)+".")
	}
	return strings.Join(said, " ")
}

// against returns " of y against x", with the names that the axes have.
func against(x string, logX bool, y string, logY bool) string {
	var s string
	if y != "" {
		s += " of " + y + logarithmic(logY)
	}
	if x != "" {
		s += " against " + x + logarithmic(logX)
	}
	return s
}

func logarithmic(log bool) string {
	if log {
		return " (logarithmic)"
	}
	return ""
}
