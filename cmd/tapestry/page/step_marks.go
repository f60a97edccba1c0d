package page

import (
	"context"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// inSteps holds what an overlay says of the boxes in the steps of loops, by their ids.
type inSteps struct {
	marks  map[string]viz.Mark
	values map[string]float64 // that give colours
}

// openSteps adds to an overlay what it shows of the boxes that a drawing has in the steps of
// loops, at the times that a request asks for, and says what that is where it is not the overlay's
// own quantity at that time.
func (d *document) openSteps(ctx context.Context, v *variant, q drawing, p *planned, l *layer) error {
	if len(v.looped) == 0 || q.level >= viz.Primitive {
		return nil
	}
	all, err := d.stepBoxes()
	if err != nil {
		return err
	}
	var drawn []inStep
	for _, box := range p.plan.Figure(nil, "").Nodes {
		if b := all[box.ID]; b != nil {
			drawn = append(drawn, at(b, q.times))
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	l.steps = inSteps{map[string]viz.Mark{}, map[string]float64{}}
	switch q.overlay {
	case "grad", "nan":
		return d.markSteps(ctx, q, drawn, &l.steps)
	case "time", "memory", "fusion":
		l.scale += "; " + amountsInSteps[q.overlay]
		return d.markAmounts(ctx, q.overlay, drawn, l)
	case "precision":
		if len(l.marks) > 0 {
			l.scale += "; in a loop's step: lost in that step, from what it is given"
			return d.markDigits(ctx, q, drawn, &l.steps)
		}
	case "blame":
		if len(l.marks) > 0 {
			l.scale += "; in a loop's step: what was found of the loop as a whole, and of its operations where that is wrong"
			markRules(drawn, l)
		}
	}
	return nil
}

// markSteps measures values and derivatives. A step that was not run has no marks.
func (d *document) markSteps(ctx context.Context, q drawing, drawn []inStep, out *inSteps) error {
	for _, n := range drawn {
		value, gradient, partner, err := d.quantity(ctx, n, q.step)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.marks[n.ID] = notRun(err)
			continue
		}
		when := " at t = " + timesText(n.times)
		if q.overlay == "nan" {
			if s := newStats(value); s.NaN+s.Inf > 0 {
				out.marks[n.ID] = viz.Mark{Alarm: viz.NotFinite, Note: strconv.Itoa(s.NaN) + " NaN, " + strconv.Itoa(s.Inf) + " infinite" + when}
			} else {
				out.marks[n.ID] = viz.Mark{}
			}
			continue
		}
		what := "largest |∂loss/∂v| "
		switch {
		case n.Backward:
			gradient = value
			if n.Passed {
				what = "largest part that other steps pass on "
			}
		case partner == nil:
			continue
		}
		m := largest(gradient)
		out.marks[n.ID], out.values[n.ID] = viz.Mark{Badge: short(m), Note: what + short(m) + when, Alarm: alarmOf(gradient)}, m
	}
	return nil
}

// markDigits measures the digits that float32 loses within the steps.
func (d *document) markDigits(ctx context.Context, q drawing, drawn []inStep, out *inSteps) error {
	found := map[*inspect.Record]map[*graph.Node]viz.Mark{}
	for _, n := range drawn {
		record, err := d.inside(ctx, n, q.step)
		if err == nil && found[record] == nil {
			var lost *inspect.Precision
			if lost, err = record.Precision(ctx); err == nil {
				found[record] = marks.Precision(lost)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.marks[n.ID] = notRun(err)
			continue
		}
		if m, measured := found[record][n.Node]; measured {
			m.Note += "\nin the step t = " + timesText(n.times)
			out.marks[n.ID] = m
		}
	}
	return nil
}

// markRules shows the rules of loops on what their steps compute; of wrong ones the operations have
// marks of their own.
func markRules(drawn []inStep, l *layer) {
	for _, n := range drawn {
		m, own := l.marks[n.Node]
		if loop, checked := l.marks[n.Loops[0]]; !own && checked {
			m = viz.Mark{Alarm: loop.Alarm, Group: loop.Group, Note: "the loop as a whole: " + loop.Note}
		}
		l.steps.marks[n.ID] = m
	}
}

// notRun marks a box whose values there are not.
func notRun(err error) viz.Mark {
	return viz.Mark{Note: strings.TrimPrefix(err.Error(), "inspect: ")}
}

func alarmOf(a tape.Array) viz.Alarm {
	if s := newStats(a); s.NaN+s.Inf > 0 {
		return viz.NotFinite
	}
	return viz.NoAlarm
}

// put marks the boxes of a figure.
func (s inSteps) put(f *figure.Figure) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		m, marked := s.marks[n.ID]
		if !marked {
			continue
		}
		n.Heat, n.Group, n.Badge, n.Alarm = m.Heat, m.Group, m.Badge, m.Alarm
		if m.Note != "" {
			n.Title += "\n" + m.Note
		}
	}
}
