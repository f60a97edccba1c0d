package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// free lists the indices of an expression that are not bound in it, in order of appearance.
// Unlike [expr.Expr.Free] it knows that f_j(…) has the index j.
func free(e expr.Expr) []string {
	var out []string
	var walk func(e expr.Expr, bound []string)
	walk = func(e expr.Expr, bound []string) {
		if binds(e) {
			bound = append(slices.Clip(bound), e.Subs...)
		} else {
			for _, index := range e.Subs {
				for _, s := range subscript.Names(index) {
					if !slices.Contains(bound, s) && !slices.Contains(out, s) {
						out = append(out, s)
					}
				}
			}
		}
		for _, a := range e.Args {
			walk(a, bound)
		}
	}
	walk(e, nil)
	return out
}

// binds reports whether the indices of an expression are bound in it.
func binds(e expr.Expr) bool { return e.Kind == expr.KindBig || e.Kind == expr.KindArray }

// rename replaces free indices, all at once; "" removes one. Bound indices are unique, so none
// can be captured.
func rename(e expr.Expr, from, to []string) expr.Expr {
	if len(from) == 0 {
		return e
	}
	if !binds(e) {
		var subs []string
		for _, s := range e.Subs {
			if s = renamed(s, from, to); s != "" {
				subs = append(subs, s)
			}
		}
		e.Subs = subs
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = rename(e.Args[i], from, to)
	}
	return e
}

// renamed returns an index with the names in it replaced.
func renamed(index string, from, to []string) string {
	return subscript.Rename(index, func(s string) string {
		if i := slices.Index(from, s); i >= 0 {
			return to[i]
		}
		return s
	})
}

// readable names bound indices differently from everything around them, writes sums of squares as
// norms where that says the same, and turns indices that stand for numbers into symbols.
func readable(e expr.Expr, taken []string) expr.Expr {
	for _, s := range free(e) {
		if !slices.Contains(taken, s) {
			taken = append(slices.Clip(taken), s)
		}
	}
	return named(e, taken)
}

func named(e expr.Expr, taken []string) expr.Expr {
	if e.Kind == expr.KindSymbol && e.Text == "" {
		return expr.Sym(subscript.Text(strings.Join(e.Subs, "")))
	}
	if v, ok := norm(e); ok {
		return expr.Norm2(named(v, taken))
	}
	e.Args = slices.Clone(e.Args)
	if binds(e) {
		taken = slices.Clone(taken)
		to := make([]string, len(e.Subs))
		for i, s := range e.Subs {
			to[i] = newIndex(s, taken)
			taken = append(taken, to[i])
		}
		e.Args[0] = rename(e.Args[0], e.Subs, to)
		e.Subs = to
	}
	for i := range e.Args {
		e.Args[i] = named(e.Args[i], taken)
	}
	return e
}

// newIndex names a bound index: after its axis or, if that is taken, by a free letter of its kind
// (j → l, m, n; d → f, g, h; e is a number), or else j′.
func newIndex(tag string, taken []string) string {
	base, _, _ := strings.Cut(tag, "#")
	if base != "" && !slices.Contains(taken, base) {
		return base
	}
	letters := ""
	switch {
	case base == "" || base >= "i" && base <= "n":
		letters = "lmnpqstuvw"
	case strings.Contains("abcdfg", base):
		letters = "abcdfgh"[strings.IndexAny("abcdfgh", base)+1:]
	}
	for _, r := range letters {
		if len(base) <= 1 && !slices.Contains(taken, string(r)) {
			return string(r)
		}
	}
	for base += "′"; slices.Contains(taken, base); {
		base += "′"
	}
	return base
}

// norm returns v if e is Σ_d v_d², v consists of vectors alone, and d can be left out without
// ambiguity because it is the last index of each vector.
func norm(e expr.Expr) (v expr.Expr, ok bool) {
	if e.Kind != expr.KindBig || e.Text != "Σ" || len(e.Subs) != 1 {
		return v, false
	}
	if p := e.Args[0]; p.Kind == expr.KindPower && p.Args[1].Text == "2" && isVector(p.Args[0], e.Subs[0]) {
		return rename(p.Args[0], e.Subs, []string{""}), true
	}
	return v, false
}

// isVector reports whether e is a vector over index d: a sum of vectors, or a
// vector times numbers.
func isVector(e expr.Expr, d string) bool {
	switch e.Kind {
	case expr.KindSymbol:
		k := slices.Index(e.Subs, d)
		return e.Text != "" && k >= 0 && k == len(e.Subs)-1
	case expr.KindAdd:
		return !slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return !isVector(a, d) })
	case expr.KindNeg, expr.KindBig:
		return isVector(e.Args[0], d) && (e.Kind == expr.KindNeg || e.Text == "Σ" || e.Text == "mean")
	case expr.KindMul, expr.KindDiv:
		vectors := 0
		for i, a := range e.Args {
			if slices.Contains(free(a), d) {
				vectors++
				if !isVector(a, d) || e.Kind == expr.KindDiv && i > 0 {
					return false
				}
			}
		}
		return vectors == 1
	}
	return false
}
