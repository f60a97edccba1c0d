package viz

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// template is an operation's Notation over marked operands while it is turned into an expression.
type template struct {
	*unfolder
	y     *graph.Node
	shape *graph.Node // y, or a copy of it whose axes all have names
	in    [][]string
}

// written asks the operation. If an operand has an axis without a name, which the notation of an
// operation along axes cannot show, the operation is written as a call with its attributes.
func (t *template) written(marks []expr.Expr) expr.Expr {
	text := graph.OpText(t.y.Op())
	call := expr.Call(text, marks...)
	op, ok := t.y.Op().(trait.Notated)
	if !ok {
		return call
	}
	if ofLoop(t.y) {
		return op.Notation(t.y, marks)
	}
	if len(marks) > 0 {
		switch _, same := aligned(t.y, 0); {
		case same && isLayout(t.y):
			return marks[0]
		case same:
			return op.Notation(t.y, marks)
		}
	}
	e := op.Notation(t.shape, marks)
	if e.Kind == expr.KindCall && len(e.Subs) > 0 || e.Kind == expr.KindElement || e.Kind == expr.KindProduct { // it says along which axes
		return e
	}
	for k := range marks {
		if !has(e, marks[k].Text) {
			continue // a solution is written as where the iteration ended
		}
		for i, s := range t.in[k] {
			x := t.y.In(k)
			if s != "" || x.Dim(i) == 1 {
				continue
			}
			whole := e.Kind == expr.KindCall && (t.y.Rank() == 0 || text == t.y.Op().Name())
			if whole || match.Is(t.y, match.Transpose) && x.Rank() == 2 {
				return e
			}
			return call
		}
	}
	return e
}

// has reports whether a symbol is part of an expression.
func has(e expr.Expr, symbol string) bool {
	return e.Kind == expr.KindSymbol && e.Text == symbol || slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return has(a, symbol) })
}

// ofLoop reports whether a node is a loop or one of its results, a slice of the loop's value in
// its own shape. Neither has the axes that a step has.
func ofLoop(n *graph.Node) bool {
	for _, op := range []match.Kind{match.Reshape, match.Slice} {
		if n.NumIn() == 1 && match.Is(n, op) {
			n = n.In(0)
		}
	}
	return trait.LoopBody(n) != nil
}

// isLayout reports whether an operation only changes the layout of its operand's elements, or gives
// them to all lanes of a step.
func isLayout(n *graph.Node) bool {
	if n.NumIn() != 1 {
		return false
	}
	switch match.KindOf(n) {
	case match.Reshape, match.Broadcast, match.Transpose, match.CopyRanks:
		return true
	}
	return false
}

// bind makes the bound indices of a template unique, writes norms as sums, and turns an axis name
// used as a number (as OneHot does) into an index.
func (t *template) bind(e expr.Expr) expr.Expr {
	switch {
	case e.Kind == expr.KindNorm:
		lost := t.lost(e)
		square := t.restore(e.Args[0]).Pow(expr.Num(2))
		if len(lost) == 0 {
			return t.bind(square)
		}
		return t.bind(expr.Big("Σ", lost, square))
	case e.Kind == expr.KindSymbol && len(e.Subs) == 0 && t.shape.Shape().Index(e.Text) >= 0:
		return expr.Sym("", e.Text)
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = t.bind(e.Args[i])
	}
	if binds(e) {
		to := make([]string, len(e.Subs))
		for i, s := range e.Subs {
			to[i] = t.fresh(s, t.sizeOf(s))
		}
		e.Args[0] = rename(e.Args[0], e.Subs, to)
		e.Subs = to
	}
	return e
}

// sizeOf returns the size of the operands' axis s.
func (t *template) sizeOf(s string) int {
	size := 1
	for i := range t.shape.NumIn() {
		if x := t.shape.In(i); x.Shape().Index(s) >= 0 {
			size = max(size, x.Dim(x.Shape().Index(s)))
		}
	}
	return size
}

// mark returns the operand that a symbol stands for.
func mark(e expr.Expr) (k int, ok bool) {
	s, ok := strings.CutPrefix(e.Text, "\x00")
	if !ok || e.Kind != expr.KindSymbol {
		return 0, false
	}
	k, err := strconv.Atoi(s)
	return k, err == nil
}

// lost lists the indices that a norm's operands no longer show.
func (t *template) lost(e expr.Expr) []string {
	var out []string
	if k, ok := mark(e); ok {
		for _, s := range t.in[k] {
			if s != "" && !slices.Contains(e.Subs, s) {
				out = append(out, s)
			}
		}
	}
	for _, a := range e.Args {
		for _, s := range t.lost(a) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// restore shows all indices of the operands again.
func (t *template) restore(e expr.Expr) expr.Expr {
	if k, ok := mark(e); ok {
		return place(k, t.in[k])
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = t.restore(e.Args[i])
	}
	return e
}

// fill replaces the marks by the operands' expressions.
func (t *template) fill(e expr.Expr) expr.Expr {
	if k, ok := mark(e); ok {
		if e, ok := root(t.y, k); ok {
			return e
		}
		return t.operand(t.y.In(k), matchIndices(t.in[k], e.Subs))
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = t.fill(e.Args[i])
	}
	return e
}

// matchIndices pairs the indices that axes had with those that they have now. An operation may
// rename or remove indices.
func matchIndices(had, now []string) []string {
	out := make([]string, len(had))
	var axes []int
	for i, s := range had {
		if s != "" {
			axes = append(axes, i)
		}
	}
	if len(axes) == len(now) {
		for i, a := range axes {
			out[a] = now[i]
		}
		return out
	}
	for _, a := range axes {
		if slices.Contains(now, had[a]) {
			out[a] = had[a]
		}
	}
	return out
}
