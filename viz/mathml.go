package viz

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// MathML prints an expression as a MathML Core element for an HTML page.
func MathML(e expr.Expr) string {
	return "<math>" + printer{mathmlScript{}}.print(e, bare) + "</math>"
}

// mathmlScript writes the content of an mrow.
type mathmlScript struct{}

func (mathmlScript) symbol(name string, subs []string) string {
	if rest, ok := strings.CutPrefix(name, "∂"); ok {
		if loss, of, ok := cutFraction(rest); ok {
			return "<mfrac><mrow><mo>∂</mo>" + identifier(loss) + "</mrow><mrow><mo>∂</mo>" + below(identifier(of), subs) + "</mrow></mfrac>"
		}
	}
	return below(identifier(name), subs)
}

func (mathmlScript) below(base string, subs []string) string {
	return below("<mrow>"+base+"</mrow>", subs)
}

// identifier writes a name; a hat, bar or dot of a single letter is drawn over it.
func identifier(name string) string {
	name = oneLine(name)
	if r := []rune(decomposed(name)); len(r) == 2 && accent(r[1]) != "" {
		over := map[rune]string{'\u0302': "^", '\u0303': "~", '\u0304': "¯", '\u0305': "¯", '\u0307': "˙", '\u0308': "¨", '\u20D7': "→"}[r[1]]
		return "<mover accent=\"true\"><mi>" + mathText(string(r[0])) + "</mi><mo stretchy=\"false\">" + over + "</mo></mover>"
	}
	return "<mi>" + mathText(name) + "</mi>"
}

// mathText returns text escaped for an element.
func mathText(s string) string { return html.EscapeString(oneLine(s)) }

// below sets indices under a base; indices of one letter stand side by side.
func below(base string, subs []string) string {
	if len(subs) == 0 {
		return base
	}
	var b strings.Builder
	subs = indexTexts(subs)
	for i, s := range subs {
		if i > 0 && (utf8.RuneCountInString(s) > 1 || utf8.RuneCountInString(subs[i-1]) > 1 || startsWithDigit(s) || startsWithDigit(subs[i-1])) {
			b.WriteString("<mo>,</mo>")
		}
		b.WriteString("<mi>" + mathText(s) + "</mi>")
	}
	return "<msub>" + base + "<mrow>" + b.String() + "</mrow></msub>"
}

func startsWithDigit(s string) bool { return s != "" && isDigit(s[0]) }

func (mathmlScript) number(text string) string {
	if m, exp, ok := strings.Cut(text, "e"); ok && strings.Trim(text, "0123456789.e+-−") == "" {
		power := "<msup><mn>10</mn><mn>" + strings.ReplaceAll(exp, "-", "−") + "</mn></msup>"
		if m == "1" {
			return power
		}
		return "<mn>" + m + "</mn><mo>·</mo>" + power
	}
	return "<mn>" + mathText(text) + "</mn>"
}

// times returns an invisible product sign with a little space.
func (mathmlScript) times() string { return "<mo>\u2062</mo><mspace width=\"0.15em\"/>" }
func (mathmlScript) plus() string  { return "<mo>+</mo>" }
func (mathmlScript) minus() string { return "<mo>−</mo>" }

func (mathmlScript) group(s string) string {
	return "<mrow><mo>(</mo>" + s + "<mo>)</mo></mrow>"
}

func (mathmlScript) norm(s string) string {
	return "<msup><mrow><mo>‖</mo>" + s + "<mo>‖</mo></mrow><mn>2</mn></msup>"
}

func (mathmlScript) sign(text string, subs []string) string {
	if text == "Σ" {
		return "<munder><mo>∑</mo><mrow>" + indices(subs) + "</mrow></munder>"
	}
	return below("<mi>"+mathText(text)+"</mi>", subs) + "<mspace width=\"0.2em\"/>"
}

func indices(subs []string) string {
	var b strings.Builder
	for i, s := range indexTexts(subs) {
		if i > 0 {
			b.WriteString("<mo>,</mo>")
		}
		b.WriteString("<mi>" + mathText(s) + "</mi>")
	}
	return b.String()
}

func indexTexts(subs []string) []string {
	out := make([]string, len(subs))
	for i, s := range subs {
		out[i] = subscript.Text(s)
	}
	return out
}

func (s mathmlScript) bracket(relation, a, b string) string {
	return "<mrow><mo>[</mo>" + s.relation(relation, a, b) + "<mo>]</mo></mrow>"
}

func (mathmlScript) relation(sign, a, b string) string {
	return a + "<mo>" + mathText(sign) + "</mo>" + b
}

func (mathmlScript) length(s string) string {
	return "<mrow><mo>‖</mo>" + s + "<mo>‖</mo></mrow>"
}

func (mathmlScript) cases(values, masks []string, last string) string {
	var b strings.Builder
	for i, v := range values {
		b.WriteString("<mtr><mtd>" + v + "</mtd><mtd><mtext>if </mtext>" + masks[i] + "</mtd></mtr>")
	}
	return "<mrow><mo>{</mo><mtable>" + b.String() + "<mtr><mtd>" + last + "</mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>"
}

func (s mathmlScript) call(f string, subs, args []string) string {
	list := strings.Join(args, "<mo>,</mo>")
	switch f {
	case "|":
		return "<mrow><mo>|</mo>" + list + "<mo>|</mo></mrow>"
	case "log|":
		return "<mrow><mi>log</mi><mo>|</mo>" + list + "<mo>|</mo></mrow>"
	case "√":
		return "<msqrt>" + list + "</msqrt>"
	}
	return below("<mi>"+mathText(f)+"</mi>", subs) + s.group(list)
}

func (mathmlScript) power(base, exponent string, _ expr.Expr) string {
	return "<msup><mrow>" + base + "</mrow><mrow>" + exponent + "</mrow></msup>"
}

func (mathmlScript) fraction(p printer, a, b expr.Expr) (string, int) {
	return "<mfrac><mrow>" + p.print(a, loosest) + "</mrow><mrow>" + p.print(b, loosest) + "</mrow></mfrac>", timing + 1
}
