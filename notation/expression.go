package notation

import (
	"fmt"
	"slices"
)

// comparisons has the relations, which do not chain.
var comparisons = []string{"<", "<=", ">", ">=", "==", "!="}

// expression parses a sum, or a comparison of two.
func (p *parser) expression() *expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fails(p.peek().span, fmt.Sprintf("more than %d expressions within each other", maxDepth), "name the inner ones")
	}
	a := p.sum()
	if t := p.peek(); !p.failed && t.kind == tokenSign && slices.Contains(comparisons, t.text) {
		p.at++
		a = binary(t.text, a, p.sum())
		if t := p.peek(); !p.failed && t.kind == tokenSign && slices.Contains(comparisons, t.text) {
			p.fails(t.span, "a comparison of a comparison", "and(a < b, b < c)")
		}
	}
	return a
}

func binary(sign string, a, b *expr) *expr {
	e := &expr{kind: exprBinary, text: sign, args: []*expr{a, b}}
	if a != nil && b != nil {
		e.span = a.with(b.span)
	}
	return e
}

// sum parses terms. A sign before the first term applies to the whole term: −γ·D is −(γ·D).
func (p *parser) sum() *expr {
	at := p.peek().span
	negative := p.is("-")
	a := p.chain([]string{"*", "/"}, p.factor)
	if negative && a != nil {
		a = &expr{kind: exprNeg, args: []*expr{a}, span: at.with(a.span)}
	}
	return p.more(a, []string{"+", "-"}, func() *expr { return p.chain([]string{"*", "/"}, p.factor) })
}

// chain parses operands with signs between them, grouped from the left.
func (p *parser) chain(signs []string, operand func() *expr) *expr {
	return p.more(operand(), signs, operand)
}

func (p *parser) more(a *expr, signs []string, operand func() *expr) *expr {
	for n := 0; !p.failed; n++ {
		t := p.peek()
		if t.kind != tokenSign || !slices.Contains(signs, t.text) {
			break
		}
		if n >= maxChain {
			p.fails(t.span, fmt.Sprintf("more than %d operands in a row", maxChain), "name parts of it")
			break
		}
		p.at++
		a = binary(t.text, a, operand())
	}
	return a
}

// factor parses a power, or a sign and a factor. Powers group from the right.
func (p *parser) factor() *expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fails(p.peek().span, fmt.Sprintf("more than %d expressions within each other", maxDepth), "name the inner ones")
	}
	if p.failed {
		return nil
	}
	at := p.peek().span
	if p.is("-") {
		a := p.factor()
		if a == nil {
			return nil
		}
		return &expr{kind: exprNeg, args: []*expr{a}, span: at.with(a.span)}
	}
	a := p.atom()
	if !p.failed && p.is("^") {
		a = binary("^", a, p.factor())
	}
	return a
}

func (p *parser) atom() *expr {
	t := p.peek()
	switch {
	case t.kind == tokenNumber:
		p.at++
		return p.number(t)
	case t.kind == tokenSign && t.text == "(":
		p.at++
		a := p.expression()
		p.want(")", "to close the bracket")
		if a != nil {
			a.span = t.with(p.tokens[p.at-1].span)
		}
		return a
	case t.kind == tokenName:
		p.at++
		if p.is("(") {
			return p.call(t)
		}
		e := &expr{kind: exprName, text: t.text, span: t.span}
		if p.is("[") {
			p.refs(e)
		}
		return e
	}
	p.unexpected("a value", "")
	return nil
}

// call parses the arguments of a function.
func (p *parser) call(f token) *expr {
	e := &expr{kind: exprCall, text: f.text}
	if !p.is(")") {
		for !p.failed {
			e.args = append(e.args, p.expression())
			if !p.is(",") {
				break
			}
		}
		if !p.is(")") {
			p.unexpected(") after the arguments of "+f.text, p.argument(f.text))
		}
	}
	e.span = f.with(p.tokens[max(p.at-1, 0)].span)
	return e
}

// argument suggests a fix for what follows an argument of a function.
func (p *parser) argument(f string) string {
	before, t := p.tokens[max(p.at-1, 0)], p.peek()
	switch {
	case t.kind == tokenSign && t.text == "=" && slices.Contains([]string{"axis", "axes", "dim", "dims"}, before.text):
		return fmt.Sprintf("an axis is named alone, as in %s(x, %s)", f, p.tokens[p.at+1].text)
	case t.kind == tokenNumber:
		return "arguments have commas between them"
	case t.kind == tokenName && before.kind == tokenName && functionNamed(before.text) == nil && before.text != "if":
		return fmt.Sprintf("arguments have commas between them, and a product its sign, %s*%s", p.text[before.from:before.to], p.text[t.from:t.to])
	}
	return p.adjacent()
}

// refs parses the axes in brackets after a name.
func (p *parser) refs(e *expr) {
	renamed := map[string]bool{} // of the axes so far
	for !p.failed {
		t := p.peek()
		if t.kind != tokenName {
			p.unexpected("an axis of "+e.text, e.text+"[i→k] calls its axis i k")
			return
		}
		p.at++
		r := axisRef{axis: t.text, span: t.span}
		if p.is("->") {
			to := p.peek()
			if to.kind != tokenName {
				p.unexpected("the new name of axis "+r.axis, "")
				return
			}
			p.at++
			r.as, r.span = to.text, t.with(to.span)
		}
		if earlier, again := renamed[r.axis]; again && (earlier || r.as != "") {
			p.fails(r.span, fmt.Sprintf("axis %s of %s is renamed twice", r.axis, e.text), "an axis has one name")
			return
		}
		renamed[r.axis] = r.as != ""
		e.refs = append(e.refs, r)
		if !p.is(",") {
			break
		}
	}
	p.closeAxes()
	e.span = e.with(p.tokens[max(p.at-1, 0)].span)
}
