package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// loopView is a loop whose step is drawn, at the time of which values are shown.
type loopView struct {
	Path  string `json:"path"` // of its module
	Steps int    `json:"steps"`
	Time  int    `json:"time"` // 0 to Steps-1
}

// inStep is a node of a loop's body at a time. Its id is that of its box, an @, and the times of the
// loops in whose steps it is, from the outermost on, with dots between: s13-9@4.
type inStep struct {
	*stepBox
	times []int
}

func (n inStep) id() string { return n.ID + "@" + timesText(n.times) }

func timesText(times []int) string {
	var out []string
	for _, t := range times {
		out = append(out, strconv.Itoa(t))
	}
	return strings.Join(out, ".")
}

// stepBox is a box in the step of a loop of the model as written.
type stepBox struct {
	*viz.StepBox
	notes bool // it is drawn as in the notes too
}

// stepBoxes returns the boxes in the steps of the loops of the model as written, by their ids.
func (d *document) stepBoxes() (map[string]*stepBox, error) {
	if d.stepped != nil {
		return d.stepped, nil
	}
	all := map[string]*stepBox{}
	for _, level := range []viz.Level{viz.Ops, viz.Notes} { // what both draw is called as in the notes
		boxes, err := viz.Steps(d.asWritten.all(), viz.At(level))
		if err != nil {
			return nil, err
		}
		for i := range boxes {
			all[boxes[i].ID] = &stepBox{&boxes[i], level == viz.Notes}
		}
	}
	d.stepped = all
	return all, nil
}

// timesOf reads the times of loops that a request asks for, by the paths of their modules, such as
// 3@recurrent/loop. The time of the others is 0.
func timesOf(r *request) (map[string]int, error) {
	times := map[string]int{}
	for _, entry := range list(r, "times") {
		text, path, _ := strings.Cut(entry, "@")
		t, err := strconv.Atoi(text)
		if err != nil || t < 0 || path == "" {
			return nil, badf("times=%.40s: want a time and the path of a loop, as in 3@recurrent/loop", entry)
		}
		times[path] = t
	}
	return times, nil
}

// at returns a node at the given times of loops; a time that a loop has not is its last.
func at(b *stepBox, times map[string]int) inStep {
	n := inStep{b, make([]int, len(b.Loops))}
	for i, path := range b.Paths {
		n.times[i] = min(times[path], stepsOf(b.Loops[i])-1)
	}
	return n
}

func stepsOf(loop *graph.Node) int { return loop.Op().(trait.Looped).Loop().Steps }

// beside returns the node of another box at the same times, as far as both are in the same loops.
func (n inStep) beside(b *stepBox) inStep {
	times := map[string]int{}
	for i, path := range n.Paths {
		times[path] = n.times[i]
	}
	return at(b, times)
}

// stepNode finds a node in the step of a loop by its id.
func (d *document) stepNode(id string) (inStep, error) {
	none := failf(notFound, "there is no node %q", id)
	boxes, err := d.stepBoxes()
	if err != nil {
		return inStep{}, err
	}
	box, text, _ := strings.Cut(id, "@")
	n := inStep{stepBox: boxes[box]}
	if n.stepBox == nil {
		return n, none
	}
	for i, part := range strings.Split(text, ".") {
		t, err := strconv.Atoi(part)
		if err != nil || i >= len(n.Loops) || t < 0 || t >= stepsOf(n.Loops[i]) {
			return n, none
		}
		n.times = append(n.times, t)
	}
	if len(n.times) != len(n.Loops) {
		return n, none
	}
	return n, nil
}

// maxEntered is how many records of steps are kept: an overlay goes to and fro between loops and those
// of their derivatives. A step has no more values than the model.
const maxEntered = 4

// stepKey identifies the step of a loop.
type stepKey struct {
	loop  *graph.Node
	times string
}

// inside returns the record of the step that a node is in.
func (d *document) inside(ctx context.Context, n inStep, step int) (*inspect.Record, error) {
	record, err := d.record(ctx, d.asWritten, step)
	for i := 0; i < len(n.Loops) && err == nil; i++ {
		loop, around := n.Loops[i], record
		l := loop.Op().(trait.Looped).Loop()
		iteration := n.times[i]
		if l.Reverse {
			iteration = l.Steps - 1 - iteration
		}
		record, err = d.entered.get(stepKey{loop, timesText(n.times[:i+1])}, step, func() (*inspect.Record, error) { return around.Enter(ctx, loop, iteration) })
		if err != nil && ctx.Err() == nil {
			err = failf(unprocessable, "%w", err)
		}
	}
	return record, err
}

// gradientBox returns the box of the derivative by a value; nil if none is drawn, or only the part of
// it that other steps pass on.
func (d *document) gradientBox(n inStep) *stepBox {
	var ids []string
	for id, b := range d.stepped {
		if b.Of == n.ID && b.Backward && !b.Passed {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return d.stepped[slices.Min(ids)]
}

// quantity returns the value of a node in a step and, if there is one, the derivative of the loss by it.
func (d *document) quantity(ctx context.Context, n inStep, step int) (value, gradient tape.Array, partner *inStep, err error) {
	record, err := d.inside(ctx, n, step)
	if err != nil {
		return value, gradient, nil, err
	}
	value = record.Value(n.Node)
	if b := d.gradientBox(n); b != nil {
		g := n.beside(b)
		of, err := d.inside(ctx, g, step)
		if err != nil {
			return value, gradient, nil, err
		}
		return value, of.Value(b.Node), &g, nil
	}
	return value, gradient, nil, nil
}

// stepInfo describes a node in the step of a loop.
func (d *document) stepInfo(ctx context.Context, id string, step int) (*nodeView, error) {
	n, err := d.stepNode(id)
	if err != nil {
		return nil, err
	}
	value, gradient, partner, err := d.quantity(ctx, n, step)
	if err != nil {
		return nil, err
	}
	x := n.Node
	out := &nodeView{ID: id, Name: n.Name, Label: n.Name, Op: opName(x), Role: x.Role().String(), Backward: n.Backward, Shape: x.Shape().String(), DType: x.DType().String(), Axes: axes(x.Shape()),
		Labels: map[string]string{}, Scope: n.Paths[len(n.Paths)-1], Pos: position(x.First().Pos), Bytes: x.Shape().Len() * x.DType().Size(), Step: step, Stats: newStats(value)}
	if x.NumIn() > 0 {
		out.Formula = newFormula(n.Equation)
	} else {
		out.Op, out.Doc = "carry", "what the step before hands on"
	}
	if op, is := x.Op().(ops.Op); is {
		out.Doc = op.Doc()
	}
	for i, loop := range n.Loops {
		if steps := stepsOf(loop); steps > 1 {
			out.Loops = append(out.Loops, loopView{n.Paths[i], steps, n.times[i]})
		}
	}
	switch {
	case partner != nil:
		id := partner.id()
		out.Partner, out.Derivative, out.GradStats = &id, newFormula(partner.Equation), newStats(gradient)
	case n.Of != "":
		id := d.boxID(n, n.Of)
		out.Partner = &id
	}
	out.Inputs, out.Users = d.around(n, n.Inputs, out.Labels), d.around(n, n.Users, out.Labels)
	switch {
	case out.Stats.NaN > 0:
		out.Alarm = "nan"
	case out.Stats.Inf > 0:
		out.Alarm = "inf"
	}
	return out, nil
}

// around returns the ids of boxes as seen from a step, and adds their labels.
func (d *document) around(n inStep, boxes []string, labels map[string]string) []string {
	out := []string{}
	for _, box := range boxes {
		id := d.boxID(n, box)
		labels[id] = d.boxLabel(box)
		out = append(out, id)
	}
	return out
}

// boxID returns the id of a box's node, at the times of a node if it is in a step.
func (d *document) boxID(n inStep, box string) string {
	if b := d.stepped[box]; b != nil {
		return n.beside(b).id()
	}
	return box
}

func (d *document) boxLabel(box string) string {
	if b := d.stepped[box]; b != nil {
		return b.Name
	}
	if i, err := strconv.Atoi(strings.TrimPrefix(box, string(asWritten))); err == nil && d.asWritten.byID[i] != nil {
		return label(d.asWritten.byID[i])
	}
	return box
}

// stepWhy explains an element of a node in a step by what that step has of it.
func (d *document) stepWhy(r *request, way string, step int) (*whyView, error) {
	n, err := d.stepNode(r.place("node"))
	if err != nil {
		return nil, err
	}
	level, err := levelOf(r)
	if err != nil {
		return nil, err
	}
	index, err := elementOf(r, n.Node.Shape())
	if err != nil {
		return nil, err
	}
	record, err := d.inside(r.ctx, n, step)
	if err != nil {
		return nil, err
	}
	p := positionOf(index, n.Node.Shape())
	boxes := map[*graph.Node]string{}
	for x, id := range n.Given {
		boxes[x] = id
	}
	var by []*graph.Node
	for id, b := range d.stepped {
		if slices.Equal(b.Loops, n.Loops) && (b.notes || level != viz.Notes) {
			boxes[b.Node] = id
			by = append(by, b.Node)
		}
	}
	slices.SortFunc(by, func(a, b *graph.Node) int { return a.ID() - b.ID() })
	var shares []inspect.Share
	switch way {
	case "sources":
		shares, err = record.Sources(r.ctx, n.Node, p, mostParts)
	case "effects":
		shares, err = record.Effects(r.ctx, n.Node, p, mostParts)
	default:
		var reason *inspect.Reason
		if reason, err = record.Why(r.ctx, n.Node, p, mostParts, by...); err == nil {
			shares = reason.Operands
		}
	}
	if err != nil {
		return nil, failf(unprocessable, "%w", err)
	}
	entry := inspect.EntryAt(n.Node, p, record.Value(n.Node).At(p))
	out := &whyView{Node: n.id(), At: index, Axes: axes(n.Node.Shape()), Step: step, Shares: []shareView{}, Value: number(entry.Value),
		Place: placed(n.Name, entry.Place()), Within: n.Paths[len(n.Paths)-1] + " at t = " + timesText(n.times)}
	for _, x := range shares {
		box := boxes[x.Node]
		if box == "" {
			continue // a part of a formula
		}
		s := newShare(d.asWritten, x)
		s.Node, s.Label, s.Scope = d.boxID(n, box), d.boxLabel(box), ""
		if b := d.stepped[box]; b != nil {
			s.Back, s.Scope = b.Backward, b.Paths[len(b.Paths)-1]
		}
		for _, parts := range [][]partView{s.Parts, s.Rows} {
			for i := range parts {
				parts[i].Place = placed(s.Label, parts[i].Place)
			}
		}
		out.Shares = append(out.Shares, s)
	}
	return out, nil
}

// placed is the place of an element of what is called otherwise in its body.
func placed(label, place string) string {
	if i := strings.LastIndexByte(place, '['); i >= 0 {
		return label + place[i:]
	}
	return label
}
