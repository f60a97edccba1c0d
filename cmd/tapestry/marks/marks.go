// Package marks says how what was found out about a run looks on a drawing.
//
// It takes findings of packages inspect and check, and gives the marks of their nodes
// for [viz.Overlay]:
//
//	f, err := inspect.Autopsy(ctx, feed, store, loss)
//	figure, err := viz.Draw([]*graph.Node{loss}, viz.Overlay(marks.Autopsy(f)))
//
// It promises the same marks for the same finding. The text form is the badge of a
// node and the note that a reader finds when pointing at it.
package marks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/viz"
)

// The meanings of the marks' colours, for [viz.HeatScale].
const (
	AutopsyColours   = "the way back to the suspect, ←: the darker, the nearer to it"
	BlameColours     = "!: off only because of a wrong rule that it uses"
	PrecisionColours = "digits of float32's 7.2 that are lost, in all as colour, from 1 to 7, here as −digits"
)

// Autopsy returns the marks of a finding: the first node that is not finite, the nodes that it
// spoils, and the path back from it to the suspect, hotter towards the suspect.
func Autopsy(f *inspect.Finding) map[*graph.Node]viz.Mark {
	marks := map[*graph.Node]viz.Mark{}
	for _, n := range f.NotFinite {
		marks[n] = viz.Mark{Alarm: viz.NotFinite, Note: "not finite"}
	}
	for _, e := range f.Carried {
		marks[e.Node] = viz.Mark{Alarm: viz.NotFinite, Badge: symbol(e.Value), Note: e.String()}
	}
	for i, e := range f.Path {
		if i > 0 {
			marks[e.Node] = viz.Mark{Heat: max(1, 7-len(f.Path)+1+i), Badge: "←", Note: e.String()}
		}
	}
	if f.Twin != nil {
		if _, marked := marks[f.Twin.Node]; !marked {
			marks[f.Twin.Node] = viz.Mark{Badge: "∂", Note: "its derivative is where it begins"}
		}
	}
	marks[f.At.Node] = viz.Mark{Alarm: viz.First, Badge: symbol(f.At.Value), Note: f.At.String() + "\n" + f.Cause}
	return marks
}

// symbol returns the badge of a number that is not finite: NaN or ∞.
func symbol(v float64) string {
	if math.IsInf(v, 0) {
		return "∞"
	}
	return "NaN"
}

// Blame returns the marks of checked derivative rules. The badges show how close right rules are,
// by how much wrong ones are off, and which errors are inherited.
func Blame(found []check.Blamed) map[*graph.Node]viz.Mark {
	marks := map[*graph.Node]viz.Mark{}
	for _, f := range found {
		note := strings.TrimPrefix(f.Detail(), ": ")
		switch f.State {
		case check.RuleRight:
			marks[f.Node] = viz.Mark{Alarm: viz.Checked, Badge: tenth(f.Diff), Note: fmt.Sprintf("rule right to %.0e", f.Diff)}
		case check.RuleWrong:
			badge := "✗"
			if r := f.Got / f.Want; r == r && f.Want != 0 {
				badge = fmt.Sprintf("×%.3g", r)
			}
			marks[f.Node] = viz.Mark{Alarm: viz.Wrong, Badge: badge, Note: "wrong rule: " + note}
		case check.Inherited:
			marks[f.Node] = viz.Mark{Group: 1, Badge: "!", Note: note}
		case check.Undecided:
			marks[f.Node] = viz.Mark{Badge: "?", Note: note}
		}
	}
	return marks
}

// tenth returns the power of ten that a difference stays below, such as 1e−7.
func tenth(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("1e−%d", -int(math.Ceil(math.Log10(v))))
}

// Precision returns the marks of lost digits: the digits lost in total as heat, and those lost at a
// node as its badge. The worst loss that reaches a result also raises the alarm [viz.Lossy].
func Precision(p *inspect.Precision) map[*graph.Node]viz.Mark {
	marks := map[*graph.Node]viz.Mark{}
	worst := slices.IndexFunc(p.Losses, func(l inspect.Loss) bool { return l.Reaches })
	for i, l := range p.Losses {
		m := viz.Mark{Heat: min(7, int(l.Lost()+0.5)), Note: Digits(l.Lost()) + " of 7.2 digits lost, " + Digits(l.Here()) + " of them here"}
		if l.Cause != "" {
			m.Badge, m.Note = "−"+Digits(l.Here()), m.Note+"\n"+l.Cause
			switch {
			case !l.Reaches:
				m.Note += "\nit reaches no result"
			case i == worst && l.Here() >= 1:
				m.Alarm = viz.Lossy
			}
		}
		marks[l.Node] = m
	}
	return marks
}

// Digits formats a number of digits with one decimal.
func Digits(v float64) string { return fmt.Sprintf("%.1f", v) }
