package viz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// loopSummary names what a loop carries, for its box when it is closed: "loop ×12: h, c".
func (v *view) loopSummary(l *loop) string {
	if l.function() {
		return l.title()
	}
	var carried []string
	for _, x := range l.body.Out()[:l.Carries] {
		carried = append(carried, v.stepName(x))
	}
	return fmt.Sprintf("loop ×%d: %s", l.Steps, strings.Join(carried, ", "))
}

// looped names the loop that the formula of a box goes through, where the drawing does not open
// loops: "loop ×12: h, c"; "" if there is none.
func (v *view) looped(n *graph.Node) string {
	if v.options.loops {
		return ""
	}
	seen := map[*graph.Node]bool{}
	var find func(n *graph.Node) *loop
	find = func(n *graph.Node) *loop {
		if l := v.loops[n]; l != nil {
			return l
		}
		for _, x := range n.Inputs() {
			if !v.visible[x] && !seen[x] {
				seen[x] = true
				if l := find(x); l != nil {
					return l
				}
			}
		}
		return nil
	}
	if l := find(n); l != nil {
		return v.loopSummary(l)
	}
	return ""
}

// title returns the title of a loop's module: "loop over t, 12 steps".
func (l *loop) title() string {
	most := ""
	switch {
	case l.function():
		return l.body.Graph().Name()
	case l.Gate > 0:
		most = "at most "
	}
	s := "loop over " + l.time + ", " + most + plural.Count(l.Steps, "step")
	if l.Reverse {
		s += ", from the last"
	}
	return s
}

// stepLabel returns the two lines of the box of a carry as it enters a step, or of a quantity that
// a step computes.
func (v *view) stepLabel(l *loop, n *graph.Node) (first, second string) {
	time, before, after := l.At(0)
	at := func(n *graph.Node, row int) string {
		if l.function() {
			return pictured(expr.Sym(v.stepName(n)))
		}
		return pictured(expr.Sym(v.stepName(n), subscript.Shifted(l.base.time, row)))
	}
	if k, carry := v.enters[n]; carry {
		second = v.axes(n)
		if c, constant := constantOf(v.given[n]); constant || v.vanishes(v.given[n]) {
			second = strings.TrimPrefix(second+", "+pictured(number(c, n.DType()))+" at first", ", ")
		}
		return at(l.body.Out()[k], before-time+l.shift), second
	}
	_, derivative := v.of[n]
	if k := slices.Index(l.body.Out()[:l.Carries], n); k >= 0 {
		first = at(n, after-time+l.shift)
	} else if _, named := v.names[n]; named {
		first = at(n, 0)
		if derivative {
			first = v.stepName(n)
		}
	} else {
		return v.fitted(n, lineLength), n.Op().Name()
	}
	if derivative || l.base != l {
		return first, v.fitted(n, lineLength)
	}
	first += " = "
	return first + v.fitted(n, lineLength-width(first)), v.axes(n)
}

// stepName returns the name of a quantity of a step without scopes, which are the modules around
// it.
func (v *view) stepName(n *graph.Node) string {
	name := v.names.of(n)
	if l := v.inside[n]; l.base == l {
		if at, ok := userName(n); ok {
			return at.Name
		}
		return name
	}
	start := 0 // of the value's name in that of its derivative
	for _, sign := range []string{"∂", "λ"} {
		if i := strings.LastIndex(name, sign); i >= 0 {
			start = max(start, i+len(sign))
		}
	}
	rest := strings.TrimSuffix(name[start:], ")")
	return strings.TrimSuffix(name[:start], "(") + rest[strings.LastIndexByte(rest, '.')+1:]
}

// inTime drops the indices of arrays in the expression of a step but those of time, where the name
// and the time are enough: f_t·c_{t−1}.
func inTime(e expr.Expr, time string) expr.Expr {
	timed := func(s string) bool { return slices.Contains(subscript.Names(s), time) }
	split := func(x expr.Expr) (when, rest []string) {
		for _, s := range x.Subs {
			if timed(s) {
				when = append(when, s)
			} else {
				rest = append(rest, s)
			}
		}
		return when, rest
	}
	places := map[string]string{} // of the elements of an array at a time
	whole := map[string]bool{}    // arrays that need all their indices
	replace(e, func(x expr.Expr) expr.Expr {
		if x.Kind == expr.KindSymbol {
			when, rest := split(x)
			key, at := x.Text+" "+strings.Join(when, " "), strings.Join(rest, " ")
			if was, met := places[key]; met && was != at || slices.ContainsFunc(rest, func(s string) bool { return !slices.Equal(subscript.Names(s), []string{s}) }) {
				whole[x.Text] = true
			}
			places[key] = at
		}
		return x
	})
	return replace(e, func(x expr.Expr) expr.Expr {
		if x.Kind == expr.KindSymbol && !whole[x.Text] {
			x.Subs, _ = split(x)
			x.Subs = slices.DeleteFunc(x.Subs, func(s string) bool { return len(subscript.Names(s)) > 1 }) // the step's part of a longer time
		}
		return x
	})
}

// stepText describes a node in the body of a loop for tooltips.
func (v *view) stepText(l *loop, n *graph.Node) string {
	lines := []string{}
	if k, carry := v.enters[n]; carry {
		first, _ := v.stepLabel(l, n)
		lines = append(lines, first+", as the step before leaves it")
		if e, ok := v.initial(l.body.Out()[k]); ok {
			lines = append(lines, "at first "+e.String())
		}
	} else {
		lines = append(lines, v.equation(n).String(), graph.OpText(n.Op())+", "+n.Type().String())
	}
	lines = append(lines, "in each step of a "+l.title())
	if p := n.First().Pos.String(); p != "" && !v.options.noLines {
		lines = append(lines, p)
	}
	return strings.Join(lines, "\n")
}
