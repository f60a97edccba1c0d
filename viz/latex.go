package viz

import (
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// ExprLaTeX prints an expression for LaTeX's math mode, with amsmath or KaTeX.
func ExprLaTeX(e expr.Expr) string { return printer{latexScript{}}.print(e, bare) }

type latexScript struct{}

func (latexScript) symbol(name string, subs []string) string {
	if rest, ok := strings.CutPrefix(name, "∂"); ok {
		if loss, of, ok := cutFraction(rest); ok {
			return `\frac{\partial ` + texName(loss) + `}{\partial ` + texName(of) + texSubs(subs) + `}`
		}
	}
	return texName(name) + texSubs(subs)
}

// cutFraction splits ℓ/∂D at the first bar outside parentheses.
func cutFraction(s string) (loss, of string, ok bool) {
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], "/∂"):
			return s[:i], s[i+len("/∂"):], true
		}
	}
	return "", "", false
}

func (latexScript) below(base string, subs []string) string {
	return "{" + base + "}" + texSubs(subs)
}

func (latexScript) number(text string) string {
	if strings.Trim(text, "0123456789.e+-−") != "" {
		return texName(text)
	}
	if m, exp, ok := strings.Cut(text, "e"); ok {
		exp = strings.ReplaceAll(exp, "−", "-")
		if m == "1" {
			return "10^{" + exp + "}"
		}
		return m + ` \cdot 10^{` + exp + "}"
	}
	return strings.ReplaceAll(text, "−", "-")
}

func (latexScript) times() string         { return ` \, ` }
func (latexScript) plus() string          { return "+" }
func (latexScript) minus() string         { return "-" }
func (latexScript) group(s string) string { return `\left(` + s + `\right)` }
func (latexScript) norm(s string) string  { return `\left\lVert ` + s + ` \right\rVert^{2}` }

func (latexScript) length(s string) string {
	return `\left\lVert ` + s + ` \right\rVert`
}

func (latexScript) cases(values, masks []string, last string) string {
	var b strings.Builder
	for i, v := range values {
		b.WriteString(v + ` & \text{if } ` + masks[i] + ` \\ `)
	}
	return `\begin{cases} ` + b.String() + last + ` & \text{else} \end{cases}`
}

func (latexScript) sign(text string, subs []string) string {
	switch text {
	case "Σ":
		text = `\sum`
	case "max", "min":
		text = `\` + text
	default:
		text = operator(text)
	}
	return text + texSubs(subs) + " "
}

func (s latexScript) bracket(relation, a, b string) string {
	return `\left[` + s.relation(relation, a, b) + `\right]`
}

func (latexScript) relation(sign, a, b string) string {
	switch sign {
	case "≤":
		sign = `\le`
	case "≠":
		sign = `\ne`
	case "∧":
		sign = `\wedge`
	case "∨":
		sign = `\vee`
	case "<", "=":
	default:
		sign = texText(sign)
	}
	return a + " " + sign + " " + b
}

func (s latexScript) call(f string, subs, args []string) string {
	list := strings.Join(args, ", ")
	switch f {
	case "|":
		return `\left|` + list + `\right|`
	case "log|":
		return `\log \left|` + list + `\right|`
	case "√":
		return `\sqrt{` + list + `}`
	case "¬":
		return `\neg` + s.group(list)
	case "exp", "log", "sin", "cos", "tanh", "max", "min":
		f = `\` + f
	case "σ":
		f = `\sigma`
	case "Σ":
		f = `\sum`
	default:
		f = operator(f)
	}
	return f + texSubs(subs) + s.group(list)
}

func operator(name string) string { return `\operatorname{` + texText(name) + `}` }

func (latexScript) power(base, exponent string, e expr.Expr) string {
	switch exponent {
	case texName("⊤"):
		exponent = `\top`
	case texName("−1"):
		exponent = "-1"
	}
	return "{" + base + "}^{" + exponent + "}"
}

func (latexScript) fraction(p printer, a, b expr.Expr) (string, int) {
	return `\frac{` + p.print(a, loosest) + `}{` + p.print(b, loosest) + `}`, timing + 1
}

func texSubs(subs []string) string {
	if len(subs) == 0 {
		return ""
	}
	single := true
	parts := make([]string, len(subs))
	for i, s := range subs {
		s = subscript.Text(s)
		parts[i] = texIndex(s)
		single = single && len([]rune(s)) == 1 && (len(subs) == 1 || !isDigit(s[0]))
	}
	if single {
		return "_{" + joinTex(parts) + "}"
	}
	return "_{" + strings.Join(parts, ",") + "}"
}

// texIndex writes an index: a name, or an expression such as t+1 or (h,e).
func texIndex(s string) string {
	if strings.ContainsAny(s, "+−(") {
		return texText(s)
	}
	return texName(s)
}

// joinTex concatenates parts, with a space where a letter would run into the command before it.
func joinTex(parts []string) string {
	var b strings.Builder
	for i, s := range parts {
		if i > 0 && strings.HasPrefix(parts[i-1], `\`) && isLetter(parts[i-1][len(parts[i-1])-1]) && isLetter(s[0]) {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return c|' ' >= 'a' && c|' ' <= 'z' }

// texName writes a symbol: one letter, with its accent or primes, as mathematics; several letters
// upright. Whatever the name contains, the result has balanced braces and no active character.
func texName(name string) string {
	runes := []rune(decomposed(oneLine(name)))
	if len(runes) == 0 {
		return "{}"
	}
	base, rest := runes[0], runes[1:]
	primes := 0
	for len(rest) > 0 && (rest[len(rest)-1] == '′' || rest[len(rest)-1] == '\'') {
		rest, primes = rest[:len(rest)-1], primes+1
	}
	if unicode.IsLetter(base) || strings.ContainsRune("∞⊤", base) {
		if s := texRune(base); len(rest) == 0 {
			return s + strings.Repeat("'", primes)
		} else if a := accent(rest[0]); len(rest) == 1 && a != "" {
			return a + "{" + s + "}" + strings.Repeat("'", primes)
		}
	}
	return `\mathrm{` + texText(name) + "}"
}

// texText writes text letter by letter within \mathrm{…}.
func texText(s string) string {
	runes := []rune(decomposed(oneLine(s)))
	var parts []string
	for i := 0; i < len(runes); i++ {
		r := texRune(runes[i])
		if i+1 < len(runes) && accent(runes[i+1]) != "" {
			i++
			r = accent(runes[i]) + "{" + r + "}"
		}
		parts = append(parts, r)
	}
	return joinTex(parts)
}

func accent(mark rune) string {
	switch mark {
	case '\u0302':
		return `\hat`
	case '\u0303':
		return `\tilde`
	case '\u0304', '\u0305':
		return `\bar`
	case '\u0307':
		return `\dot`
	case '\u0308':
		return `\ddot`
	case '\u20D7':
		return `\vec`
	}
	return ""
}

// decomposed replaces the common precomposed letters with accents by letters with combining ones.
func decomposed(s string) string {
	return strings.NewReplacer("ŷ", "y\u0302", "ê", "e\u0302", "â", "a\u0302", "î", "i\u0302", "ô", "o\u0302", "û", "u\u0302",
		"ẑ", "z\u0302", "ĉ", "c\u0302", "ĝ", "g\u0302", "ĥ", "h\u0302", "ĵ", "j\u0302", "ŝ", "s\u0302", "ŵ", "w\u0302",
		"ã", "a\u0303", "ñ", "n\u0303", "õ", "o\u0303", "ỹ", "y\u0303", "ā", "a\u0304", "ē", "e\u0304", "ȳ", "y\u0304", "ẋ", "x\u0307", "ẏ", "y\u0307").Replace(s)
}

// texCommands has the signs that LaTeX names otherwise than the alphabet, or has no name for.
var texCommands = map[rune]string{
	'ε': `\varepsilon`, 'φ': `\varphi`, 'ϵ': `\epsilon`, 'ϕ': `\phi`, 'ο': "ο", 'ℓ': `\ell`, '∂': `\partial`, '∇': `\nabla`,
	'∞': `\infty`, '⊤': `\top`, '·': `\cdot`, '−': "-", '∑': `\Sigma`,
}

// texRune returns one character in math mode.
func texRune(r rune) string {
	if command, ok := texCommands[r]; ok {
		return command
	}
	if name, ok := greek.Name(string(r)); ok {
		return `\` + name
	}
	switch r {
	case '$', '&', '#', '_', '%', '{', '}':
		return `\` + string(r)
	case '\\':
		return `\backslash`
	case ' ':
		return `\ `
	case '-', '\'', '`', '"':
		return `\text{` + string(r) + `}`
	case '^':
		return `\text{\textasciicircum}`
	case '~':
		return `\sim`
	case '′':
		return "{}'"
	}
	if d := strings.IndexRune("₀₁₂₃₄₅₆₇₈₉", r); d >= 0 {
		return "{}_{" + string(rune('0'+d/len("₀"))) + "}"
	}
	if d := strings.Index("⁰¹²³⁴⁵⁶⁷⁸⁹", string(r)); d >= 0 {
		return "{}^{" + string(rune('0'+len([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹"[:d])))) + "}"
	}
	return string(r)
}
