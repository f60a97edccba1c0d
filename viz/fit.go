package viz

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// fitting shortens an expression so that it prints in limit characters. It first drops
// subscripts, as lectures do for arrays, then puts … for parts, the inner and later ones first,
// until only the outermost operation is left.
func fitting(e expr.Expr, limit int) expr.Expr {
	fits := func(e expr.Expr) bool { return width(pictured(e)) <= limit }
	if fits(e) {
		return e
	}
	e = withoutIndices(e)
	if !fits(e) {
		e = replace(e, bareCall)
	}
	p := newPart(e)
	for p.lowest < p.height && (p.width > limit || !fits(p.expr())) {
		p.elide(p.lowest)
	}
	e = p.expr()
	if e.Kind == expr.KindCall && !fits(e) {
		elided := func(e expr.Expr) bool { p := newPart(e); return p.isElided() }
		e.Args = slices.CompactFunc(slices.Clone(e.Args), func(a, b expr.Expr) bool { return elided(a) && elided(b) })
		for len(e.Args) > 1 && !fits(e) {
			last := len(e.Args) - 1
			if elided(e.Args[last]) {
				last--
			}
			e.Args = append(e.Args[:last], expr.Sym("…"))
		}
	}
	return e
}

// withoutIndices drops the subscripts of arrays, if the name of each is enough.
func withoutIndices(e expr.Expr) expr.Expr {
	if !oneElementEach(e) {
		return e
	}
	return replace(e, func(x expr.Expr) expr.Expr {
		switch x.Kind {
		case expr.KindSymbol:
			x.Subs = nil
		case expr.KindElement:
			return x.Args[0]
		}
		return x
	})
}

// ownWidth returns a lower bound on the characters that an expression adds to those of its parts.
// It is quick to compute, and shows that most expressions are too long.
func ownWidth(e expr.Expr) int {
	switch {
	case e.Kind == expr.KindNumber, e.Kind == expr.KindSymbol && width(strings.TrimSpace(e.Text)) > 0:
		return 1
	case e.Kind == expr.KindCall && e.Text != "√": // two brackets at least
		return 2
	}
	return 0
}

// bareCall removes the indices that a call runs along, unless the call is about them, and the
// numbers and attributes that configure it.
func bareCall(e expr.Expr) expr.Expr {
	if e.Kind != expr.KindCall || strings.Contains(e.Text, "softmax") || e.Text == "sparsemax" {
		return e
	}
	e.Subs = nil
	e.Text, _, _ = strings.Cut(e.Text, "{")
	for len(e.Args) > 1 && e.Text != "max" && e.Text != "min" && e.Text != "concat" && e.Args[len(e.Args)-1].Kind == expr.KindNumber {
		e.Args = e.Args[:len(e.Args)-1]
	}
	return e
}

// oneElementEach reports whether all elements of an array in an expression have the same indices,
// so that the name of the array is enough.
func oneElementEach(e expr.Expr) bool {
	at := map[string]string{}
	same := true
	replace(e, func(x expr.Expr) expr.Expr {
		if x.Kind == expr.KindSymbol {
			subs := strings.Join(x.Subs, " ")
			if s, met := at[x.Text]; met && s != subs || strings.ContainsAny(subscript.Text(subs), "+−") {
				same = false
			}
			at[x.Text] = subs
		}
		return x
	})
	return same
}

// part is an expression that is shortened in place.
type part struct {
	expr.Expr        // without Args
	args      []part // operands
	height    int
	lowest    int // the least height of the operations inside
	width     int // leastWidth
}

func newPart(e expr.Expr) part {
	p := part{Expr: e, args: make([]part, len(e.Args))}
	for i, a := range e.Args {
		p.args[i] = newPart(a)
	}
	p.Args = nil
	p.measure()
	return p
}

// expr returns the expression of a part.
func (p *part) expr() expr.Expr {
	e := p.Expr
	if len(p.args) > 0 {
		e.Args = make([]expr.Expr, len(p.args))
		for i := range p.args {
			e.Args[i] = p.args[i].expr()
		}
	}
	return e
}

// measure measures a part whose own parts have been measured.
func (p *part) measure() {
	p.height, p.lowest, p.width = 0, math.MaxInt, ownWidth(p.Expr)
	for i := range p.args {
		a := &p.args[i]
		p.height, p.width = max(p.height, a.height), p.width+a.width
		if a.isOperation() {
			p.lowest = min(p.lowest, a.lowest)
		}
	}
	p.height++
	p.lowest = min(p.lowest, p.height)
}

// isOperation reports whether a part has operands that could be left out.
func (p *part) isOperation() bool { return len(p.args) > 0 && !p.isFraction() && !p.isElided() }

// isElided reports whether a part is … or −….
func (p *part) isElided() bool {
	if p.Kind == expr.KindNeg {
		p = &p.args[0]
	}
	return p.Text == "…" || p.Text == "(…)"
}

func (p *part) isFraction() bool {
	return p.Kind == expr.KindDiv && p.args[0].Kind == expr.KindNumber && p.args[1].Kind == expr.KindNumber
}

// elide puts … for the last part of height h.
func (p *part) elide(h int) {
	for i := len(p.args) - 1; i >= 0; i-- {
		a := &p.args[i]
		if !a.isOperation() || a.lowest != h {
			continue
		}
		head := a.Kind == expr.KindCall || a.Kind == expr.KindBig
		switch {
		case a.height != h:
			a.elide(h)
		case a.Kind == expr.KindNeg, head && !slices.ContainsFunc(a.args, func(x part) bool { return x.isElided() }):
			a.args = []part{newPart(expr.Sym("…"))}
			a.measure()
		case a.Kind == expr.KindAdd && (p.Kind == expr.KindMul || p.Kind == expr.KindPower || p.Kind == expr.KindDiv):
			*a = newPart(expr.Sym("(…)"))
		default:
			*a = newPart(expr.Sym("…"))
		}
		break
	}
	if p.Kind == expr.KindMul || p.Kind == expr.KindAdd {
		p.args = slices.CompactFunc(p.args, func(a, b part) bool { return a.isElided() && b.isElided() })
		if len(p.args) == 1 {
			*p = p.args[0]
			return
		}
	}
	p.measure()
}

// width returns the number of characters that take room; combining ones and marks do not.
func width(s string) int {
	n := 0
	for _, r := range figure.Unmarked(s) {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			n++
		}
	}
	return n
}
