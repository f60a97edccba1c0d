package viz

import (
	"fmt"
	"html"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
)

// String returns the derivation as text: the definitions, then each step with the rules that
// justify it below, then each derivative in one equation.
//
//	loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ
//
//	∂loss/∂αᵢⱼ = 1/150·Dᵢⱼ
//	    mean of n: ∂f/∂uₖ = 1/n; sum rule; product rule
func (d Derivation) String() string {
	var b strings.Builder
	for _, e := range d.Given {
		fmt.Fprintln(&b, e)
	}
	b.WriteString("\n")
	for _, s := range d.Steps {
		fmt.Fprintln(&b, s.Equation)
		for _, line := range s.Because() {
			fmt.Fprintln(&b, "    "+line)
		}
	}
	b.WriteString("\n")
	for i, e := range d.Closed {
		if i > 0 && d.isWhere(i) {
			b.WriteString("    where ")
		}
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// isWhere reports whether equation i of Closed only defines a name that another one uses.
func (d Derivation) isWhere(i int) bool {
	of, _ := d.Closed[i].Node.AdjointOf()
	return of == nil || !strings.HasPrefix(d.Closed[i].Left.Text, "∂")
}

// Because returns the justification of the step, a line for each way of use.
func (s Step) Because() []string {
	return s.because(Unicode, func(l, r string) string { return l + " = " + r })
}

// because returns the justification of a step, a line for each way of use.
func (s Step) because(write func(expr.Expr) string, relation func(left, right string) string) []string {
	if len(s.Uses) == 0 {
		if of, loss := s.Node.AdjointOf(); of != nil && of == loss {
			return []string{"to begin with"}
		}
		return []string{"for short"}
	}
	var lines []string
	if n := len(s.Uses); n > 1 {
		lines = append(lines, usesAddUp(n))
	}
	for _, use := range s.Uses {
		var rules []string
		for _, r := range use.Rules {
			text := r.Name
			for i, l := range r.Laws {
				if text += ", "; i == 0 {
					text = r.Name + ": "
				}
				text += relation(write(l.Args[0]), write(l.Args[1]))
			}
			rules = append(rules, text)
		}
		line := strings.Join(rules, "; ")
		if len(s.Uses) > 1 {
			line = "in " + write(use.In) + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// usesAddUp returns the rule for a quantity that is used n > 1 times.
func usesAddUp(n int) string {
	if n == 2 {
		return "sum over both uses:"
	}
	return fmt.Sprintf("sum over its %d uses:", n)
}

// LaTeX returns the derivation in LaTeX: an align* environment of amsmath for each of its three
// parts, with the rules beside the equations.
func (d Derivation) LaTeX() string {
	var b strings.Builder
	block := func(rows []string) {
		if len(rows) > 0 {
			b.WriteString("\\begin{align*}\n" + strings.Join(rows, " \\\\\n") + "\n\\end{align*}\n")
		}
	}
	row := func(e Equation) string { return ExprLaTeX(e.Left) + " &= " + ExprLaTeX(e.Right) }
	var rows []string
	for _, e := range d.Given {
		rows = append(rows, row(e))
	}
	block(rows)
	rows = nil
	for _, s := range d.Steps {
		lines := s.because(func(e expr.Expr) string { return "$" + ExprLaTeX(e) + "$" }, func(l, r string) string {
			return strings.TrimSuffix(l, "$") + " = " + strings.TrimPrefix(r, "$")
		})
		rows = append(rows, row(s.Equation)+" && "+texRules(lines[0]))
		for _, l := range lines[1:] {
			rows = append(rows, "&&& "+texRules(l))
		}
	}
	block(rows)
	rows = nil
	for _, e := range d.Closed {
		rows = append(rows, row(e))
	}
	block(rows)
	return b.String()
}

// texRules returns a line of rules as text, with formulas between dollar signs.
func texRules(line string) string {
	parts := strings.Split(line, "$")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = texSentence(parts[i])
	}
	return `\text{` + strings.Join(parts, "$") + "}"
}

// texSentence returns plain text for \text{…}; mathematical signs in it are set as such.
func texSentence(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch t := texRune(r); {
		case r == ' ' || r == '-' || r == '\'':
			b.WriteRune(r)
		case t != string(r):
			b.WriteString("$" + t + "$")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// HTML returns the derivation as a fragment of a page: tables of MathML, with the rules beside
// the equations.
func (d Derivation) HTML() string {
	var b strings.Builder
	b.WriteString("<table class=\"derivation\">\n")
	row := func(kind string, e Equation, because string) {
		fmt.Fprintf(&b, "<tr class=%q><td>%s</td><td>%s</td></tr>\n", kind, e.MathML(), because)
	}
	for _, e := range d.Given {
		row("given", e, "")
	}
	for _, s := range d.Steps {
		lines := s.because(func(e expr.Expr) string { return "\x01" + MathML(e) + "\x02" }, func(l, r string) string {
			return strings.TrimSuffix(l, "</math>\x02") + "<mo>=</mo>" + strings.TrimPrefix(r, "\x01<math>")
		})
		for i := range lines {
			lines[i] = escapedAround(lines[i])
		}
		row("step", s.Equation, strings.Join(lines, "<br/>"))
	}
	for i, e := range d.Closed {
		because := "in one equation"
		if i > 0 && d.isWhere(i) {
			because = "where"
		}
		row("closed", e, because)
	}
	b.WriteString("</table>\n")
	return b.String()
}

// escapedAround escapes text, except between the two marks.
func escapedAround(s string) string {
	var b strings.Builder
	for s != "" {
		text, rest, _ := strings.Cut(s, "\x01")
		b.WriteString(html.EscapeString(text))
		math, after, _ := strings.Cut(rest, "\x02")
		b.WriteString(math)
		s = after
	}
	return b.String()
}
