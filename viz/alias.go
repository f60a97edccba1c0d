package viz

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// aliasLength limits the characters that stand for an unnamed value in the formula of another.
const aliasLength = 18

// fitted returns the formula of a node, shortened to limit characters for its box. Unnamed values
// appear by their formulas or, where these would take too much room, by their operations.
func (v *view) fitted(n *graph.Node, limit int) string {
	e := v.abbreviated(n)
	if l := v.stepOf(n); l != nil {
		if own := subscript.Names(v.left[len(v.around(l))]); len(own) > 0 {
			e = rename(inTime(e, own[0]), own[:1], []string{l.base.time})
		}
	} else if v.dense && e.Kind != expr.KindSymbol {
		e = withoutIndices(e)
	}
	s := pictured(fitting(v.told(e, v.alias), limit))
	if !strings.Contains(s, "…") || !v.anonymous(e) {
		return s
	}
	if brief := pictured(fitting(v.told(e, v.opAlias), limit)); strings.Count(brief, "…") < strings.Count(s, "…") {
		return brief
	}
	return s
}

// told replaces numbers of nodes in an expression, %12, by other names.
func (v *view) told(e expr.Expr, name func(*graph.Node) string) expr.Expr {
	return replace(e, func(x expr.Expr) expr.Expr {
		if n := v.numbered(x); n != nil {
			x.Text = name(n)
		}
		return x
	})
}

// anonymous reports whether an expression refers to a node by number.
func (v *view) anonymous(e expr.Expr) bool {
	return v.numbered(e) != nil || slices.ContainsFunc(e.Args, v.anonymous)
}

// numbered returns the node that a symbol refers to by number, or nil.
func (v *view) numbered(x expr.Expr) *graph.Node {
	digits, ok := strings.CutPrefix(x.Text, "%")
	if _, user := v.short[x.Text]; !ok || user || x.Kind != expr.KindSymbol {
		return nil
	}
	id, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(v.cone, id, func(n *graph.Node, id int) int { return n.ID() - id })
	if !found || v.known(v.cone[at]) {
		return nil
	}
	return v.cone[at]
}

// alias returns what a box calls an unnamed value: ∂(z + b) for a derivative, the numbers of a
// constant, otherwise its own formula as far as there is room.
func (v *view) alias(n *graph.Node) string {
	s, ok := v.aliases[n]
	if !ok {
		s = v.newAlias(n)
		v.aliases[n] = s
	}
	return s
}

func (v *view) newAlias(n *graph.Node) string {
	if c, ok := n.Constant(); ok {
		return listed(c, n.DType())
	}
	if trait.LoopBody(n) != nil {
		if n.First().Origin.Kind == graph.FromGrad {
			return "∂loop"
		}
		return "loop"
	}
	if a, ok := firstAdjoint(n); ok {
		return v.by(a) + "(" + v.inShort(a.Of, aliasLength) + ")"
	}
	return "(" + v.inShort(n, aliasLength) + ")"
}

// opAlias returns the shortest name for an unnamed value, its operation: ∂(Add).
func (v *view) opAlias(n *graph.Node) string {
	if a, ok := firstAdjoint(n); ok && n.NumIn() > 0 {
		return v.by(a) + "(" + a.Of.Op().Name() + ")"
	}
	return v.alias(n)
}

func firstAdjoint(n *graph.Node) (graph.Origin, bool) {
	all := adjoints(n)
	if len(all) == 0 {
		return graph.Origin{}, false
	}
	return all[0], true
}

// by returns the beginning of a derivative's name in a formula; it has the loss if there are
// several.
func (v *view) by(a graph.Origin) string {
	if len(v.losses) == 1 {
		return "∂"
	}
	return "∂" + grouped(v.lossName(a.Loss)) + "/∂"
}

// inShort returns the formula of a node in at most limit characters or, if nothing meaningful
// fits, the name of its operation.
func (v *view) inShort(n *graph.Node, limit int) string {
	s := v.fitted(n, limit)
	if width(s) > limit || !strings.ContainsFunc(s, unicode.IsLetter) {
		return n.Op().Name()
	}
	return s
}

// listed returns [0 1 2 3], or [0 1 … 7] for more numbers.
func listed(c graph.Value, d graph.DType) string {
	var parts []string
	for i, x := range c.Data {
		if skip := len(c.Data) > 4 && i > 1 && i < len(c.Data)-1; !skip {
			parts = append(parts, pictured(number(x, d)))
		} else if i == 2 {
			parts = append(parts, "…")
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}
