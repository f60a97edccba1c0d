package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Unicode prints an expression on one line, with the parentheses that precedence requires. A sum
// sign extends over the product that follows it.
func Unicode(e expr.Expr) string { return oneLine(printer{unicodeScript{}}.print(e, bare)) }

// Binding strengths, loosest first: an expression in a place that binds tighter is put into
// parentheses.
const (
	bare = iota - 1 // a if m, else b
	loosest
	adding   // a + b
	negating // −a, Σ a
	timing   // a·b, a/b
	rising   // a²
)

// script is a way to write mathematics: Unicode, LaTeX or MathML.
type script interface {
	symbol(name string, subs []string) string
	below(base string, subs []string) string // an index below what is printed already
	number(text string) string
	times() string
	plus() string
	minus() string
	sign(text string, subs []string) string // Σ_j with the space behind
	call(f string, subs, args []string) string
	bracket(relation, a, b string) string
	relation(sign, a, b string) string
	group(s string) string
	norm(s string) string   // ‖s‖²
	length(s string) string // ‖s‖
	cases(values, masks []string, last string) string
	power(base, exponent string, e expr.Expr) string
	// fraction writes a/b. The binding tells whether a product may follow without parentheses.
	fraction(p printer, a, b expr.Expr) (text string, binding int)
}

type printer struct{ script }

// print writes e for a place that needs at least the given binding.
func (p printer) print(e expr.Expr, need int) string {
	s, binding := p.bound(e)
	if binding < need {
		return p.group(s)
	}
	return s
}

func (p printer) bound(e expr.Expr) (text string, binding int) {
	switch e.Kind {
	case expr.KindSymbol:
		binding := symbolBinding(e.Text)
		if binding == adding && len(e.Subs) > 0 {
			return p.symbol("("+e.Text+")", e.Subs), rising + 1
		}
		return p.symbol(e.Text, e.Subs), binding
	case expr.KindNumber:
		return p.number(e.Text), rising + 1
	case expr.KindAdd:
		var b strings.Builder
		for i, t := range e.Args {
			switch {
			case i == 0:
			case t.Kind == expr.KindNeg:
				b.WriteString(" " + p.minus() + " ")
				t = t.Args[0]
				b.WriteString(p.print(t, negating))
				continue
			default:
				b.WriteString(" " + p.plus() + " ")
			}
			b.WriteString(p.print(t, adding+1))
		}
		return b.String(), adding
	case expr.KindNeg:
		a := e.Args[0]
		if a.Kind == expr.KindNeg {
			return p.minus() + p.print(a, timing), negating
		}
		return p.minus() + p.print(a, negating), negating
	case expr.KindMul:
		var factors []expr.Expr
		for _, a := range e.Args {
			factors = append(factors, matrixFactors(a)...)
		}
		return p.product(factors)
	case expr.KindDiv:
		return p.fraction(p, e.Args[0], e.Args[1])
	case expr.KindPower:
		need := rising + 1
		if e.Args[0].Kind == expr.KindCall {
			need = rising
		}
		return p.power(p.print(e.Args[0], need), p.print(e.Args[1], loosest), e.Args[1]), rising
	case expr.KindCases:
		var values, masks []string
		for e.Kind == expr.KindCases {
			masks = append(masks, p.condition(e.Args[0]))
			values = append(values, p.print(e.Args[1], loosest))
			e = e.Args[2]
		}
		return p.cases(values, masks, p.print(e, loosest)), bare
	case expr.KindCall:
		if e.Text == "√" && len(e.Args) == 1 && e.Args[0].Kind == expr.KindNorm {
			return p.length(p.print(e.Args[0].Args[0], loosest)), rising + 1
		}
		need := loosest
		if len(e.Args) == 1 {
			need = bare
		}
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = p.print(a, need)
		}
		return p.call(e.Text, e.Subs, args), rising + 1
	case expr.KindBig:
		need := timing
		if k := e.Args[0].Kind; k == expr.KindBig || k == expr.KindMul {
			need = negating
		}
		sign, subs := e.Text, e.Subs
		if sign == expr.LaneSum {
			sign, subs = "Σ", []string{"lanes"}
		}
		return p.sign(sign, subs) + p.print(e.Args[0], need), negating
	case expr.KindArray:
		return p.array(e)
	case expr.KindProduct:
		var factors []expr.Expr
		for _, a := range e.Args {
			factors = append(factors, matrixFactors(a)...)
		}
		return p.product(factors)
	case expr.KindElement:
		return p.below(p.print(e.Args[0], rising+1), e.Subs), rising + 1
	case expr.KindNorm:
		return p.norm(p.print(e.Args[0], loosest)), rising
	case expr.KindBracket:
		return p.bracket(e.Text, p.print(e.Args[0], loosest), p.print(e.Args[1], loosest)), rising + 1
	}
	return "?", rising + 1
}

// condition writes a mask as it stands after "if": a comparison without brackets.
func (p printer) condition(mask expr.Expr) string {
	if mask.Kind != expr.KindBracket {
		return p.print(mask, loosest)
	}
	parts := make([]string, len(mask.Args))
	for i, a := range mask.Args {
		if (mask.Text == "∧" || mask.Text == "∨") && a.Kind == expr.KindBracket && (a.Text == mask.Text || a.Text != "∧" && a.Text != "∨") {
			parts[i] = p.condition(a)
		} else {
			parts[i] = p.print(a, loosest)
		}
	}
	return p.relation(mask.Text, parts[0], parts[1])
}

// symbolBinding returns a loose binding for names that are themselves expressions: ∂ℓ/∂D, A + I.
// A hyphen is part of a word, and a name in brackets is closed.
func symbolBinding(name string) int {
	binding, depth := rising+1, 0
	for i, r := range name {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case depth > 0:
		case r == '+' || r == '−' || r == '-' && strings.HasPrefix(name[i:], "- "):
			binding = min(binding, adding)
		case strings.ContainsRune("/ ·×*", r):
			binding = min(binding, timing)
		}
	}
	return binding
}

type unicodeScript struct{}

func (unicodeScript) symbol(name string, subs []string) string {
	return name + lowered(subs)
}

func (unicodeScript) below(base string, subs []string) string { return base + lowered(subs) }

func (unicodeScript) number(text string) string { return text }
func (unicodeScript) times() string             { return "·" }
func (unicodeScript) plus() string              { return "+" }
func (unicodeScript) minus() string             { return "−" }
func (unicodeScript) group(s string) string     { return "(" + s + ")" }
func (unicodeScript) norm(s string) string      { return "‖" + s + "‖²" }
func (unicodeScript) length(s string) string    { return "‖" + s + "‖" }

func (unicodeScript) cases(values, masks []string, last string) string {
	var b strings.Builder
	for i, v := range values {
		b.WriteString(v + " if " + masks[i] + ", ")
	}
	return b.String() + "else " + last
}

func (unicodeScript) relation(sign, a, b string) string { return a + " " + sign + " " + b }

func (unicodeScript) sign(text string, subs []string) string { return text + lowered(subs) + " " }

func (unicodeScript) bracket(relation, a, b string) string {
	return "[" + a + " " + relation + " " + b + "]"
}

func (unicodeScript) call(f string, subs, args []string) string {
	list := strings.Join(args, ", ")
	switch f {
	case "|":
		return "|" + list + "|"
	case "log|":
		return "log|" + list + "|"
	case "√":
		if strings.Trim(list, "0123456789") == "" {
			return f + list
		}
	}
	return f + lowered(subs) + "(" + list + ")"
}

func (unicodeScript) power(base, exponent string, e expr.Expr) string {
	if e.Kind == expr.KindNumber || exponent == "⊤" || exponent == "−1" && e.Kind == expr.KindSymbol {
		if s := figure.Linear(figure.Sup(exponent)); !strings.HasPrefix(s, "^") {
			return base + s
		}
	}
	if e.Kind == expr.KindSymbol && symbolBinding(e.Text) > rising || e.Kind == expr.KindNumber {
		return base + "^" + exponent
	}
	return base + "^(" + exponent + ")"
}

func (unicodeScript) fraction(p printer, a, b expr.Expr) (string, int) {
	return p.print(a, timing) + "/" + p.print(b, rising), timing
}

// lowered writes indices: ᵢⱼ where Unicode has all of them, else _j or _{id}.
func lowered(subs []string) string {
	list, single := indexList(subs)
	switch {
	case list == "":
		return ""
	case single:
		return figure.Linear(figure.Sub(list))
	}
	return "_{" + list + "}"
}

// indexList lists indices: those of one letter side by side, others with commas. single reports
// whether each is one letter.
func indexList(subs []string) (list string, single bool) {
	single = true
	subs = slices.Clone(subs)
	for i, s := range subs {
		subs[i] = subscript.Text(s)
		single = single && len([]rune(subs[i])) == 1 && (len(subs) == 1 || !isDigit(subs[i][0]))
	}
	if single {
		return strings.Join(subs, ""), true
	}
	return strings.Join(subs, ","), false
}

// translate replaces each rune of from by the one of to at its place; ok is false if s has
// others.
func translate(s, from, to string) (string, bool) {
	f, t := []rune(from), []rune(to)
	var b strings.Builder
	for _, r := range s {
		found := false
		for i := range f {
			if f[i] == r {
				b.WriteRune(t[i])
				found = true
			}
		}
		if !found {
			return "", false
		}
	}
	return b.String(), true
}
