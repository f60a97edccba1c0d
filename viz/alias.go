package viz

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// aliasLength is the number of characters of what stands for a value without a name in
// the formula of another.
const aliasLength = 18

// fitted is the formula of a node as a box of so many characters shows it. Where what
// stands for values without a name takes the room of the rest, it is their operations.
func (v *view) fitted(n *graph.Node, limit int) string {
	e := v.abbreviated(n)
	s := Unicode(fitting(v.told(e, v.alias), limit))
	if !strings.Contains(s, "…") || !v.anonymous(e) {
		return s
	}
	if brief := Unicode(fitting(v.told(e, v.opAlias), limit)); strings.Count(brief, "…") < strings.Count(s, "…") {
		return brief
	}
	return s
}

// told writes what an expression calls by number, %12, by another name.
func (v *view) told(e expr.Expr, name func(*graph.Node) string) expr.Expr {
	return replace(e, func(x expr.Expr) expr.Expr {
		if n := v.numbered(x); n != nil {
			x.Text = name(n)
		}
		return x
	})
}

// anonymous reports whether an expression calls something by number.
func (v *view) anonymous(e expr.Expr) bool {
	return v.numbered(e) != nil || slices.ContainsFunc(e.Args, v.anonymous)
}

// numbered is the node that a symbol calls by its number, or nil.
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

// alias is what a value without a name is called in a box: ∂(z + b) for a derivative, the
// numbers of a constant, or else its own formula, as far as there is room for it.
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
	if n.Body() != nil {
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

// opAlias is the shortest name of a value that has none: ∂(Add), by its operation.
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

// by is how the name of a derivative in a formula begins: with the loss where there are
// several.
func (v *view) by(a graph.Origin) string {
	if len(v.losses) == 1 {
		return "∂"
	}
	return "∂" + grouped(v.lossName(a.Loss)) + "/∂"
}

// inShort is the formula of a node in so many characters or, where that is not enough for
// one that says something, the name of its operation.
func (v *view) inShort(n *graph.Node, limit int) string {
	s := v.fitted(n, limit)
	if width(s) > limit || !strings.ContainsFunc(s, unicode.IsLetter) {
		return n.Op().Name()
	}
	return s
}

// listed is [0 1 2 3], or [0 1 … 7] where there are more numbers.
func listed(c graph.Value, d graph.DType) string {
	var parts []string
	for i, x := range c.Data {
		if skip := len(c.Data) > 4 && i > 1 && i < len(c.Data)-1; !skip {
			parts = append(parts, Unicode(number(x, d)))
		} else if i == 2 {
			parts = append(parts, "…")
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}
