package notation

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// mismatch reports a right side whose axes are not the stated ones.
func (c *checker) mismatch(name string, stated []string, e *expr) {
	has := e.typ.axes
	if sameSet(stated, has) {
		return
	}
	extra, missing := without(has, stated), without(stated, has)
	fix, why := "", ""
	switch {
	case len(missing) == 0:
		fix = "sum over " + listed(extra) + "?"
		why = origin(e, extra)
	case len(extra) == 0:
		fix = "state " + greek.Symbol(name) + brackets(without(stated, missing)) + "?"
		if len(has) == 0 {
			fix = "state " + greek.Symbol(name) + " alone, as one number?"
		}
		why = "nothing on the right has " + listed(missing)
	default:
		fix = fmt.Sprintf("should %s be called %s, as in x[%s→%s]?", extra[0], missing[0], extra[0], missing[0])
		why = origin(e, extra)
	}
	c.fail(e.span, fmt.Sprintf("%s has %s, but %s are stated", name, axesText(has), shown(stated)), fix, why)
}

func axesText(axes []string) string {
	if len(axes) == 0 {
		return "no axes"
	}
	return "axes " + brackets(axes)
}

// origin says where axes come from: the product or difference that spans them, or the quantity
// that has them.
func origin(e *expr, extra []string) string {
	covers := func(a *expr) bool { return len(without(extra, a.typ.axes)) == 0 }
	for {
		var with []*expr
		most := 0
		for _, a := range e.args {
			if covers(a) {
				with = append(with, a)
			}
			most = max(most, len(a.typ.axes))
		}
		outer := e.kind == exprBinary && most < len(e.typ.axes)
		switch {
		case outer:
			return fmt.Sprintf("%s %s %s spans %s", operandText(e.args[0]), signText(e.text), operandText(e.args[1]), listed(e.typ.axes))
		case len(with) > 0:
			e = with[0]
		case e.kind == exprName:
			return operandText(e) + " has " + listed(extra)
		default:
			return fmt.Sprintf("%s has %s", e, listed(e.typ.axes))
		}
	}
}

func signText(sign string) string {
	if s, ok := map[string]string{"-": "−", "*": "·", "<=": "≤", ">=": "≥", "!=": "≠", "==": "="}[sign]; ok {
		return s
	}
	return sign
}

// spanning returns the product, difference or the like within e in which the axes come together
// because no operand has all of them. It is nil if a single quantity has them.
func spanning(e *expr, axes []string) *expr {
	for {
		var with *expr
		for _, a := range e.args {
			if with == nil && a.typ.kind != bad && len(without(axes, a.typ.axes)) == 0 {
				with = a
			}
		}
		switch {
		case with != nil:
			e = with
		case e.kind == exprBinary, e.kind == exprCall && e.fn.most == 0:
			return e
		default:
			return nil
		}
	}
}

// operandText returns an expression whose quantities show their axes: w·x[i].
func operandText(e *expr) string {
	switch {
	case e.kind == exprName:
		return e.text + brackets(e.typ.axes)
	case e.kind == exprBinary && e.precedence() >= precedenceProduct:
		return operandText(e.args[0]) + signText(e.text) + operandText(e.args[1])
	}
	return e.within(precedencePower)
}

// unknown reports a name that no quantity above has.
func (c *checker) unknown(at span, name string) {
	if c.full() {
		c.fail(at, "unknown quantity "+name, "", "") // only counted
		return
	}
	key := greek.Symbol(name)
	if first, later := c.makers[key]; later {
		line, _ := c.line(first.from)
		if key == c.present {
			c.fail(at, name+" is defined by itself", "", "")
		} else if way := c.circle(key); way != nil {
			c.fail(at, fmt.Sprintf("%s is defined by itself, by way of %s", c.present, listed(way)), "break the cycle", fmt.Sprintf("%s at line %d", name, line))
		} else {
			c.fail(at, name+" is defined below", "move its line up", fmt.Sprintf("line %d", line))
		}
		return
	}
	if c.doubtful[key] {
		return // the line that was to declare it has a mistake
	}
	fix, why := "", ""
	var names []string
	for _, s := range c.lines {
		if s.makes() && greek.Symbol(s.name) != c.present && c.quantities[greek.Symbol(s.name)] != nil {
			names = append(names, s.name)
		}
	}
	switch fn := functionNamed(name); {
	case fn != nil:
		fix, why = "it is a function: "+fn.usage, ""
	case c.axis(name) != nil:
		fix = "it is an axis: size(" + name + ") is its size"
	default:
		fix = didYouMean(name, names)
		switch {
		case fix != "":
		case len(names) == 1:
			fix = "did you mean " + names[0] + "?"
		case len(names) > 0 && len(names) <= 8:
			why = "known are " + listed(names)
		}
	}
	c.fail(at, "unknown quantity "+name, fix, why)
}

// circle returns the path of dependencies from a quantity that is defined below back to the one
// being defined; nil if there is none.
func (c *checker) circle(from string) []string {
	seen := map[string]bool{}
	var search func(name string) []string
	search = func(name string) []string {
		if seen[name] {
			return nil
		}
		seen[name] = true
		s := c.makers[name]
		if s == nil {
			return nil
		}
		var way []string
		s.value.each(func(e *expr) {
			switch {
			case way != nil || e.kind != exprName:
			case greek.Symbol(e.text) == c.present:
				way = []string{name}
			default:
				if rest := search(greek.Symbol(e.text)); rest != nil {
					way = append([]string{name}, rest...)
				}
			}
		})
		return way
	}
	if c.present == "" {
		return nil
	}
	return search(from)
}

// didYouMean suggests the candidate that name is likely a slip for.
func didYouMean(name string, candidates []string) string {
	if near := spelling.Near(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
