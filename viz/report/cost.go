package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// cost shows what a training step takes.
func (w *writer) cost(p Page) section {
	s := section{ID: "cost", Title: "What a step costs"}
	var ms []Method
	for _, m := range p.methods() {
		if m.Cost != (Cost{}) {
			ms = append(ms, m)
		}
	}
	if len(ms) == 0 {
		return s
	}
	s.Lead = []string{"One training step of each method: forward, backward and update, compiled to one tape. The time is that of the machine that wrote this page" +
		machine(p.Made.Machine) + "; the other numbers follow from the tapes alone."}
	if said := p.dearer(); said != "" {
		s.Lead = append(s.Lead, said)
	}
	rows := costRows(ms)
	bars := chart.Bars{Frame: frame("cost", "Cost of a step", ""), Series: names(ms), Rows: rows, OwnScale: true}
	s.Body = []template.HTML{w.figure(bars, "The cost of a step, per tape. Each group of bars has a scale of its own.")}
	return s
}

// dearer compares the work of the variants with the first one's.
func (p Page) dearer() string {
	first := p.Variants[0]
	said := eachSays(p.Variants[1:], func(m Method) string {
		if m.Cost.FLOPs <= 0 || first.Cost.FLOPs <= 0 {
			return ""
		}
		return fmt.Sprintf("a step of %s takes %s what one of %s takes", m.Name, times(float64(m.Cost.FLOPs)/float64(first.Cost.FLOPs)), first.Name)
	})
	if said == "" {
		return ""
	}
	return "Counted in floating-point operations, " + said + "."
}

func machine(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// costRows returns the costs by kind, in units that keep the numbers short.
func costRows(ms []Method) []chart.Row {
	rows := []chart.Row{
		costRow("nodes", ms, func(c Cost) float64 { return float64(c.Nodes) }),
		costRow("instructions", ms, func(c Cost) float64 { return float64(c.Instructions) }),
		costRow("FLOPs", ms, func(c Cost) float64 { return float64(c.FLOPs) }),
		costRow("peak memory", ms, func(c Cost) float64 { return float64(c.Peak) },
			unit{"B", 1}, unit{"KiB", 1 << 10}, unit{"MiB", 1 << 20}, unit{"GiB", 1 << 30}),
		costRow("time", ms, func(c Cost) float64 { return c.Seconds },
			unit{"ns", 1e-9}, unit{"µs", 1e-6}, unit{"ms", 1e-3}, unit{"s", 1}),
	}
	if slices.ContainsFunc(ms, func(m Method) bool { return m.Cost.Params > 0 }) {
		rows = append([]chart.Row{costRow("parameters", ms, func(c Cost) float64 { return float64(c.Params) })}, rows...)
	}
	return rows
}

// unit is a multiple of the unit of a count.
type unit struct {
	name string
	of   float64
}

// costRow returns a row in the largest unit in which all its values are at least 1. Values that
// were not measured are NaN.
func costRow(name string, ms []Method, what func(Cost) float64, units ...unit) chart.Row {
	r := chart.Row{Name: name}
	least := math.Inf(1)
	for _, m := range ms {
		v := what(m.Cost)
		if !(v > 0) {
			v = math.NaN()
		} else {
			least = min(least, v)
		}
		r.Values = append(r.Values, v)
	}
	for i, u := range units {
		if i == 0 || least >= u.of {
			r.Unit = u.name
			for j, m := range ms {
				if finite(r.Values[j]) {
					r.Values[j] = what(m.Cost) / u.of
				}
			}
		}
	}
	return r
}
