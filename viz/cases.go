package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// compared is a comparison, decided where it is one of numbers.
func compared(e graph.Expr) graph.Expr {
	a, isA := valueOf(e.Args[0])
	b, isB := valueOf(e.Args[1])
	holds := false
	switch e.Text {
	case "<":
		holds = a < b
	case "≤":
		holds = a <= b
	case "=":
		holds = a == b
	case "≠":
		holds = a != b
	default:
		return e
	}
	switch {
	case !isA || !isB:
		return e
	case holds:
		return decimal(1)
	}
	return decimal(0)
}

// called is max, min or ¬ of what is known.
func called(e graph.Expr) graph.Expr {
	switch {
	case e.Text == "¬" && len(e.Args) == 1:
		return negated(e.Args[0])
	case (e.Text == "max" || e.Text == "min") && len(e.Args) == 2 && len(e.Subs) == 0:
		a, isA := valueOf(e.Args[0])
		b, isB := valueOf(e.Args[1])
		if isA && isB {
			if e.Text == "max" {
				return decimal(max(a, b))
			}
			return decimal(min(a, b))
		}
	}
	return e
}

// negated is the mask that holds where m does not. Where something is not a
// number no comparison holds, and this one does not tell.
func negated(m graph.Expr) graph.Expr {
	if m.Kind == graph.ExprCall && m.Text == "¬" {
		return m.Args[0]
	}
	if m.Kind == graph.ExprBracket {
		a, b := m.Args[0], m.Args[1]
		not := func(sign string, a, b graph.Expr) graph.Expr {
			return graph.Expr{Kind: graph.ExprBracket, Text: sign, Args: []graph.Expr{a, b}}
		}
		switch m.Text {
		case "<":
			return not("≤", b, a)
		case "≤":
			return not("<", b, a)
		case "=":
			return not("≠", a, b)
		case "≠":
			return not("=", a, b)
		}
	}
	return graph.Call("¬", m)
}

// cases is a choice under a mask, simplified: a branch does not ask again for the
// mask that leads to it, a choice between a value and 0 is a product with the
// mask, and the leaky relu a maximum.
func (u *unfolder) cases(e graph.Expr) graph.Expr {
	m := e.Args[0]
	if v, ok := valueOf(m); ok && v != 0 {
		return e.Args[1]
	} else if ok {
		return e.Args[2]
	}
	a, b := e.Args[1], e.Args[2]
	if s, changed := assume(a, m, true); changed {
		a = u.simplify(s)
	}
	if s, changed := assume(b, m, false); changed {
		b = u.simplify(s)
	}
	zero, one := key(decimal(0)), key(decimal(1))
	switch {
	case key(a) == key(b):
		return a
	case key(a) == one && key(b) == zero:
		return m
	case key(b) == zero && defined(a):
		return productOf(m.Times(a)).expr()
	case key(a) == zero && zeroAnyway(m, b):
		return b
	case key(a) == zero && defined(b):
		return productOf(negated(m).Times(b)).expr()
	case key(a) == zero && m.Kind == graph.ExprBracket:
		return graph.Cases(negated(m), b, a)
	case leaky(m, a, b):
		return graph.Call("max", a, b)
	}
	if a.Kind == graph.ExprCases && key(a.Args[2]) == key(b) {
		both := graph.Expr{Kind: graph.ExprBracket, Text: "∧", Args: []graph.Expr{m, a.Args[0]}}
		return graph.Cases(both, a.Args[1], b)
	}
	return graph.Cases(m, a, b)
}

// assume replaces a mask by what it is known to be. A sign or function over an
// index of the mask looks also where the mask differs, so it is left as it is.
func assume(e, mask graph.Expr, holds bool) (out graph.Expr, changed bool) {
	switch key(e) {
	case key(mask):
		if holds {
			return decimal(1), true
		}
		return decimal(0), true
	case key(negated(mask)):
		if holds {
			return decimal(0), true
		}
		return decimal(1), true
	}
	if e.Kind == graph.ExprBig || e.Kind == graph.ExprCall {
		if slices.ContainsFunc(free(mask), func(s string) bool { return slices.Contains(e.Subs, s) }) {
			return e, false
		}
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		var c bool
		e.Args[i], c = assume(e.Args[i], mask, holds)
		changed = changed || c
	}
	return e, changed
}

// zeroAnyway reports whether b is a root that is 0 where the mask holds.
func zeroAnyway(m, b graph.Expr) bool {
	return m.Kind == graph.ExprBracket && m.Text == "=" && key(m.Args[1]) == key(decimal(0)) &&
		b.Kind == graph.ExprCall && b.Text == "√" && key(b.Args[0]) == key(m.Args[0])
}

// leaky reports whether a choice is a if 0 < a, else k·a, with k below 1.
func leaky(m, a, b graph.Expr) bool {
	if m.Kind != graph.ExprBracket || m.Text != "<" || key(m.Args[0]) != key(decimal(0)) || key(m.Args[1]) != key(a) {
		return false
	}
	p := productOf(b)
	k := p.num / p.den
	p.num, p.den = 1, 1
	return !p.neg && k > 0 && k < 1 && key(p.expr()) == key(productOf(a).expr())
}

// defined reports whether an expression is a number for all values of what is in
// it, so that it may be multiplied by 0 instead of being left out.
func defined(e graph.Expr) bool {
	switch e.Kind {
	case graph.ExprSymbol:
		beyond := func(s string) bool { return strings.ContainsAny(graph.IndexText(s), "−+") } // t−1 is no place for t = 0, nor t+1 for the last
		return e.Text != "∞" && e.Text != "NaN" && !slices.ContainsFunc(e.Subs, beyond)
	case graph.ExprDiv:
		v, ok := valueOf(e.Args[1])
		if !ok || v == 0 {
			return false
		}
	case graph.ExprPower:
		if v, ok := valueOf(e.Args[1]); !(ok && v > 0) && e.Args[0].Text != "e" {
			return false
		}
	case graph.ExprCall:
		if e.Text == "log" || e.Text == "√" || e.Text == "gather" {
			return false
		}
	}
	return !slices.ContainsFunc(e.Args, func(a graph.Expr) bool { return !defined(a) })
}
