package page

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// amountsInSteps says what the boxes in the steps of loops show of amounts.
var amountsInSteps = map[string]string{
	"time":   "in a loop's step: a part of the loop's time, all its steps together (none is timed by itself); white is carried, or computed for all steps at once",
	"memory": "in a loop's step: a part of the loop's memory, which every step uses anew; white is carried, or computed for all steps at once",
	"fusion": "in a loop's step: the stages of the program that every step runs; white is carried, or computed for all steps at once",
}

// working is the program that the steps of a loop run.
type working struct {
	loops []*graph.Node // as written: the last one, and those around it from the outermost on
	rows  []tape.Row
	timed []tape.Timing // nil where that is not asked for, or no step was run
	steps int64         // that were timed
	by    map[*graph.Node][]int
}

// workings finds what the steps of loops run, and which of their instructions compute the nodes of
// the loops' bodies as written.
func workings(rows []tape.Row, timed []tape.Timing, written []*graph.Node, around []*graph.Node) (out []working) {
	for i, r := range rows {
		if r.Body == nil || written[i] == nil || written[i].Body() == nil {
			continue
		}
		body := written[i].Body()
		w := working{loops: append(slices.Clone(around), written[i]), rows: r.Body.Rows(), by: map[*graph.Node][]int{}}
		if timed != nil && len(timed[i].Within) == len(w.rows) {
			w.timed, w.steps = timed[i].Within, timed[i].Steps
		}
		var computed []*graph.Node
		for _, row := range w.rows {
			computed = append(computed, row.Node)
		}
		if len(computed) == 0 {
			continue
		}
		source := sources(newVariant(ofStep, nil, append(body.Out(), body.In()...), nil), newVariant(asRun, nil, computed, nil))
		own := make([]*graph.Node, len(computed))
		for k, n := range computed {
			if own[k] = source[n]; own[k] != nil {
				w.by[own[k]] = append(w.by[own[k]], k)
			}
		}
		out = append(append(out, w), workings(w.rows, w.timed, own, w.loops)...)
	}
	return out
}

// contents gives the boxes of a loop's step the nodes of its body: each its own and those that only
// its formula contains.
func (w working) contents(drawn []inStep) map[string][]*graph.Node {
	out, taken := map[string][]*graph.Node{}, map[*graph.Node]bool{}
	var boxes []inStep
	for _, n := range drawn {
		if slices.Equal(n.Loops, w.loops) {
			boxes, taken[n.Node] = append(boxes, n), true
		}
	}
	slices.SortFunc(boxes, func(a, b inStep) int { return a.Node.ID() - b.Node.ID() }) // operands first
	for _, n := range boxes {
		var walk func(x *graph.Node)
		walk = func(x *graph.Node) {
			out[n.ID] = append(out[n.ID], x)
			for _, y := range x.Inputs() {
				if !taken[y] {
					taken[y] = true
					walk(y)
				}
			}
		}
		walk(n.Node)
	}
	return out
}

// markAmounts shows the time, the memory or the stages of what the steps of loops run.
func (d *document) markAmounts(ctx context.Context, overlay string, drawn []inStep, l *layer) error {
	p, err := d.program()
	if err != nil {
		return err
	}
	var timed []tape.Timing
	if overlay == "time" {
		profile, err := d.measured(ctx)
		if err != nil {
			return err
		}
		timed = profile.Rows
	}
	for _, n := range drawn {
		l.steps.marks[n.ID] = viz.Mark{Note: "which instructions compute it is not known: compiling made another loop of its own"}
	}
	for _, w := range workings(p.rows, timed, p.by(d.asWritten), nil) {
		own, size := holdings(w.rows), stageSizes(w.rows)
		for id, nodes := range w.contents(drawn) {
			var rows []int
			for _, n := range nodes {
				rows = append(rows, w.by[n]...)
			}
			switch {
			case len(rows) == 0:
				l.steps.marks[id] = viz.Mark{Note: "no instruction of the step computes it as it stands here: it is carried, or computed for all steps at once"}
				continue
			case overlay == "time" && w.timed == nil:
				l.steps.marks[id] = viz.Mark{Note: "no step was run"}
				continue
			}
			slices.Sort(rows)
			var m viz.Mark
			switch overlay {
			case "time":
				sum := 0.0
				for _, i := range rows {
					sum += w.timed[i].Time.Seconds()
				}
				m = viz.Mark{Badge: timeText(sum), Note: fmt.Sprintf("%s in a run, all %s together, by %s of each", timeText(sum), plural.Count(int(w.steps), "step"), plural.Count(len(rows), "instruction"))}
				l.steps.values[id] = sum
			case "memory":
				sum := 0
				for _, i := range rows {
					sum += own[i].counted
				}
				var held bool
				if m, held = heldBy(w.rows, own, rows); held && m.Badge == "" {
					m.Badge, l.steps.values[id] = sizeText(float64(sum)), float64(sum)
				}
			case "fusion":
				m = stagesOf(w.rows, size, rows)
			}
			l.steps.marks[id] = m
		}
	}
	return nil
}
