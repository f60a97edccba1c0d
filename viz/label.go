package viz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
)

const lineLength = 28 // characters of a line in a box

// label gives the two lines of a node's box.
func (v *view) label(n *graph.Node) (first, second string) {
	if a, ok := v.of[n]; ok {
		return v.derivative(n, a)
	}
	if n.NumIn() == 0 {
		return v.leafLabel(n)
	}
	first = Unicode(fitting(v.abbreviated(n), lineLength))
	if targets := v.updates[n]; len(targets) > 0 {
		left := v.plain(targets[0]) + " ← "
		right := Unicode(v.abbreviated(n))
		if room := lineLength - width(left); width(right) > room && v.known(n) {
			right = v.plain(n) // its formula is in the tooltip
		} else if width(right) > room {
			right = Unicode(fitting(v.abbreviated(n), room))
		}
		return left + right, "update"
	}
	if _, named := v.names[n]; named || v.known(n) {
		left := v.plain(n) + " = "
		first = left + Unicode(fitting(v.abbreviated(n), lineLength-width(left)))
	}
	if v.options.level == Notes {
		return first, typeText(n)
	}
	second = n.Op().Name()
	if rule := n.First().Origin.Rule; rule != "" && v.options.level == Compiled {
		second = rule
	}
	return first, second
}

// derivative is ∂loss/∂D over its rule.
func (v *view) derivative(n *graph.Node, a graph.Origin) (first, second string) {
	if v.known(a.Of) {
		first = v.adjoint(a)
	} else {
		loss := "ℓ"
		if v.known(a.Loss) {
			loss = grouped(v.names.of(a.Loss))
		}
		first = "∂" + loss + "/∂"
		first += "(" + Unicode(fitting(v.abbreviated(a.Of), lineLength-width(first)-2)) + ")"
	}
	e := v.abbreviated(n)
	if c, ok := n.Constant(); ok && uniform(c) {
		return first + " = " + Unicode(e), ""
	}
	return first, Unicode(fitting(e, lineLength))
}

func (v *view) leafLabel(n *graph.Node) (first, second string) {
	e := v.leaf(n)
	if _, ok := v.names[n]; !ok && n.Role() != graph.RoleOp {
		return Unicode(e), typeText(n)
	}
	first = v.plain(n)
	if _, number := n.Default(); number {
		first += " = " + Unicode(e)
	}
	return first, typeText(n)
}

// plain is a node's name without the scopes that tell it from others: in a
// drawing it stands in them.
func (v *view) plain(n *graph.Node) string {
	if at, ok := userName(n); ok {
		return at.Name
	}
	return v.names.of(n)
}

// abbreviated is a node's expression as a box shows it: vectors without the index
// that Unicode cannot write (x_i − r_j), and ∂D for ∂loss/∂D where there is but
// one loss.
func (v *view) abbreviated(n *graph.Node) graph.Expr {
	e := v.expr(n)
	if d := n.Shape().Axis(n.Rank() - 1).Name; d != "" && strings.HasPrefix(subscript([]string{d}), "_") && isVector(e, d) {
		e = rename(e, []string{d}, []string{""})
	}
	if len(v.losses) != 1 {
		return e
	}
	for loss := range v.losses {
		prefix := "∂" + grouped(v.names.of(loss)) + "/∂"
		if !v.known(loss) {
			prefix = "∂ℓ/∂"
		}
		e = replace(e, func(x graph.Expr) graph.Expr {
			if rest, ok := strings.CutPrefix(x.Text, prefix); ok && x.Kind == graph.ExprSymbol {
				x.Text = "∂" + rest
			}
			return x
		})
	}
	return e
}

// replace maps every part of an expression, the inner ones first.
func replace(e graph.Expr, f func(graph.Expr) graph.Expr) graph.Expr {
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = replace(e.Args[i], f)
	}
	return f(e)
}

// fitting leaves out the innermost parts of an expression until it is printed in
// at most limit characters, or only its outermost operation is left.
func fitting(e graph.Expr, limit int) graph.Expr {
	depth := height(e)
	short := e
	for ; depth > 1 && width(Unicode(short)) > limit; depth-- {
		short = elided(e, depth-1)
	}
	return short
}

func height(e graph.Expr) int {
	h := 0
	for _, a := range e.Args {
		h = max(h, height(a))
	}
	return h + 1
}

// elided is an expression down to a depth, with … for what is below.
func elided(e graph.Expr, depth int) graph.Expr {
	e.Args = slices.Clone(e.Args)
	for i, a := range e.Args {
		switch {
		case depth > 1 || height(a) == 1 || isFraction(a):
			e.Args[i] = elided(a, depth-1)
		case a.Kind == graph.ExprAdd && e.Kind != graph.ExprCall && e.Kind != graph.ExprNorm:
			e.Args[i] = graph.Sym("(…)")
		default:
			e.Args[i] = graph.Sym("…")
		}
	}
	return e
}

func isFraction(e graph.Expr) bool {
	return e.Kind == graph.ExprDiv && e.Args[0].Kind == graph.ExprNumber && e.Args[1].Kind == graph.ExprNumber
}

// width is the number of characters that take room.
func width(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			n++
		}
	}
	return n
}

// typeText is "f32 150×3", or "f32" for a scalar.
func typeText(n *graph.Node) string {
	return strings.TrimSuffix(n.DType().String()+" "+strings.Join(sizes(n), "×"), " ")
}

func sizes(n *graph.Node) []string {
	var out []string
	for _, s := range n.Shape().Sizes() {
		out = append(out, strconv.Itoa(s))
	}
	return out
}

// shapeText labels an edge: i×j, with the size of what has no name.
func shapeText(n *graph.Node) string {
	var out []string
	for _, a := range n.Shape().Axes() {
		if a.Name == "" {
			a.Name = strconv.Itoa(a.Size)
		}
		out = append(out, a.Name)
	}
	return strings.Join(out, "×")
}

// describe is all that is known of a node, for tooltips and screen readers.
func (v *view) describe(n *graph.Node) string {
	lines := []string{v.equation(n).String()}
	if n.NumIn() == 0 {
		lines[0] = Unicode(v.symbol(n, nil))
		if _, ok := n.Default(); ok {
			lines[0] += " = " + Unicode(v.leaf(n))
		}
		if c, ok := n.Constant(); ok && uniform(c) {
			lines[0] += " = " + Unicode(v.leaf(n))
		}
	}
	what := n.Role().String()
	if n.NumIn() > 0 {
		what = graph.OpText(n.Op())
	}
	at := n.First()
	lines = append(lines, what+", "+n.Type().String())
	if p := n.Path(); p != "" && p != n.Name() {
		lines = append(lines, "path "+p)
	}
	for _, a := range adjoints(n) {
		lines = append(lines, fmt.Sprintf("derivative of %s by %s", v.names.of(a.Loss), v.names.of(a.Of)))
	}
	if at.Origin.Kind == graph.FromGrad {
		lines = append(lines, "from the derivative of "+at.Origin.Of.Op().Name()+" ("+v.names.of(at.Origin.Of)+")")
	}
	if at.Origin.Rule != "" {
		lines = append(lines, "rewritten by "+at.Origin.Rule)
	}
	if p := at.Pos.String(); p != "" {
		lines = append(lines, p)
	}
	return strings.Join(lines, "\n")
}
