package viz

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
)

const lineLength = 38 // characters of a line in a box

// label gives the two lines of a node's box.
func (v *view) label(n *graph.Node) (first, second string) {
	if a, ok := v.of[n]; ok {
		return v.derivative(n, a)
	}
	if n.NumIn() == 0 {
		return v.leafLabel(n)
	}
	first = v.fitted(n, lineLength)
	if targets := v.updates[n]; len(targets) > 0 {
		left := v.plain(targets[0]) + " ← "
		right := Unicode(v.told(v.abbreviated(n), v.alias))
		if room := lineLength - width(left); width(right) > room && v.known(n) {
			right = v.plain(n) // its formula is in the tooltip
		} else if width(right) > room {
			right = v.fitted(n, room)
		}
		return left + right, "update"
	}
	if _, named := v.names[n]; named || v.known(n) {
		left := v.plain(n) + " = "
		first = left + v.fitted(n, lineLength-width(left))
	}
	if v.options.level == Notes {
		return first, typeText(n)
	}
	second = n.Op().Name()
	if rule := n.First().Origin.Rule; rule != "" && v.options.level == Compiled {
		second = rule
	}
	if v.options.level >= Primitive && !v.known(n) {
		second += "  " + v.names.of(n)
	}
	return first, second
}

// derivative is ∂loss/∂D over its rule.
func (v *view) derivative(n *graph.Node, a graph.Origin) (first, second string) {
	switch {
	case !v.known(a.Of):
		first = "∂" + grouped(v.lossName(a.Loss)) + "/∂"
		first += "(" + v.inShort(a.Of, lineLength-width(first)-2) + ")"
	case strings.Contains(v.names.of(a.Of), "#"): // the box beside says which
		first = "∂" + grouped(v.lossName(a.Loss)) + "/∂" + grouped(v.plain(a.Of))
	default:
		first = v.adjoint(a)
	}
	if c, ok := n.Constant(); ok && uniform(c) {
		return first + " = " + Unicode(v.abbreviated(n)), ""
	}
	return first, v.fitted(n, lineLength)
}

func (v *view) leafLabel(n *graph.Node) (first, second string) {
	e := v.leaf(n)
	if _, ok := v.names[n]; !ok && n.Role() != graph.RoleOp {
		return Unicode(v.told(e, v.alias)), typeText(n)
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
	if d := n.Shape().Axis(n.Rank() - 1).Name; d != "" && !strings.Contains(d, "′") && strings.HasPrefix(subscript([]string{d}), "_") && isVector(e, d) {
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

// unscoped calls quantities without the scopes that tell them from others, where
// no two of the expression get one name: in a drawing the edges tell. Two that even
// scopes do not tell apart are x and x′.
func (v *view) unscoped(e graph.Expr) graph.Expr {
	plain := map[string]string{}
	users := map[string]int{}
	replace(e, func(x graph.Expr) graph.Expr {
		if _, met := plain[x.Text]; x.Kind == graph.ExprSymbol && !met {
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
	return replace(e, func(x graph.Expr) graph.Expr {
		if s, ok := plain[x.Text]; ok && x.Kind == graph.ExprSymbol && users[s] == 1 {
			x.Text = s
		}
		return x
	})
}

// shortNames gives what is called by a name with scopes its name without them.
func (v *view) shortNames() map[string]string {
	m := map[string]string{}
	for n, name := range v.names {
		m[name] = v.plain(n)
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

// fitting makes an expression short enough to be printed in limit characters:
// first without subscripts, as a lecture writes arrays, then with … for parts of
// it, the inner and later ones first, until only its outermost operation is left.
func fitting(e graph.Expr, limit int) graph.Expr {
	fits := func(e graph.Expr) bool { return width(Unicode(e)) <= limit }
	if fits(e) {
		return e
	}
	if oneElementEach(e) {
		e = replace(e, func(x graph.Expr) graph.Expr {
			if x.Kind == graph.ExprSymbol {
				x.Subs = nil
			}
			return x
		})
	}
	if !fits(e) {
		e = replace(e, bareCall)
	}
	for !fits(e) && lowest(e) < height(e) {
		e = elided(e, lowest(e))
	}
	if e.Kind == graph.ExprCall && !fits(e) {
		e.Args = slices.CompactFunc(slices.Clone(e.Args), func(a, b graph.Expr) bool { return isElided(a) && isElided(b) })
		for len(e.Args) > 1 && !fits(e) {
			last := len(e.Args) - 1
			if isElided(e.Args[last]) {
				last--
			}
			e.Args = append(e.Args[:last], graph.Sym("…"))
		}
	}
	return e
}

// bareCall leaves out of a call the indices it runs along, unless these are what it
// is about, and the numbers and attributes that set it up.
func bareCall(e graph.Expr) graph.Expr {
	if e.Kind != graph.ExprCall || strings.Contains(e.Text, "softmax") {
		return e
	}
	e.Subs = nil
	e.Text, _, _ = strings.Cut(e.Text, "{")
	for len(e.Args) > 1 && e.Text != "max" && e.Text != "min" && e.Text != "concat" && e.Args[len(e.Args)-1].Kind == graph.ExprNumber {
		e.Args = e.Args[:len(e.Args)-1]
	}
	return e
}

// oneElementEach reports whether all elements of an array in an expression stand at the
// same indices, so that the array alone tells them.
func oneElementEach(e graph.Expr) bool {
	at := map[string]string{}
	same := true
	replace(e, func(x graph.Expr) graph.Expr {
		if x.Kind == graph.ExprSymbol {
			subs := strings.Join(x.Subs, " ")
			if s, met := at[x.Text]; met && s != subs || strings.ContainsAny(graph.IndexText(subs), "+−") {
				same = false
			}
			at[x.Text] = subs
		}
		return x
	})
	return same
}

func height(e graph.Expr) int {
	h, _ := heights(e)
	return h
}

// lowest is the least height of the operations within e.
func lowest(e graph.Expr) int {
	_, least := heights(e)
	return least
}

// heights are the height of e and the least of the operations within.
func heights(e graph.Expr) (h, least int) {
	least = math.MaxInt
	for _, a := range e.Args {
		below, low := heights(a)
		h = max(h, below)
		if len(a.Args) > 0 && !isFraction(a) && !isElided(a) {
			least = min(least, low)
		}
	}
	return h + 1, min(least, h+1)
}

// elided is an expression with … for the last of its parts that has the given
// height.
func elided(e graph.Expr, h int) graph.Expr {
	e.Args = slices.Clone(e.Args)
	for i := len(e.Args) - 1; i >= 0; i-- {
		a := e.Args[i]
		if len(a.Args) == 0 || isFraction(a) || isElided(a) || lowest(a) != h {
			continue
		}
		e.Args[i] = elided(a, h)
		head := a.Kind == graph.ExprCall || a.Kind == graph.ExprBig
		switch {
		case height(a) != h:
		case a.Kind == graph.ExprNeg, head && !slices.ContainsFunc(a.Args, isElided):
			a.Args = []graph.Expr{graph.Sym("…")}
			e.Args[i] = a
		case a.Kind == graph.ExprAdd && (e.Kind == graph.ExprMul || e.Kind == graph.ExprPower || e.Kind == graph.ExprDiv):
			e.Args[i] = graph.Sym("(…)")
		default:
			e.Args[i] = graph.Sym("…")
		}
		break
	}
	if e.Kind == graph.ExprMul || e.Kind == graph.ExprAdd {
		e.Args = slices.CompactFunc(e.Args, func(a, b graph.Expr) bool { return isElided(a) && isElided(b) })
		if len(e.Args) == 1 {
			return e.Args[0]
		}
	}
	return e
}

// isElided reports whether an expression is … or −….
func isElided(e graph.Expr) bool {
	if e.Kind == graph.ExprNeg {
		e = e.Args[0]
	}
	return e.Text == "…" || e.Text == "(…)"
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
