package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"sort"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// mostStops is the largest number of places at which a cursor stops.
const mostStops = 101

// Stops returns the steps of a training, from 0 to the end, at which the page's cursor stops:
// all of a short one, and otherwise about a hundred that lie closer at the beginning, where more
// happens.
func Stops(steps int) []int {
	var out []int
	for i := range mostStops {
		at := float64(i) / (mostStops - 1)
		if steps >= mostStops {
			at *= at
		}
		out = append(out, int(math.Round(at*float64(max(0, steps)))))
	}
	return slices.Compact(out)
}

// Assignment is the centre that is nearest to each point of the plane at a step of a run.
type Assignment struct {
	Step    int
	Nearest []int
}

// cursor moves charts along a quantity that they share, such as the steps of training. Its fields
// are those of the JSON text that the page's script reads.
type cursor struct {
	Name   string
	Stops  []float64
	Start  int      // the stop that the page shows without its script
	Notes  []string `json:",omitempty"` // said at each stop, beside its number
	Charts []tracked
}

// tracked is a chart that a cursor moves: its lines have a point each, or it has marks that move.
type tracked struct {
	ID   string
	X, Y chart.Scale
	// Lines has what is said of the chart at each stop.
	Lines []trackedLine
	// Marks has the places of each mark of a plot at the stops; nil for one that stays. The marks are
	// the last elements of the plot, in the same order.
	Marks [][][2]any `json:",omitempty"`
	// Bare tells that before each mark come two elements that are true of the start alone.
	Bare bool `json:",omitempty"`
	// Nearest has the mark that is nearest to each point of the plane at the first stop, and then what
	// changes from stop to stop: the point, its mark, and so on.
	Nearest [][]int `json:",omitempty"`
}

// trackedLine is a curve at the stops. Where At is not nil, it has the places of the values: the
// last before a stop at which something is known.
type trackedLine struct {
	Name  string
	Y     []any
	At    []any  `json:",omitempty"`
	Lo    []any  `json:",omitempty"`
	Hi    []any  `json:",omitempty"`
	Range string `json:",omitempty"` // what Lo and Hi are
}

// mostTicks is the largest number of stops of which each has a mark with its value.
const mostTicks = 9

// addCursor makes a cursor, which follows the charts of its quantity that are drawn from now on;
// it returns the control.
func (w *writer) addCursor(c cursor, whole bool) template.HTML {
	w.cursors = append(w.cursors, &c)
	var ticks []string
	if !whole && len(c.Stops) <= mostTicks {
		for _, v := range c.Stops {
			ticks = append(ticks, number(v))
		}
	}
	return w.part("cursor", map[string]any{"ID": fmt.Sprint("cursor-", len(w.cursors)), "Name": c.Name, "Most": len(c.Stops) - 1, "Start": c.Start, "Whole": whole, "Ticks": ticks})
}

// stepCursor makes the cursor of the steps of training.
func (w *writer) stepCursor(p Page) template.HTML {
	steps := p.Setup.Steps
	for _, m := range p.Variants {
		for _, r := range m.Runs {
			steps = max(steps, len(r.Loss)-1, len(r.Inertia)-1)
		}
	}
	c := cursor{Name: "step"}
	for _, step := range Stops(steps) {
		c.Stops = append(c.Stops, float64(step))
		if len(p.Setup.Gamma) > 0 {
			c.Notes = append(c.Notes, "γ = "+number(p.Setup.Gamma[min(step, len(p.Setup.Gamma)-1)]))
		}
	}
	c.Start = len(c.Stops) - 1
	return w.addCursor(c, true)
}

// following returns the cursor of a quantity; nil if there is none.
func (w *writer) following(name string) *cursor {
	for _, c := range w.cursors {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// track lets the cursor of its quantity move a chart of lines.
func (w *writer) track(l chart.Lines) {
	c := w.following(l.X)
	if c == nil || w.err != nil {
		return
	}
	plot, err := l.Plot()
	if err != nil || plot == (chart.Plot{}) {
		w.err = err
		return
	}
	t := tracked{ID: l.ID, X: plot.X, Y: plot.Y}
	for _, s := range l.Series {
		if s.Faint || s.Points || s.Name == "" {
			continue
		}
		line := trackedLine{Name: s.Name}
		y, at := along(c.Stops, s.X, s.Y)
		line.Y = numbers(y)
		if !slices.Equal(at, c.Stops) {
			line.At = numbers(at)
		}
		lo, hi, many := s.Lo, s.Hi, "quartiles"
		if s.Lo == nil {
			lo, hi = faintRange(l.Series, s.Group)
			many = "seeds"
		}
		if lo != nil {
			lo, _ = along(c.Stops, s.X, lo)
			hi, _ = along(c.Stops, s.X, hi)
			line.Lo, line.Hi, line.Range = numbers(lo), numbers(hi), many
		}
		t.Lines = append(t.Lines, line)
	}
	c.Charts = append(c.Charts, t)
}

// trackWays lets the cursor of the steps move the centres of variants along their ways in a plot,
// which has the paths of the methods one after the other and nothing after them.
func (w *writer) trackWays(p Page, plot chart.Scatter, methods []Method) {
	c := w.following("step")
	at, err := plot.Plot()
	if c == nil || err != nil || at == (chart.Plot{}) {
		return
	}
	t := tracked{ID: plot.ID, X: at.X, Y: at.Y, Lines: []trackedLine{}}
	moves := false
	for _, m := range methods {
		best := m.best()
		varies := slices.ContainsFunc(p.Variants, func(v Method) bool { return v.Name == m.Name })
		for _, way := range m.Paths {
			if !slices.ContainsFunc(way, func(q [2]float64) bool { return finite(q[0]) && finite(q[1]) }) {
				continue // it is not drawn
			}
			var mark [][2]any
			for _, stop := range c.Stops {
				i := lastUpTo(stop, len(way), func(i int) float64 {
					if len(best.At) == len(way) {
						return float64(best.At[i])
					}
					return float64(i)
				})
				if varies && i >= 0 {
					mark = append(mark, [2]any{digits(way[i][0]), digits(way[i][1])})
				}
			}
			if len(mark) != len(c.Stops) {
				mark = nil
			}
			moves = moves || mark != nil
			t.Marks = append(t.Marks, mark)
		}
		if varies {
			for _, of := range []struct {
				name string
				y    []float64
			}{{"inertia", best.Inertia}, {"spread", best.Spread}} {
				y, _ := along(c.Stops, best.steps(), of.y)
				if slices.ContainsFunc(y, finite) {
					name := of.name
					if len(methods) > 1 {
						name = m.Name + ", " + of.name
					}
					t.Lines = append(t.Lines, trackedLine{Name: name, Y: numbers(y)})
				}
			}
		}
	}
	if len(methods) == 1 && len(t.Marks) == len(methods[0].Paths) {
		t.Nearest = changes(methods[0].nearest(c.Stops))
	}
	if moves {
		c.Charts = append(c.Charts, t)
	}
}

// trackEnds lets the cursor of a sweep move the centres of a variant in a plot that has them at the
// cursor's start, each as a path of one point.
func (w *writer) trackEnds(plot chart.Scatter, s Sweep, variant int) {
	c := w.following(s.Name)
	at, err := plot.Plot()
	if c == nil || err != nil || at == (chart.Plot{}) {
		return
	}
	t := tracked{ID: plot.ID, X: at.X, Y: at.Y, Bare: true}
	inertia, loss, spread := trackedLine{Name: "inertia"}, trackedLine{Name: "loss"}, trackedLine{Name: "spread"}
	var nearest [][]int
	for _, e := range s.Ends[variant] {
		inertia.Y, loss.Y, spread.Y = append(inertia.Y, digits(e.Inertia)), append(loss.Y, digits(e.Loss)), append(spread.Y, digits(e.Spread))
		nearest = append(nearest, e.Nearest)
	}
	t.Lines, t.Nearest = []trackedLine{inertia, loss, spread}, changes(nearest)
	for j := range s.Ends[variant][0].At {
		var mark [][2]any
		for _, e := range s.Ends[variant] {
			q := e.At[j]
			mark = append(mark, [2]any{digits(q[0]), digits(q[1])})
		}
		if q := s.Ends[variant][c.Start].At[j]; finite(q[0]) && finite(q[1]) { // or it is not drawn
			t.Marks = append(t.Marks, mark)
		}
	}
	if len(t.Marks) != len(s.Ends[variant][0].At) {
		t.Nearest = nil
	}
	if len(t.Marks) > 0 {
		c.Charts = append(c.Charts, t)
	}
}

// nearest returns the assignments at the stops; nil for one that is not known.
func (m Method) nearest(stops []float64) [][]int {
	out := make([][]int, len(stops))
	for _, a := range m.Assigned {
		if i := slices.Index(stops, float64(a.Step)); i >= 0 {
			out[i] = a.Nearest
		}
	}
	return out
}

// faintRange returns the extremes of the faint lines of a group, entry by entry; nil without any.
func faintRange(all []chart.Series, group int) (lo, hi []float64) {
	for _, s := range all {
		if !s.Faint || s.Group != group {
			continue
		}
		for i, y := range s.Y {
			if i == len(lo) {
				lo, hi = append(lo, y), append(hi, y)
			}
			if !(lo[i] <= y) {
				lo[i] = y
			}
			if !(hi[i] >= y) {
				hi[i] = y
			}
		}
	}
	return lo, hi
}

// along returns the values of a curve at stops, and where each is known: at the stop, or else at
// the last entry before it. Entry i belongs to x[i], or to i if x is nil.
func along(stops, x, y []float64) (values, at []float64) {
	for _, stop := range stops {
		i := lastUpTo(stop, len(y), func(i int) float64 {
			if x == nil {
				return float64(i)
			}
			return x[i]
		})
		switch {
		case i < 0:
			values, at = append(values, math.NaN()), append(at, stop)
		case x == nil:
			values, at = append(values, y[i]), append(at, float64(i))
		default:
			values, at = append(values, y[i]), append(at, x[i])
		}
	}
	return values, at
}

// lastUpTo returns the last of n ascending entries that is at most a stop; −1 if none is.
func lastUpTo(stop float64, n int, of func(i int) float64) int {
	return sort.Search(n, func(i int) bool { return of(i) > stop }) - 1
}

// numbers returns values for JSON text.
func numbers(v []float64) []any {
	out := make([]any, len(v))
	for i, x := range v {
		out[i] = digits(x)
	}
	return out
}

// changes returns assignments as the first and what differs from each to the next; nil if some are
// missing.
func changes(nearest [][]int) [][]int {
	var out [][]int
	for i, now := range nearest {
		if len(now) == 0 || len(now) != len(nearest[0]) {
			return nil
		}
		if i == 0 {
			out = append(out, now)
			continue
		}
		differ := []int{}
		for point, mark := range now {
			if mark != nearest[i-1][point] {
				differ = append(differ, point, mark)
			}
		}
		out = append(out, differ)
	}
	return out
}

// cursorsData returns the cursors that have charts to move, as JSON text that may stand inside a
// script element.
func (w *writer) cursorsData() []byte {
	moving := []*cursor{}
	for i, c := range w.cursors {
		moving = append(moving, c)
		if len(c.Charts) == 0 {
			moving[i] = nil
		}
	}
	data, err := json.Marshal(moving)
	if w.err == nil {
		w.err = err
	}
	return data
}

// moved says how much of the file is for the cursors.
func (w *writer) moved() string {
	for _, c := range w.cursors {
		if len(c.Charts) > 0 {
			return fmt.Sprintf("The sliders stop at recorded values alone, that of steps at %s; what they show takes %s\u00a0KB of this file.",
				count(len(w.cursors[0].Stops), "step"), number(math.Ceil(float64(len(w.cursorsData()))/1000)))
		}
	}
	return ""
}
