package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Mark says what a drawing shows of a node besides the node: a measurement as heat, a few
// characters on a badge, an alarm.
type Mark struct {
	Heat  int    // 1 to 7: the fill, from pale to dark; 0 for none
	Group int    // 1 to figure.Groups: the fill of a category; 0 for none. Not with Heat
	Badge string // a few characters at the top right, so that colour is never the only source
	Alarm Alarm
	Note  string // added to the tooltip, a line or more
}

// Alarm says that something is wrong with a node, or that it was checked and is right. Of two
// alarms the greater is the worse.
type Alarm = figure.Alarm

// The alarms.
const (
	NoAlarm   = figure.NoAlarm
	Checked   = figure.Checked   // checked and right: a tick
	Lossy     = figure.Lossy     // loses the most digits that reach a result: a wave
	Wrong     = figure.Wrong     // checked and wrong: a thick border
	NotFinite = figure.NotFinite // NaN or infinite: a thick border and hatched sides
	First     = figure.First     // the first node that is not finite: marked ①
)

// Overlay marks nodes of the drawing. Colours then show the marks alone, and shapes the roles. A
// closed module shows the worst alarm of its nodes or, if there is none, the greatest heat. An
// alarm of a node that the level does not show appears on the first box whose formula contains
// the node.
func Overlay(marks map[*graph.Node]Mark) Option {
	return func(o *options) { o.marks = marks }
}

// HeatScale says in the legend what the colours of an [Overlay] measure, and their range:
// "largest |∂ℓ/∂v|, from 1e−8 to 1".
func HeatScale(text string) Option { return func(o *options) { o.heat = text } }

// mark puts on a box the marks of its nodes. Of nodes that are only part of its formula, alarms
// count.
func (v *view) mark(b *figure.Node, members []*graph.Node) {
	var worst, hottest *graph.Node
	at := func(n *graph.Node) Mark { return v.options.marks[n] }
	for _, n := range members {
		m := at(n)
		if m.Alarm != NoAlarm && (worst == nil || m.Alarm > at(worst).Alarm) {
			worst = n
		}
		if (m.Heat > 0 || m.Group > 0 || m.Badge != "" || m.Note != "") && (hottest == nil || m.Heat > at(hottest).Heat) {
			hottest = n
		}
	}
	for _, shown := range members {
		for _, n := range v.absorbed[shown] {
			if m := at(n); m.Alarm >= Lossy && (worst == nil || m.Alarm > at(worst).Alarm) {
				worst = n
			}
		}
	}
	if hottest != nil {
		b.Heat, b.Group = at(hottest).Heat, at(hottest).Group
	}
	if worst != nil {
		b.Alarm = at(worst).Alarm
	}
	told := hottest
	if worst != nil && (told == nil || at(worst).Alarm >= Lossy) {
		told = worst
	}
	if told == nil {
		return
	}
	b.Badge = at(told).Badge
	if note := at(told).Note; note != "" {
		b.Title += "\n" + note
	}
	if told != v.drawn(members[0]) || b.Closed != "" {
		b.Title += "\n(" + v.equation(told).String() + ")"
	}
}

// absorb finds, for each hidden node, the first box whose formula contains it.
func (v *view) absorb() map[*graph.Node][]*graph.Node {
	out := map[*graph.Node][]*graph.Node{}
	taken := map[*graph.Node]bool{}
	for _, n := range v.shown {
		if v.stepOf(n) != nil && v.stands[n] == nil {
			continue // the loop is in the box of its first result
		}
		var walk func(x *graph.Node)
		walk = func(x *graph.Node) {
			for _, y := range x.Inputs() {
				if !v.visible[y] && !taken[y] {
					taken[y] = true
					out[n] = append(out[n], y)
					walk(y)
				}
			}
		}
		if loop := v.stands[n]; loop != nil {
			taken[loop] = true
			walk(loop)
			continue
		}
		walk(n)
	}
	return out
}
