package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Matrices that a formula writes whole.

// array writes the array of the elements K_ij as K, and of K_ji as Kᵀ: what comes before the array's own
// indices stays.
func (p printer) array(e expr.Expr) (string, int) {
	if factors := matrixFactors(e); len(factors) > 1 {
		return p.product(factors)
	}
	a := e.Args[0]
	if a.Kind == expr.KindSymbol || a.Kind == expr.KindElement {
		rest := len(a.Subs) - len(e.Subs)
		short := a
		if short.Subs = nil; rest > 0 {
			short.Subs = a.Subs[:rest]
		}
		if a.Kind == expr.KindElement && rest <= 0 {
			short = a.Args[0]
		}
		switch {
		case len(a.Subs) == 0, rest >= 0 && slices.Equal(a.Subs[rest:], e.Subs):
			return p.bound(short)
		case rest >= 0 && len(e.Subs) == 2 && a.Subs[rest] == e.Subs[1] && a.Subs[rest+1] == e.Subs[0]:
			return p.bound(short.Pow(expr.Sym("⊤")))
		}
	}
	return p.below("["+p.print(a, bare)+"]", e.Subs), rising + 1
}

// matrixFactors returns the factors of which an array is the matrix product: those of Σ_k L_ik·L_jk over i
// and j are L and Lᵀ. An array that is none, and any other expression, is its own factor.
func matrixFactors(e expr.Expr) []expr.Expr {
	if e.Kind != expr.KindArray || len(e.Subs) > 2 || e.Args[0].Kind != expr.KindBig {
		return []expr.Expr{e}
	}
	sum := e.Args[0]
	if sum.Text != "Σ" || len(sum.Subs) != 1 || sum.Args[0].Kind != expr.KindMul || len(sum.Args[0].Args) != 2 {
		return []expr.Expr{e}
	}
	// over reports whether the last subscripts of a factor are some, in any order.
	over := func(a expr.Expr, subs ...string) bool {
		rest := len(a.Subs) - len(subs)
		if a.Kind != expr.KindSymbol && a.Kind != expr.KindElement || rest < 0 {
			return false
		}
		for _, s := range subs {
			if !slices.Contains(a.Subs[rest:], s) {
				return false
			}
		}
		return !slices.Contains(a.Subs[:rest], sum.Subs[0]) && !slices.ContainsFunc(e.Subs, func(s string) bool { return slices.Contains(a.Subs[:rest], s) })
	}
	row, within, right := e.Subs[0], sum.Subs[0], append([]string{sum.Subs[0]}, e.Subs[1:]...)
	a, b := sum.Args[0].Args[0], sum.Args[0].Args[1]
	if !over(a, row, within) || !over(b, right...) {
		a, b = b, a
	}
	if !over(a, row, within) || !over(b, right...) {
		return []expr.Expr{e}
	}
	return []expr.Expr{expr.Array(a, row, within), expr.Array(b, right...)}
}

// product writes factors; a sum sign may stand last without parentheses.
func (p printer) product(factors []expr.Expr) (string, int) {
	parts := make([]string, len(factors))
	binding := timing
	for i, f := range factors {
		last := i == len(factors)-1
		switch {
		case f.Kind == expr.KindBig && last && i > 0:
			parts[i] = p.print(f, negating)
			binding = negating // nothing may follow
		case f.Kind == expr.KindDiv && i > 0:
			s, b := p.bound(f)
			if b <= timing {
				s = p.group(s)
			}
			parts[i] = s
		default:
			parts[i] = p.print(f, timing)
		}
	}
	return strings.Join(parts, p.times()), binding
}
