package viz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

const lineLength = 38 // characters of a line in a box

// label returns the two lines of a node's box.
func (v *view) label(n *graph.Node) (first, second string) {
	if l := v.stepOf(n); l != nil {
		return v.stepLabel(l, n)
	}
	if a, ok := v.of[n]; ok {
		return v.derivative(n, a)
	}
	if n.NumIn() == 0 {
		return v.leafLabel(n)
	}
	if l := v.loops[n]; l != nil && !v.options.loops && !v.known(n) {
		return v.loopSummary(l), v.axes(n)
	}
	first = v.fitted(n, lineLength)
	if targets := v.updates[n]; len(targets) > 0 {
		left := picturedName(v.plain(targets[0])) + " ← "
		right := pictured(v.told(v.abbreviated(n), v.alias))
		if room := lineLength - width(left); width(right) > room && v.known(n) {
			right = picturedName(v.plain(n)) // the formula is in the tooltip
		} else if width(right) > room {
			right = v.fitted(n, room)
		}
		return left + right, "update"
	}
	if _, named := v.names[n]; named || v.known(n) {
		left := picturedName(v.plain(n)) + " = "
		first = left + v.fitted(n, lineLength-width(left))
	}
	if v.options.level == Notes {
		return first, strings.TrimSpace(v.looped(n) + "  " + v.axes(n))
	}
	second = n.Op().Name()
	if rule := n.First().Origin.Rule; rule != "" && v.options.level == Compiled {
		second = rule
	}
	if v.options.level >= Primitive && !v.known(n) {
		second += "  " + v.names.of(n)
	}
	return first, strings.TrimSuffix(second+"  "+v.axes(n), "  ")
}

// derivative returns the two lines for a derivative, ∂loss/∂D and its rule. One that the user named,
// because a loss is made of it, is called so as well.
func (v *view) derivative(n *graph.Node, a graph.Origin) (first, second string) {
	switch {
	case !v.known(a.Of):
		first = "∂" + grouped(v.lossName(a.Loss)) + "/∂"
		first += "(" + v.inShort(a.Of, lineLength-width(first)-2) + ")"
	case v.dense || v.names.several(a.Of): // the box beside it tells which
		first = "∂" + grouped(v.lossName(a.Loss)) + "/∂" + grouped(picturedName(v.plain(a.Of)))
	default:
		first = picturedName(v.adjoint(a))
	}
	if _, named := userName(n); named {
		first = picturedName(v.plain(n)) + " = " + first
	}
	if c, ok := n.Constant(); ok && uniform(c) {
		return first + " = " + pictured(v.abbreviated(n)), ""
	}
	return first, v.fitted(n, lineLength)
}

func (v *view) leafLabel(n *graph.Node) (first, second string) {
	e := v.leaf(n)
	if _, ok := v.names[n]; !ok && n.Role() != graph.RoleOp {
		return pictured(v.told(e, v.alias)), v.axes(n)
	}
	first = picturedName(v.plain(n))
	if _, number := n.Default(); number {
		first += " = " + pictured(e)
	}
	return first, v.axes(n)
}

// plain returns a node's name without the scopes that tell it from others: a drawing shows it
// inside them.
func (v *view) plain(n *graph.Node) string {
	if at, ok := userName(n); ok {
		return at.Name
	}
	return v.names.of(n)
}

// abbreviated returns a node's expression as a box shows it: vectors without the index that
// Unicode cannot write (x_i − r_j), and ∂D for ∂loss/∂D if there is only one loss.
func (v *view) abbreviated(n *graph.Node) expr.Expr {
	e := v.expr(n)
	if d := n.Shape().Axis(n.Rank() - 1).Name; d != "" && !strings.Contains(d, "′") && strings.HasPrefix(lowered([]string{d}), "_") && isVector(e, d) {
		if short := rename(e, []string{d}, []string{""}); len(free(short)) > 0 && !strings.ContainsAny(Unicode(short), "_") {
			e = short
		}
	}
	e = v.unscoped(e)
	if len(v.losses) != 1 {
		return e
	}
	for loss := range v.losses {
		prefix := "∂" + grouped(v.names.of(loss)) + "/∂"
		if !v.known(loss) {
			prefix = "∂ℓ/∂"
		}
		e = replace(e, func(x expr.Expr) expr.Expr {
			if rest, ok := strings.CutPrefix(x.Text, prefix); ok && x.Kind == expr.KindSymbol {
				x.Text = "∂" + rest
			}
			return x
		})
	}
	return e
}

// replace applies f to every part of an expression, the inner ones first.
func replace(e expr.Expr, f func(expr.Expr) expr.Expr) expr.Expr {
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = replace(e.Args[i], f)
	}
	return f(e)
}

// unscoped drops the scopes from the names in an expression where no two of them become equal: in
// a drawing the edges tell. Two names that even scopes do not distinguish are x and x′.
func (v *view) unscoped(e expr.Expr) expr.Expr {
	plain := map[string]string{}
	users := map[string]int{}
	replace(e, func(x expr.Expr) expr.Expr {
		if _, met := plain[x.Text]; x.Kind == expr.KindSymbol && !met {
			s, ok := v.short[x.Text]
			if !ok {
				s = x.Text
			}
			if strings.Contains(x.Text, "#") {
				s += strings.Repeat("′", users[s])
			}
			plain[x.Text] = s
			users[s]++
		}
		return x
	})
	return replace(e, func(x expr.Expr) expr.Expr {
		if s, ok := plain[x.Text]; ok && x.Kind == expr.KindSymbol && users[s] == 1 {
			x.Text = s
		}
		return x
	})
}

// shortNames maps each name with scopes to the name without them.
func (v *view) shortNames() map[string]string {
	m := map[string]string{}
	for n, name := range v.names {
		m[name] = v.plain(n)
		if l := v.inside[n]; l != nil && l.base != l { // λh is called λh₋₁ in the step
			m[name] = v.stepName(n)
		}
	}
	for _, n := range v.cone {
		for _, o := range adjoints(n) {
			if name, ok := v.names[o.Of]; ok {
				long := v.adjoint(o)
				m[long] = strings.TrimSuffix(long, grouped(name)) + grouped(v.plain(o.Of))
			}
		}
	}
	return m
}

// describe returns all that is known of a node, for tooltips and screen readers.
func (v *view) describe(n *graph.Node) string {
	if l := v.stepOf(n); l != nil {
		return v.stepText(l, n)
	}
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
	if b := n.Body(); b != nil {
		for _, y := range b.Out() {
			lines = append(lines, "a step: "+Formula(y))
		}
	}
	if p := n.Path(); p != "" && p != n.Name() {
		lines = append(lines, "path "+p)
	}
	for _, a := range adjoints(n) {
		lines = append(lines, fmt.Sprintf("derivative of %s by %s", v.names.of(a.Loss), v.names.of(a.Of)))
	}
	if at.Origin.Kind == graph.FromGrad {
		lines = append(lines, "from the derivative of "+at.Origin.Of.Op().Name()+" ("+v.names.of(at.Origin.Of)+")")
	}
	if at.Origin.Kind == graph.FromTangent {
		lines = append(lines, "how "+v.names.of(at.Origin.Of)+" moves")
	}
	if at.Origin.Rule != "" {
		lines = append(lines, "rewritten by "+at.Origin.Rule)
	}
	if p := at.Pos.String(); p != "" && !v.options.noLines {
		lines = append(lines, p)
	}
	return strings.Join(lines, "\n")
}
