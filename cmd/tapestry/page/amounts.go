package page

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// byBox sums a quantity over the instructions of each box, and calls note with every box and the
// rows of its instructions. The rest is the part of the whole outside all boxes.
func (l *layer) byBox(p *program, v *variant, boxes [][]*graph.Node, of func(row int) float64, whole float64, note func(box []*graph.Node, rows []int) viz.Mark) {
	rows := rowsOf(p, v)
	l.marks, l.values, l.rest = map[*graph.Node]viz.Mark{}, map[*graph.Node]float64{}, whole
	for _, box := range boxes {
		var in []int
		sum := 0.0
		for _, n := range box {
			in = append(in, rows[n]...)
		}
		for _, i := range in {
			sum += of(i)
		}
		l.rest -= sum
		m := note(box, in)
		if len(in) > 0 {
			l.values[box[0]] = sum
			if m.Badge == "" {
				m.Badge = l.format(sum)
			}
		}
		l.marks[box[0]] = m
	}
}

// memory shows how much of the arena each box holds. A place that several values share in turn
// counts for the largest of them, so that the boxes and the rest add up to the arena.
func memory(_ context.Context, d *document, v *variant, _ int, boxes [][]*graph.Node) (layer, error) {
	p, err := d.program()
	if err != nil {
		return layer{}, err
	}
	arena := float64(d.session.prog.Arena())
	own := holdings(p.rows)
	l := layer{format: sizeText}
	l.byBox(p, v, boxes, func(row int) float64 { return float64(own[row].counted) }, arena, func(box []*graph.Node, rows []int) viz.Mark {
		m, held := heldBy(p.rows, own, rows)
		n := box[0]
		switch {
		case held:
		case n.Role() == graph.RoleOp:
			m.Badge, m.Note = "not held", "no instruction computes it as it stands here"
		case n.Role() == graph.RoleInput:
			m.Note = "fed, outside of the arena: " + sizeText(float64(bytesOf(n)))
		case n.Role() == graph.RoleConstant:
			m.Note = "part of the program, outside of the arena"
		default:
			m.Note = "in the store, outside of the arena: " + sizeText(float64(bytesOf(n)))
		}
		return m
	})
	l.scale = "bytes of the arena, where a shared place counts once, for the largest; rest: in no box, and gaps"
	l.sums = fmt.Sprintf("%s in boxes + %s rest = %s", sizeText(arena-l.rest), sizeText(l.rest), sizeText(arena))
	return l, nil
}

// heldBy says what the instructions of a box hold of the arena; held is false where they hold
// nothing.
func heldBy(all []tape.Row, own []holding, rows []int) (m viz.Mark, held bool) {
	bytes, counted, scratch, stored := 0, 0, 0, false
	for _, i := range rows {
		bytes, counted, scratch, stored = bytes+own[i].held, counted+own[i].counted, scratch+own[i].scratch, stored || all[i].Stored
	}
	switch {
	case bytes > counted:
		m.Note = fmt.Sprintf("%s, of which %s lie where a larger value is at another time", sizeText(float64(bytes)), sizeText(float64(bytes-counted)))
	case bytes > 0:
		m.Note = sizeText(float64(bytes)) + " of the arena"
	case scratch > 0:
		m.Badge, m.Note = "not held", "fused: never held as a whole, "+sizeText(float64(scratch))+" of a block in a worker's scratch"
	case stored:
		m.Badge, m.Note = "not held", "written into the store at once"
	default:
		return m, false
	}
	return m, true
}

func bytesOf(n *graph.Node) int { return n.Shape().Len() * n.DType().Size() }

// times shows how long the instructions of each box take in a run.
func times(ctx context.Context, d *document, v *variant, _ int, boxes [][]*graph.Node) (layer, error) {
	p, err := d.program()
	if err != nil {
		return layer{}, err
	}
	profile, err := d.measured(ctx)
	if err != nil {
		return layer{}, err
	}
	wall := profile.Wall.Seconds()
	took := func(row int) float64 { return profile.Rows[row].Time.Seconds() }
	l := layer{format: timeText}
	l.byBox(p, v, boxes, took, wall, func(box []*graph.Node, rows []int) (m viz.Mark) {
		if len(rows) == 0 {
			if box[0].Role() == graph.RoleOp {
				m.Note = "no instruction computes it as it stands here"
			}
			return m
		}
		sum := 0.0
		for _, i := range rows {
			sum += took(i)
		}
		m.Note = fmt.Sprintf("%s in a run, %.1f %%, by %s", timeText(sum), 100*sum/max(wall, 1e-12), plural.Count(len(rows), "instruction"))
		return m
	})
	l.scale = "time of a run; rest: in no box, and between instructions"
	l.sums = fmt.Sprintf("%s in boxes + %s rest = %s", timeText(wall-l.rest), timeText(l.rest), timeText(wall))
	return l, nil
}

// fusion shows which nodes run together, one block of rows at a time. A box of several stages has
// no colour.
func fusion(_ context.Context, d *document, v *variant, _ int, boxes [][]*graph.Node) (layer, error) {
	p, err := d.program()
	if err != nil {
		return layer{}, err
	}
	size := stageSizes(p.rows)
	l := layer{format: sizeText}
	l.byBox(p, v, boxes, func(int) float64 { return 0 }, 0, func(_ []*graph.Node, rows []int) viz.Mark {
		return stagesOf(p.rows, size, rows)
	})
	l.values, l.format = nil, nil
	l.scale = fmt.Sprintf("stages of the tape: what has one number runs together, block by block; a colour comes again after %d stages", figure.Groups)
	l.sums = plural.Count(len(p.rows), "instruction") + " in " + plural.Count(len(size), "stage")
	return l, nil
}

// stageSizes counts the instructions of each stage.
func stageSizes(rows []tape.Row) map[int]int {
	size := map[int]int{}
	for _, r := range rows {
		size[r.Stage]++
	}
	return size
}

// stagesOf shows in which stages the instructions of a box run.
func stagesOf(all []tape.Row, size map[int]int, rows []int) (m viz.Mark) {
	first, last := len(size), -1
	var notes []string
	for _, i := range rows {
		r := all[i]
		first, last = min(first, r.Stage), max(last, r.Stage)
		notes = append(notes, fmt.Sprintf("instruction %d in stage %d, of %d", i, r.Stage, size[r.Stage]))
		if r.Cut != "" {
			notes = append(notes, r.Cut)
		}
	}
	switch {
	case last < 0:
	case first == last:
		m.Badge, m.Group = "s"+strconv.Itoa(first), 1+first%figure.Groups
	default:
		m.Badge = fmt.Sprintf("s%d…%d", first, last)
	}
	if len(notes) > mostNotes {
		notes = append(notes[:mostNotes], fmt.Sprintf("and %d more", len(notes)-mostNotes))
	}
	m.Note = strings.Join(notes, "\n")
	return m
}

// mostNotes is the largest number of lines in the note of a box.
const mostNotes = 8
