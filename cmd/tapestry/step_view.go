package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// stepView has the contents of the screen at one instruction, as lines of plain text.
type stepView struct {
	title, note string
	taken       []string // of the notes; nil without --as-notes
	rows        []tape.Row
	stages      []tape.Stage
	ins         *inspect.Instruction
	place       string // the place in time, and the loss there
	seen        []seenValue
	shown       int // index in seen of the value that is written out
	window      inspect.Window
	iteration   *inspect.Iteration // of the loop that the instruction is in; nil outside loops
}

// seenValue is one of an instruction's values.
type seenValue struct {
	role, label string
	value       tape.Array
	stats       inspect.Statistics
}

// asWritten is the role of a derivative that only the graph as written has.
const asWritten = " ∂*"

// sparkBins is the width of a histogram in a line.
const sparkBins = 10

// load reads the instruction at the session's place.
func (v *stepView) load(ctx context.Context, s *inspect.Session) error {
	ins, err := s.Instruction(ctx, s.At())
	if err != nil {
		return err
	}
	n := s.Wanted()[0]
	wanted, err := s.Quantity(ctx, s.Program().Node(n)) // as written it may be NaN although the program's is not
	if err != nil {
		return err
	}
	v.place = fmt.Sprintf("training step %d · instruction %d of %d", ins.Step, ins.Index, s.Len())
	if n.Rank() == 0 {
		v.place += " · " + n.Label() + " " + chart.Format(wanted.Value.At(0))
	}
	v.at(ins, s.Program())
	return nil
}

// inside reads an instruction of a loop's body.
func (v *stepView) inside(it *inspect.Iteration, i int) error {
	ins, err := it.Instruction(i)
	if err != nil {
		return err
	}
	v.place = fmt.Sprintf("training step %d · iteration %d of %d, time %d · instruction %d of %d", ins.Step, it.Number, it.Of, it.Time, i, it.Len())
	v.at(ins, it.Program())
	v.iteration = it
	return nil
}

// asWritten reads a node of the model as written.
func (v *stepView) asWritten(ctx context.Context, s *inspect.Session, i int) error {
	ins, err := s.AsWritten(ctx, i)
	if err != nil {
		return err
	}
	rows := s.WrittenRows()
	v.place = fmt.Sprintf("as written · training step %d · node %d of %d", ins.Step, i, len(rows))
	if at := s.Instructions(ins.Row.Node, false); len(at) > 0 {
		v.place += " · instruction " + strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]")
	}
	v.show(ins, rows, nil)
	return nil
}

// at shows an instruction of a program.
func (v *stepView) at(ins *inspect.Instruction, p *tape.Program) { v.show(ins, p.Rows(), p.Stages()) }

// show shows one of the rows, which have stages if they are a program's.
func (v *stepView) show(ins *inspect.Instruction, rows []tape.Row, stages []tape.Stage) {
	v.rows, v.stages, v.ins, v.seen, v.iteration = rows, stages, ins, nil, nil
	for _, q := range ins.Operands {
		v.see("in", q)
	}
	v.shown = len(v.seen) // the result
	v.see("out", ins.Result)
	if n := ins.Owner.Node; n != nil && n.Name() != "" && n.Role() == graph.RoleOp && n.Label() != ins.Row.Node.Label() {
		v.see("of", ins.Owner)
	}
}

// see adds a quantity, with its derivative below it.
func (v *stepView) see(role string, q inspect.Quantity) {
	add := func(role, label string, a tape.Array) {
		v.seen = append(v.seen, seenValue{role, label, a, inspect.StatisticsOf(a, sparkBins)})
	}
	add(role, q.Node.String(), q.Value)
	if q.Gradient != nil && q.AsWritten {
		add(asWritten, adjointText(q.Gradient), q.Slope)
	} else if q.Gradient != nil {
		add(" ∂", adjointText(q.Gradient), q.Slope)
	}
}

// adjointText returns the name of a derivative.
func adjointText(n *graph.Node) string {
	if of, loss := n.AdjointOf(); of != nil && n.Name() == "" {
		return fmt.Sprintf("∂%s/∂%s%v", loss.Label(), of.Label(), n.Shape())
	}
	return n.String()
}

// head returns the title line. It begins with what changes, which is never cut off.
func (v *stepView) head() string { return v.place + " · " + v.title }

// written lists the nodes of the model as written.
func (v *stepView) written() (lines []string) {
	width := 8
	for _, r := range v.rows {
		width = max(width, utf8.RuneCountInString(r.Result))
	}
	width = min(width, 28)
	for i, r := range v.rows {
		pointer := " "
		if i == v.ins.Index {
			pointer = "▶"
		}
		what := r.Op + " " + strings.Join(r.In, ", ")
		if role := r.Node.Role(); role != graph.RoleOp {
			what = role.String()
		}
		lines = append(lines, fmt.Sprintf("%s%4d  %s  %s", pointer, i, fitInto(r.Result, width), what))
	}
	return lines
}

// around cuts a list of lines to a height, 0 for all, around line at.
func around(lines []string, at, height int) ([]string, int) {
	if height > 0 && len(lines) > height {
		from := min(max(at-height/2, 0), len(lines)-height)
		lines, at = lines[from:from+height], at-from
	}
	return lines, at
}

// listing returns at most height lines of the program around the instruction, 0 for all, and the
// index of the instruction's line.
func (v *stepView) listing(height int) (lines []string, at int) {
	if v.stages == nil {
		return around(v.written(), v.ins.Index, height)
	}
	result, flops := 8, 0
	for _, r := range v.rows {
		result, flops = max(result, utf8.RuneCountInString(r.Result)), max(flops, len(shortCount(r.FLOPs)))
	}
	result = min(result, 24)
	for i, r := range v.rows {
		stage := v.stages[r.Stage]
		bracket, first, last := " ", i == 0 || v.rows[i-1].Stage != r.Stage, i+1 == len(v.rows) || v.rows[i+1].Stage != r.Stage
		if stage.Rows > 0 {
			bracket = "│"
			if first {
				lines = append(lines, "      ╭ "+stageText(stage))
			}
		}
		place, mark := fmt.Sprint(r.Offset), " "
		if r.Scratch {
			place = "~" + place
		}
		if r.InPlace {
			mark = "="
		} else if r.Sum {
			mark = "+"
		}
		pointer := " "
		if i == v.ins.Index {
			pointer, at = "▶", len(lines)
		}
		lines = append(lines, fmt.Sprintf("%s%4d %s%8s%s %s %*s  %s %s", pointer, i, bracket, place, mark, fitInto(r.Result, result), flops, shortCount(r.FLOPs), r.Op, strings.Join(r.In, ", ")))
		if stage.Rows > 0 && last {
			lines = append(lines, "      ╰")
		}
	}
	return around(lines, at, height)
}

func stageText(s tape.Stage) string {
	t := fmt.Sprintf("%d rows, %d at a time", s.Rows, s.Block)
	if s.Parts > 1 {
		t += fmt.Sprintf(", sums in %d parts", s.Parts)
	}
	return t
}

// shortCount returns 512, 9.4k, 3.1M.
func shortCount(n int64) string {
	v, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "" {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.3g%s", v, unit)
}

// fitInto pads a text with blanks to a width, or cuts it with an ellipsis.
func fitInto(s string, width int) string {
	return clip(s, width) + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// clip cuts a text that is too wide.
func clip(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:max(0, width-1)]) + "…"
	}
	return s
}

// meaning explains the instruction: the formula of the user's node, and its line.
func (v *stepView) meaning() []string {
	ins, row := v.ins, v.ins.Row
	n := ins.Owner.Node
	var formula string
	switch {
	case ins.Update != nil:
		formula = "new value of " + ins.Update.String()
	case n == nil && row.Node.Role() != graph.RoleOp:
		formula = fmt.Sprintf("%v, %v", row.Node, row.Node.Role())
	case n == nil:
		formula = viz.Formula(row.Node)
	case ins.Backward && ins.Owner.Gradient != nil:
		formula = viz.Formula(ins.Owner.Gradient)
	case n.Role() != graph.RoleOp:
		formula = fmt.Sprintf("%v, %v", n, n.Role())
	default:
		formula = viz.Formula(n)
	}
	if n != nil && ins.Update == nil && !v.whole() { // n is nil for nodes as written
		formula = "part of " + formula
	}
	if ins.Backward && n != nil && ins.Owner.Gradient == nil {
		formula = "for the derivative by " + n.String()
	}
	place := row.Op
	if s := row.Pos.String(); s != "" {
		place += " · " + s
	}
	if row.Scope != "" {
		place += " in " + row.Scope
	}
	switch {
	case v.stages == nil:
		return []string{formula, place}
	case row.Scratch:
		place += " · in scratch"
	default:
		place += fmt.Sprintf(" · offset %d", row.Offset)
	}
	switch {
	case row.InPlace:
		place += ", in place of an operand"
	case row.Sum:
		place += ", summed over the rows"
	}
	place += fmt.Sprintf(" · %d B · %s FLOP", row.Bytes, shortCount(row.FLOPs))
	if row.Body != nil {
		place += " · a loop: enter goes inside"
	}
	return []string{formula, place}
}

// Sizes of the printed page.
const (
	printedWidth  = 110
	printedLines  = 13 // lines of the program
	printedValues = 14
)

// page returns everything as text to print.
func (v *stepView) page() string {
	lines := []string{v.head()}
	if v.note != "" {
		lines = append(lines, v.note)
	}
	program, _ := v.listing(printedLines)
	lines = append(append(append(lines, ""), program...), "")
	lines = append(append(lines, v.meaning()...), "")
	lines = append(append(lines, v.statistics(printedWidth)...), "")
	lines = append(lines, v.values(printedWidth, printedValues)...)
	return strings.Join(lines, "\n") + "\n"
}
