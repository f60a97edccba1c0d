package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Stationary has the places to which descents of a variant came at a fixed γ.
type Stationary struct {
	Variant int
	Gamma   float64 // NaN without one
	Starts  int     // number of descents from start centres
	Moving  int     // number of these that did not come to rest
	Points  []Point // by increasing loss
}

// Point is a place at which a gradient vanishes. Places that differ by the order of the centres are
// one.
type Point struct {
	Loss, Gradient float64
	Least, Most    float64 // the extreme eigenvalues of the Hessian
	Kind           string  // "minimum", "saddle", …
	Starts         int     // number of descents that came here; 0 for a place that was given
	Inertia        float64
	Spread         float64      // NaN where it is not known
	Onward         float64      // the length of the gradient of the spread here; NaN where it is not known
	Distinct       int          `json:",omitempty"` // number of places at which centres lie; 0 if not known
	At             [][2]float64 `json:",omitempty"` // the centres in the plane
}

const minimum = "minimum"

func (s Stationary) check(variants int) error {
	if s.Variant < 0 || s.Variant >= variants {
		return fmt.Errorf("variant %d of %d", s.Variant, variants)
	}
	return nil
}

// of returns the points of a kind to which descents came.
func (s Stationary) minima() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(q Point) bool { return q.Kind != minimum || q.Starts == 0 })
}

// stationary shows where descents from many starts end.
func (w *writer) stationary(p Page) section {
	s := section{ID: "stationary", Title: "Where the gradient vanishes"}
	if len(p.Stationary) == 0 {
		return s
	}
	s.Lead = []string{p.descended(), p.several()}
	for _, of := range p.Stationary {
		s.Body = append(s.Body, w.table(p.points(of)))
	}
	figures := w.overlays(p)
	for i, of := range p.Stationary {
		for j, q := range of.pictured() {
			if len(q.At) == 0 || len(p.Plane.Points) == 0 {
				continue
			}
			name := p.Variants[of.Variant].Name
			c := w.dotted(p, fmt.Sprintf("stationary-%d-%d", i+1, j+1), fmt.Sprintf("%s: a %s of loss %s", capital(name), q.Kind, precise(q.Loss)))
			for _, at := range q.At {
				c.Paths = append(c.Paths, chart.Path{Name: "centres", Group: of.Variant, Points: [][2]float64{at}})
			}
			said := "No start led there."
			if q.Starts > 0 {
				said = fmt.Sprintf("Reached from %s starts.", ofRuns(q.Starts, of.Starts))
			}
			if k := len(q.At); q.Distinct > 0 && q.Distinct < k {
				said += fmt.Sprintf(" Its %s lie at %s.", count(k, "centre"), count(q.Distinct, "place"))
			}
			if finite(q.Spread) {
				said += fmt.Sprintf(" Its spread is %s.", p.tiny(q.Spread))
			}
			figures = append(figures, w.figure(c, said))
		}
	}
	if figures != nil {
		s.Body = append(s.Body, w.grid(figures...))
	}
	return s
}

// overlays shows the centres of all minima of each variant together.
func (w *writer) overlays(p Page) []template.HTML {
	var out []template.HTML
	for i, of := range p.Stationary {
		minima := of.minima()
		if len(p.Plane.Points) == 0 || len(minima) == 0 {
			continue
		}
		name := p.Variants[of.Variant].Name
		c := w.dotted(p, fmt.Sprintf("minima-%d", i+1), fmt.Sprintf("%s: all minima", capital(name)))
		c.ClassNames = []string{"centres at a minimum"}
		for _, q := range minima {
			c.Points = append(c.Points, q.At...)
		}
		c.Class = make([]int, len(c.Points))
		out = append(out, w.figure(c, fmt.Sprintf("The centres at every minimum of %s together, over the data: %s, at %s.", name, number(float64(len(minima)*len(minima[0].At))), count(len(minima), "place"))))
	}
	return out
}

// tiny writes a spread, and 0 for one that is a rounding error.
func (p Page) tiny(spread float64) string {
	if math.Abs(spread) <= negligible*p.Data.Scale*p.Data.Scale {
		return "0"
	}
	return number(spread)
}

// descended says how many minima each variant has.
func (p Page) descended() string {
	first := p.Stationary[0]
	var said []string
	for _, of := range p.Stationary {
		text := fmt.Sprintf("%s comes to one minimum", p.Variants[of.Variant].Name)
		if n := len(of.minima()); n != 1 {
			text = fmt.Sprintf("%s comes to %d different minima", p.Variants[of.Variant].Name, n)
		}
		if of.Moving > 0 {
			text += fmt.Sprintf(" (not at rest: %s descents)", ofRuns(of.Moving, of.Starts))
		}
		said = append(said, text)
	}
	return fmt.Sprintf("Each objective was minimised%s from the same %s, until its gradient vanished: %s. Places that differ by the order of the centres count as one. Besides, all centres at the mean of the data, and two centres at one place, were given as starts: from there no gradient separates them, so that they lead to saddles.",
		at(first.Gamma), count(first.Starts, "start"), list(said))
}

func at(γ float64) string {
	if !finite(γ) {
		return ""
	}
	return " at γ = " + number(γ)
}

// several says why one variant has more minima than another, if the spread is known.
func (p Page) several() string {
	if len(p.Gradients) != 1 || !p.Gradients[0].Known {
		return ""
	}
	g := p.Gradients[0]
	var few, many *Stationary
	for i := range p.Stationary {
		switch p.Stationary[i].Variant {
		case g.Whole:
			few = &p.Stationary[i]
		case g.Other:
			many = &p.Stationary[i]
		}
	}
	if few == nil || many == nil {
		return ""
	}
	a, b := p.Variants[g.Whole].Name, p.Variants[g.Other].Name
	why := fmt.Sprintf("%s asks only that the expected centre r̂ of every point meets the point, not that one centre is near it: a point is also met by a mixture of centres that lie apart. It says nothing of the %s, which %s lowers as well.", capital(b), g.Term, a)
	spreads, onward := extremes(many.minima(), func(q Point) float64 { return q.Spread }), extremes(many.minima(), func(q Point) float64 { return q.Onward })
	if lo, hi := spreads[0], spreads[1]; finite(lo) {
		why += fmt.Sprintf(" At its minima the %s is %s", g.Term, within(lo, hi))
		if own := extremes(few.minima(), func(q Point) float64 { return q.Spread }); finite(own[0]) {
			why += fmt.Sprintf("; at those of %s, %s", a, within(own[0], own[1]))
		}
		why += "."
	}
	if still := extremes(many.minima(), func(q Point) float64 { return q.Gradient })[1]; onward[0] > 1000*still {
		why += fmt.Sprintf(" At none of them is %s at rest: there its gradient is that of the %s, whose length is %s.", a, g.Term, within(onward[0], onward[1]))
	}
	return why
}

// within names a range of numbers.
func within(lo, hi float64) string {
	if number(lo) == number(hi) {
		return number(lo)
	}
	return fmt.Sprintf("from %s to %s", number(lo), number(hi))
}

// extremes returns the smallest and the largest finite value; NaN without any.
func extremes(points []Point, of func(Point) float64) [2]float64 {
	var v []float64
	for _, q := range points {
		v = append(v, of(q))
	}
	v = append(finites(v), last(nil))
	return [2]float64{v[0], v[max(0, len(v)-2)]}
}

// mostPoints is the number of rows of a table of stationary points.
const mostPoints = 12

// points returns the table of the stationary points of a variant.
func (p Page) points(of Stationary) table {
	t := table{Caption: fmt.Sprintf("Where the gradient of %s vanishes%s, with the extreme eigenvalues of the Hessian: a minimum has none below 0.", p.Variants[of.Variant].Name, at(of.Gamma)),
		Head: []string{"loss", "is a", "starts", "least eigenvalue", "largest", "gradient", "inertia"}}
	spread := slices.ContainsFunc(of.Points, func(q Point) bool { return finite(q.Spread) })
	if spread {
		t.Head = append(t.Head, "spread")
	}
	var rows group
	shown := of.listed()
	for _, q := range shown {
		r := row{Name: precise(q.Loss)}
		starts := "given"
		if q.Starts > 0 {
			starts = ofRuns(q.Starts, of.Starts)
		}
		r.add(q.Kind, starts, number(q.Least), number(q.Most), number(q.Gradient), number(q.Inertia))
		if spread {
			r.add(p.tiny(q.Spread))
		}
		rows.Rows = append(rows.Rows, r)
	}
	if rest := len(of.Points) - len(shown); rest > 0 {
		t.Caption += fmt.Sprintf(" The %s reached least often are left out here; the data inside the page has them.", count(rest, "place"))
	}
	t.Groups = []group{rows}
	return t
}

// listed returns the points of the table: all, or those that most descents came to and those that
// are no minima, by loss.
func (s Stationary) listed() []Point {
	if len(s.Points) <= mostPoints {
		return s.Points
	}
	order := s.byStarts()
	keep := map[int]bool{}
	for i, q := range s.Points {
		if q.Kind != minimum && len(keep) < mostPoints/2 {
			keep[i] = true
		}
	}
	for _, i := range order {
		if len(keep) < mostPoints {
			keep[i] = true
		}
	}
	var out []Point
	for i, q := range s.Points {
		if keep[i] {
			out = append(out, q)
		}
	}
	return out
}

// byStarts returns the indices of the points, those first that most descents came to.
func (s Stationary) byStarts() []int {
	var order []int
	for i := range s.Points {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.Points[b].Starts - s.Points[a].Starts })
	return order
}

// pictured returns the points to be drawn: the minimum that most descents came to, and the lowest
// point that is no minimum.
func (s Stationary) pictured() []Point {
	var out []Point
	for _, i := range s.byStarts() {
		if s.Points[i].Kind == minimum {
			out = append(out, s.Points[i])
			break
		}
	}
	if i := slices.IndexFunc(s.Points, func(q Point) bool { return q.Kind != minimum }); i >= 0 {
		out = append(out, s.Points[i])
	}
	return out
}
