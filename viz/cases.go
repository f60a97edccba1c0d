package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// compared decides a comparison of numbers, and returns others as they are.
func compared(e expr.Expr) expr.Expr {
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

// called simplifies max, min and ¬ of known values.
func called(e expr.Expr) expr.Expr {
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

// negated returns the mask that holds where m does not. For NaN, neither a comparison nor its
// negation holds; this is ignored here.
func negated(m expr.Expr) expr.Expr {
	if m.Kind == expr.KindCall && m.Text == "¬" {
		return m.Args[0]
	}
	if m.Kind == expr.KindBracket {
		a, b := m.Args[0], m.Args[1]
		not := func(sign string, a, b expr.Expr) expr.Expr {
			return expr.Expr{Kind: expr.KindBracket, Text: sign, Args: []expr.Expr{a, b}}
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
	return expr.Call("¬", m)
}

// cases simplifies a choice under a mask. A branch does not ask again for the mask that leads to
// it, a choice between a value and 0 becomes a product with the mask, and a leaky relu becomes a
// maximum.
func (u *unfolder) cases(e expr.Expr) expr.Expr {
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
	case key(a) == zero && m.Kind == expr.KindBracket:
		return expr.Cases(negated(m), b, a)
	case leaky(m, a, b):
		return expr.Call("max", a, b)
	}
	if a.Kind == expr.KindCases && key(a.Args[2]) == key(b) {
		both := expr.Expr{Kind: expr.KindBracket, Text: "∧", Args: []expr.Expr{m, a.Args[0]}}
		return expr.Cases(both, a.Args[1], b)
	}
	return expr.Cases(m, a, b)
}

// assume replaces a mask by its known value. A sum or function over an index of the mask is left
// as it is, because it also looks where the mask has the other value.
func assume(e, mask expr.Expr, holds bool) (out expr.Expr, changed bool) {
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
	if binds(e) || e.Kind == expr.KindCall || e.Kind == expr.KindElement {
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

// zeroAnyway reports whether b is a square root that is 0 where the mask holds.
func zeroAnyway(m, b expr.Expr) bool {
	return m.Kind == expr.KindBracket && m.Text == "=" && key(m.Args[1]) == key(decimal(0)) &&
		b.Kind == expr.KindCall && b.Text == "√" && key(b.Args[0]) == key(m.Args[0])
}

// leaky reports whether a choice is a if 0 < a, else k·a, with k below 1.
func leaky(m, a, b expr.Expr) bool {
	if m.Kind != expr.KindBracket || m.Text != "<" || key(m.Args[0]) != key(decimal(0)) || key(m.Args[1]) != key(a) {
		return false
	}
	p := productOf(b)
	k := p.num / p.den
	p.num, p.den = 1, 1
	return !p.neg && k > 0 && k < 1 && key(p.expr()) == key(productOf(a).expr())
}

// defined reports whether an expression is finite for all values of its parts, so that
// multiplying it by 0 gives 0.
func defined(e expr.Expr) bool {
	switch e.Kind {
	case expr.KindSymbol:
		beyond := func(s string) bool { return strings.ContainsAny(subscript.Text(s), "−+") } // t−1 does not exist for t = 0, nor t+1 for the last t
		return e.Text != "∞" && e.Text != "NaN" && !slices.ContainsFunc(e.Subs, beyond)
	case expr.KindDiv:
		v, ok := valueOf(e.Args[1])
		if !ok || v == 0 {
			return false
		}
	case expr.KindPower:
		if v, ok := valueOf(e.Args[1]); !(ok && v > 0) && e.Args[0].Text != "e" {
			return false
		}
	case expr.KindCall:
		if e.Text == "log" || e.Text == "log|" || e.Text == "√" || e.Text == "gather" {
			return false
		}
	}
	return !slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return !defined(a) })
}
