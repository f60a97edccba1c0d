package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/inspect"
)

// whole reports whether the instruction computes what it belongs to, and not only a
// part of it.
func (v *stepView) whole() bool {
	n, owner := v.ins.Row.Node, v.ins.Owner.Node
	if v.ins.Backward {
		n, _ = n.AdjointOf()
	}
	return n != nil && n.Label() == owner.Label()
}

// statistics is a line for each value that belongs to the instruction, below a line
// of headings.
func (v *stepView) statistics(width int) []string {
	labels := 8
	for _, q := range v.seen {
		labels = max(labels, utf8.RuneCountInString(q.label))
	}
	// a narrow screen has no room for the histograms, or for the deviations either
	bars, std, room := true, true, width-61
	if room < min(labels, 12) {
		bars, room = false, width-50
	}
	if room < min(labels, 12) {
		std, room = false, width-41
	}
	labels = max(8, min(labels, room))
	line := func(mark, role, label string, few []string, remark, spark string) string {
		if !std {
			few = few[:3]
		}
		s := fmt.Sprintf("%s%-4s %s", mark, role, fitInto(label, labels))
		for _, x := range few {
			s += fmt.Sprintf(" %8s", x)
		}
		s += fmt.Sprintf(" %7s", remark)
		if bars {
			s += " " + spark
		}
		return strings.TrimRight(s, " ")
	}
	lines := []string{line(" ", "", "", []string{"min", "mean", "max", "std"}, "", "")}
	for i, q := range v.seen {
		mark, s := " ", q.stats
		if i == v.shown {
			mark = "▸"
		}
		few := make([]string, 4)
		switch {
		case s.Finite == 0:
		case s.Min == s.Max:
			few[0] = cell(s.Min)
		default:
			few = []string{cell(s.Min), cell(s.Mean), cell(s.Max), cell(s.Std)}
		}
		spark := s.Spark()
		if s.Count == 1 {
			spark = ""
		}
		lines = append(lines, line(mark, q.role, q.label, few, remark(s), spark))
	}
	if slices.ContainsFunc(v.seen, func(q seenValue) bool { return q.role == asWritten }) {
		lines = append(lines, "      ∂* as the model is written: the program does not compute it by itself")
	}
	return lines
}

// cell is a number in at most eight places, of three digits where that allows it.
func cell(v float64) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if v == math.Trunc(v) && math.Abs(v) < 1e7 {
		s = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if len(s) > 8 {
		s = strconv.FormatFloat(v, 'g', 2, 64)
	}
	return s
}

// remark is what else there is to say of a value: what is not finite, or else how
// much of it is zero.
func remark(s inspect.Statistics) string {
	switch inf := s.PosInf + s.NegInf; {
	case s.NaN > 0:
		return shortCount(int64(s.NaN)) + " NaN"
	case inf > 0:
		return shortCount(int64(inf)) + " Inf"
	case s.Zeros > 0 && s.Count > 1:
		return shortCount(int64(s.Zeros)) + "×0"
	}
	return ""
}

// values writes the chosen value out, in as many columns as there is room for.
func (v *stepView) values(width, height int) []string {
	q, w := v.seen[v.shown], v.window
	w.Rows = max(1, height-2)
	var text string
	for w.Columns = max(1, min(20, (width-6)/4)); w.Columns >= 1; w.Columns-- {
		text = inspect.Values(strings.SplitN(q.label, "[", 2)[0], q.value, w)
		widest := 0
		for line := range strings.Lines(text) {
			widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
		}
		if widest <= width {
			break
		}
	}
	v.window.Columns = max(1, w.Columns)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[:min(len(lines), max(1, height))]
}
