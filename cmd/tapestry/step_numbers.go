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

// whole reports whether the instruction computes its owner completely, not only a part of it.
func (v *stepView) whole() bool {
	n, owner := v.ins.Row.Node, v.ins.Owner.Node
	if v.ins.Backward {
		n, _ = n.AdjointOf()
	}
	return n != nil && n.Label() == owner.Label()
}

// statistics returns a line for each value of the instruction, below a line of headings.
func (v *stepView) statistics(width int) []string {
	labels := 8
	for _, q := range v.seen {
		labels = max(labels, utf8.RuneCountInString(q.label))
	}
	// a narrow screen has no room for histograms, and a very narrow one none for deviations
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

// cell returns a number in at most eight characters, with three digits if they fit.
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

// remark says what is not finite in a value or, if all is finite, how much of it is zero.
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

// values returns the selected value written out, in as many columns as fit.
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
