package report

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Gradients shows the gradient of one variant as that of another and of the term by which the two
// objectives differ.
type Gradients struct {
	Whole, Other int    // the two variants: the whole is the other and the term
	Term         string // the name of the term, such as "spread"
	Known        bool   // whether the term is a quantity of its own, and not only the difference
	// Identity says that the gradients add up, and Lines say what they are: inline HTML or MathML.
	Identity template.HTML `json:"-"`
	Lines    []Equation    `json:"-"`
	LaTeX    string        // source of Identity and Lines
	// Deviation is the largest difference, at all places, between an element of the whole's gradient
	// and of the sum, relative to the largest element.
	Deviation float64
	Ways      []Way
}

// Way is a training along which gradients were compared.
type Way struct {
	Of    int    // index of the variant that was trained
	Seed  uint64 // of the run
	Stops []Stop
}

// Stop has the gradients of whole, other and term at one place.
type Stop struct {
	Step    int
	Gamma   float64       // NaN without one
	Lengths [3]float64    // of the gradients
	Angle   float64       // between whole and other, in degrees; NaN where one vanishes
	At      [][2]float64  `json:",omitempty"` // the centres in the plane; nil without one
	Down    [3][]Movement `json:",omitempty"` // the negative gradients by each centre, in the plane
}

// Movement is a direction in the plane.
type Movement [2]float64

// check returns an error if the gradients contradict the page.
func (g Gradients) check(variants int) error {
	if min(g.Whole, g.Other) < 0 || max(g.Whole, g.Other) >= variants || g.Whole == g.Other {
		return fmt.Errorf("variants %d and %d of %d", g.Whole, g.Other, variants)
	}
	if g.Term == "" {
		return errors.New("the term has no name")
	}
	for _, w := range g.Ways {
		if w.Of < 0 || w.Of >= variants {
			return fmt.Errorf("the way of variant %d of %d", w.Of, variants)
		}
		for i, s := range w.Stops {
			for _, d := range s.Down {
				if len(d) != len(s.At) {
					return fmt.Errorf("stop %d: %d directions for %d centres", i, len(d), len(s.At))
				}
			}
		}
	}
	return nil
}

// gradients shows how the gradients of two objectives differ.
func (w *writer) gradients(p Page) section {
	s := section{ID: "gradients", Title: "How the gradients differ"}
	for i, g := range p.Gradients {
		a, b := p.Variants[g.Whole].Name, p.Variants[g.Other].Name
		if g.none() {
			s.Body = append(s.Body, w.part("paragraph", fmt.Sprintf("%s and %s are one objective: at %s in float64, their gradients are the same.", capital(a), b, count(g.places(), "place"))))
			continue
		}
		term := g.Term
		if g.Known {
			term = "the " + g.Term
		}
		lead := fmt.Sprintf("The gradient of %s is that of %s and that of %s.", a, b, term)
		if n := g.places(); n > 0 {
			lead += fmt.Sprintf(" At %s in float64, the sum differs from it by at most %s of the largest element.", count(n, "place"), number(g.Deviation))
		}
		s.Lead = append(s.Lead, lead)
		s.Body = append(s.Body, w.part("identity", map[string]any{"Identity": g.Identity, "Words": "", "Lines": g.Lines, "LaTeX": g.LaTeX}))
		if said := p.pulls(g); said != "" {
			s.Body = append(s.Body, w.part("paragraph", said))
		}
		if t, told := p.lengths(g); told {
			s.Body = append(s.Body, w.table(t))
		}
		explained := false
		for v, way := range g.Ways {
			if figures := w.arrows(p, g, way, fmt.Sprintf("gradients-%d-%d", i+1, v+1)); figures != nil {
				if !explained {
					s.Body = append(s.Body, w.part("paragraph", fmt.Sprintf("The arrows show, on the plane of the data, how each of the three would move the centres by going down its gradient: the arrow of %s is the sum of the two others. They are drawn to one scale within a picture; between pictures the scale changes, so that small gradients can be seen.", a)))
					explained = true
				}
				s.Body = append(s.Body, w.grid(figures...))
			}
		}
	}
	return s
}

// none reports whether the two gradients are the same at all places.
func (g Gradients) none() bool {
	for _, w := range g.Ways {
		if slices.ContainsFunc(w.Stops, func(s Stop) bool { return !(s.Lengths[2] <= 1e-12*s.Lengths[0]) }) {
			return false
		}
	}
	return g.places() > 0
}

// places returns the number of places at which the gradients were compared.
func (g Gradients) places() int {
	n := 0
	for _, w := range g.Ways {
		n += len(w.Stops)
	}
	return n
}

// lengths returns the table of the lengths of the gradients.
func (p Page) lengths(g Gradients) (table, bool) {
	a, b := p.Variants[g.Whole].Name, p.Variants[g.Other].Name
	t := table{Caption: "The lengths of the gradients, all at the same parameters, and the angle between those of the two objectives.",
		Head: []string{"step", a, b, g.Term, "angle"}}
	gamma := false
	for _, w := range g.Ways {
		gamma = gamma || slices.ContainsFunc(w.Stops, func(s Stop) bool { return finite(s.Gamma) })
	}
	if gamma {
		t.Head = slices.Insert(t.Head, 1, "γ")
	}
	for _, w := range g.Ways {
		rows := group{Name: fmt.Sprintf("along the way of %s, seed %d", p.Variants[w.Of].Name, w.Seed)}
		for _, s := range w.Stops {
			r := row{Name: number(float64(s.Step))}
			if gamma {
				r.add(number(s.Gamma))
			}
			r.add(number(s.Lengths[0]), number(s.Lengths[1]), number(s.Lengths[2]), degrees(s.Angle))
			rows.Rows = append(rows.Rows, r)
		}
		t.Groups = append(t.Groups, rows)
	}
	return t, g.places() > 0
}

func degrees(v float64) string {
	if !finite(v) {
		return none
	}
	return number(math.Round(10*v)/10) + "°"
}

// pulls says what the gradients are where each training ends.
func (p Page) pulls(g Gradients) string {
	var said []string
	for _, w := range g.Ways {
		if len(w.Stops) == 0 {
			continue
		}
		end := w.Stops[len(w.Stops)-1]
		term := g.Term
		if g.Known {
			term = "the " + g.Term
		}
		own, others := 0, 1
		if w.Of == g.Other {
			own, others = 1, 0
		} else if w.Of != g.Whole {
			continue
		}
		name := [2]string{p.Variants[g.Whole].Name, p.Variants[g.Other].Name}
		if !(end.Lengths[own] < end.Lengths[others]/10) {
			continue
		}
		how := "only because that of " + term + " cancels it"
		if own == 1 {
			how = "it is that of " + term
		}
		said = append(said, fmt.Sprintf("Where %s ends, its gradient has vanished (%s), and that of %s has not (%s): %s",
			name[own], number(end.Lengths[own]), name[others], number(end.Lengths[others]),
			map[bool]string{true: how + ", by which " + name[others] + " would go on", false: "it vanishes " + how}[own == 1]))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(said, ". ") + "."
}

// arrows shows the gradients at each stop of a way as arrows on the plane.
func (w *writer) arrows(p Page, g Gradients, way Way, id string) []template.HTML {
	var out []template.HTML
	names := [3]string{p.Variants[g.Whole].Name, p.Variants[g.Other].Name, g.Term}
	groups := [3]int{g.Whole, g.Other, len(p.methods())}
	for i, s := range way.Stops {
		if len(s.At) == 0 {
			continue
		}
		longest := 0.0
		for _, d := range s.Down {
			for _, v := range d {
				if l := math.Hypot(v[0], v[1]); finite(l) {
					longest = max(longest, l)
				}
			}
		}
		if longest == 0 {
			continue
		}
		c := w.dotted(p, fmt.Sprintf("%s-%d", id, i+1), fmt.Sprintf("Step %s%s", number(float64(s.Step)), gammaText(s.Gamma)))
		scale := p.planeSize() / 4 / longest
		for j, at := range s.At {
			c.Paths = append(c.Paths, chart.Path{Name: "centres of " + p.Variants[way.Of].Name, Group: way.Of, Points: [][2]float64{at}})
			to := func(from [2]float64, v Movement) [2]float64 {
				return [2]float64{from[0] + scale*v[0], from[1] + scale*v[1]}
			}
			for _, kind := range [3]int{2, 1, 0} {
				c.Vectors = append(c.Vectors, chart.Vector{Name: "down " + names[kind], Group: groups[kind], From: at, To: to(at, s.Down[kind][j])})
			}
		}
		out = append(out, w.figure(c, fmt.Sprintf("Along the way of %s, step %s. The longest arrow is a gradient of %s.", p.Variants[way.Of].Name, number(float64(s.Step)), number(longest))))
	}
	return out
}

func gammaText(γ float64) string {
	if !finite(γ) {
		return ""
	}
	return ", γ = " + number(γ)
}
