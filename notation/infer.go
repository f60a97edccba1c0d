package notation

import (
	"fmt"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"math"
	"slices"
	"strings"
)

// expr determines the type of an expression and its parts.
func (c *checker) expr(e *expr) typ {
	e.typ = c.infer(e)
	if len(e.typ.axes) > graph.MaxRank {
		c.fail(e.span, fmt.Sprintf("%d axes: at most %d are allowed", len(e.typ.axes), graph.MaxRank), "", listed(e.typ.axes))
		e.typ = typ{}
	}
	return e.typ
}

func (c *checker) infer(e *expr) typ {
	switch e.kind {
	case exprNumber:
		return typ{kind: real}
	case exprName:
		return c.named(e)
	case exprCall:
		return c.call(e)
	case exprNeg:
		return c.wanted(e.args[0], real)
	}
	if slices.Contains(comparisons, e.text) {
		return c.comparison(e)
	}
	a, b := c.wanted(e.args[0], real), c.wanted(e.args[1], real)
	return together(real, a, b)
}

// together returns the type of an elementwise result of kind k.
func together(k kind, in ...typ) typ {
	out := typ{kind: k}
	for _, t := range in {
		if t.kind == bad {
			return typ{}
		}
		out.axes = merged(out.axes, t.axes)
	}
	return out
}

// wanted returns the type of an operand, which must be of one of the kinds.
func (c *checker) wanted(e *expr, kinds ...kind) typ {
	t := c.expr(e)
	if t.kind == bad || slices.Contains(kinds, t.kind) {
		return t
	}
	fix := ""
	switch {
	case kinds[0] == real && t.kind == mask:
		fix = "float(…) makes 0 and 1 of it, where(…, a, b) chooses by it"
	case kinds[0] == real:
		fix = "convert them with float(…), onehot(…, axis) vectors, take(x, …, axis) elements of x"
	case kinds[0] == mask:
		fix = "compare, as in x > 0"
	case kinds[0] == whole:
		fix = "argmin(x, axis) gives indices, and so does an input declared by index"
	}
	c.fail(e.span, fmt.Sprintf("%s is %v: want %v", e, t.kind, kinds[0]), fix, "")
	return typ{}
}

func (c *checker) comparison(e *expr) typ {
	a, b := c.wanted(e.args[0], real, whole), c.wanted(e.args[1], real, whole)
	if a.kind != b.kind && a.kind != bad && b.kind != bad {
		for i, x := range e.args {
			if v, ok := literal(x); ok && isWhole(v) && e.args[1-i].typ.kind == whole {
				x.typ.kind = whole
				return together(mask, a, b)
			}
		}
		c.fail(e.span, fmt.Sprintf("%v are compared with %v", a.kind, b.kind), "convert indices with float(…)", "")
		return typ{}
	}
	return together(mask, a, b)
}

// named returns the type of a quantity, with its axes renamed.
func (c *checker) named(e *expr) typ {
	q := c.quantities[greek.Symbol(e.text)]
	if q != nil && c.input != nil {
		line, _ := c.line(c.input.from)
		switch {
		case q.kind == wordParam || q.kind == wordState || q.kind == signDefine:
			c.fail(e.span, fmt.Sprintf("examples of %s use inputs, and %s is not one", c.input.name, e.text), "", "")
			return typ{}
		case q.kind != wordScalar && q.line >= line:
			c.fail(e.span, e.text+" is drawn below", "move its line up", fmt.Sprintf("line %d", q.line))
			return typ{}
		}
	}
	if q == nil {
		c.unknown(e.span, e.text)
		return typ{}
	}
	if q.typ.kind == bad {
		return typ{}
	}
	t := typ{q.typ.kind, slices.Clone(q.typ.axes)}
	var plain []string
	for _, r := range e.refs {
		if r.as == "" {
			plain = append(plain, r.axis)
		}
	}
	if missing := without(q.typ.axes, plain); len(e.refs) > 0 && len(plain) == len(e.refs) && len(without(plain, q.typ.axes)) == 0 && len(missing) > 0 {
		c.fail(e.span, fmt.Sprintf("%s has %s", e.text, axesText(q.typ.axes)), fmt.Sprintf("write %s, or reduce it, as in sum(%s, %s)", e.text, e.text, listed(missing)), "")
		return typ{}
	}
	for _, r := range e.refs {
		i := slices.Index(q.typ.axes, r.axis)
		if i < 0 {
			fix := ""
			if len(e.refs) == len(q.typ.axes) && r.as == "" {
				at := slices.IndexFunc(q.typ.axes, func(a string) bool {
					return !slices.ContainsFunc(e.refs, func(r axisRef) bool { return r.axis == a })
				})
				if at >= 0 {
					fix = fmt.Sprintf("to call %s %s here, write %s[%s→%s]", q.typ.axes[at], r.axis, e.text, q.typ.axes[at], r.axis)
				}
			}
			c.fail(r.span, fmt.Sprintf("%s has no axis %s", e.text, r.axis), fix, "it has "+axesText(q.typ.axes))
			return typ{}
		}
		if r.as == "" {
			continue
		}
		t.axes[i] = r.as
		line, _ := c.line(r.from)
		if c.axis(r.as) == nil && c.axis(r.axis) != nil {
			c.axes = append(c.axes, sized{name: r.as, same: r.axis, line: line, span: r.span})
		}
		c.renames = append(c.renames, rename{r.axis, r.as, line, r.span})
	}
	for i, a := range t.axes {
		if slices.Contains(t.axes[:i], a) {
			c.fail(e.span, fmt.Sprintf("two axes of %s are called %s", e.text, a), "", "")
			return typ{}
		}
	}
	return t
}

// call returns the type of a function's result.
func (c *checker) call(e *expr) typ {
	fn := functionNamed(e.text)
	if fn == nil {
		name := span{e.from, e.from + len(e.text)}
		var names []string
		for _, fn := range functions {
			names = append(names, fn.name)
		}
		for _, a := range e.args {
			if a.kind != exprName || c.quantities[greek.Symbol(a.text)] != nil {
				c.expr(a) // reports mistakes inside
			}
		}
		if c.quantities[greek.Symbol(e.text)] != nil {
			c.fail(name, e.text+" is a quantity, not a function", "a product has its sign: "+e.text+"*(…)", "")
			return typ{}
		}
		fix, ok := elsewhere[strings.ToLower(e.text)]
		if !ok {
			fix = didYouMean(e.text, names)
		}
		c.fail(name, "unknown function "+e.text, fix, "")
		return typ{}
	}
	values, axes := len(fn.takes), len(e.args)-len(fn.takes)
	if axes < fn.fewest || axes > fn.most {
		c.fail(e.span, fmt.Sprintf("%s is called with %s", fn.name, plural.Count(len(e.args), "argument")), "write "+fn.usage, fn.doc)
		return typ{}
	}
	if fn.draws && c.input == nil {
		c.fail(e.span, fn.name+" draws examples", "use it after the ~ of an input", "")
		return typ{}
	}
	in := make([]typ, values)
	failed := false
	for i, k := range fn.takes {
		if k == number {
			in[i] = c.constant(e.args[i])
		} else if k == anything {
			in[i] = c.expr(e.args[i])
		} else {
			in[i] = c.wanted(e.args[i], k)
		}
		failed = failed || in[i].kind == bad
	}
	if failed {
		return typ{}
	}
	var over []string
	for _, a := range e.args[values:] {
		switch {
		case a.kind != exprName || len(a.refs) > 0:
			fix := "write " + fn.usage
			if fn.name == "max" || fn.name == "min" {
				fix = fmt.Sprintf("for two values, write %simum(a, b)", fn.name)
			}
			c.fail(a.span, fmt.Sprintf("%s is no axis", a), fix, "")
			return typ{}
		case slices.Contains(over, a.text):
			c.fail(a.span, fmt.Sprintf("axis %s twice", a.text), "", "")
			return typ{}
		}
		over = append(over, a.text)
	}
	e.fn = fn
	return fn.infer(c, e, in, over)
}

// constant returns the type of a number that is known when the model is built.
func (c *checker) constant(e *expr) typ {
	if _, ok := literal(e); ok || e.kind == exprCall && e.text == "size" {
		return c.expr(e)
	}
	c.fail(e.span, fmt.Sprintf("%s is not known before the model runs", e), "want a number, or the size of an axis", "")
	return typ{}
}

// has reports whether the operand has all of the axes, and records a mistake if not.
func (c *checker) has(e *expr, operand int, over []string) bool {
	x := e.args[operand]
	for i, a := range over {
		if slices.Contains(x.typ.axes, a) {
			continue
		}
		fix := ""
		switch {
		case c.quantities[greek.Symbol(a)] != nil && (e.text == "max" || e.text == "min"):
			fix = fmt.Sprintf("for two values, write %simum(a, b)", e.text)
		case len(x.typ.axes) == 1:
			fix = "did you mean " + x.typ.axes[0] + "?"
		default:
			fix = didYouMean(a, x.typ.axes)
		}
		at := e.args[len(e.args)-len(over)+i].span
		c.fail(at, fmt.Sprintf("%s has no axis %s", x, a), fix, "it has "+axesText(x.typ.axes))
		return false
	}
	return true
}

// isWhole reports whether a number could be an index.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1<<53 }
