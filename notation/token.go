package notation

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd     tokenKind = iota // of the text
	tokenNewline                  // of a statement; its text is a hint if a bracket is open
	tokenName
	tokenNumber
	tokenString
	tokenSign
	tokenComment
	tokenBad // was reported
)

// token is a word of a file. The text of a sign is its plain form: - for −, * for ·.
type token struct {
	kind tokenKind
	text string
	span
}

// signs has the operators and brackets, longest first, with their plain forms.
var signs = []struct{ written, plain string }{
	{"<-", "<-"}, {"->", "->"}, {"**", "^"}, {"<=", "<="}, {">=", ">="}, {"==", "=="}, {"!=", "!="},
	{"←", "<-"}, {"→", "->"}, {"≤", "<="}, {"≥", ">="}, {"≠", "!="},
	{"−", "-"}, {"·", "*"}, {"⋅", "*"}, {"×", "*"},
	{"+", "+"}, {"-", "-"}, {"*", "*"}, {"/", "/"}, {"^", "^"}, {"<", "<"}, {">", ">"}, {"=", "="}, {"~", "~"},
	{"(", "("}, {")", ")"}, {"[", "["}, {"]", "]"}, {",", ","},
}

// foreign has signs of other notations, with what to write here.
var foreign = map[rune]string{
	'|': "an absolute value is abs(x), a length norm(x, axis), its square sum(x^2, axis)", '‖': "a length is norm(x, axis), its square sum(x^2, axis)",
	'@': "a matrix product is dot(a, b, axis)", ':': "a definition has =", '%': "a comment starts with #", '&': "and(a, b)", '!': "not(a)",
	'{': "axes stand in [ ]", '}': "axes stand in [ ]", ';': "one statement a line", '“': `a title stands in "`, '”': `a title stands in "`, '.': "a product has its sign, a*b",
	'\\': "functions and Greek letters are written alone: sum(x, axis), exp(x), gamma", '√': "a root is sqrt(x)",
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

// superscript returns the digit for a raised one.
func superscript(r rune) (digit byte, ok bool) {
	i := 0
	for _, s := range superscripts {
		if s == r {
			return '0' + byte(i), true
		}
		i++
	}
	return 0, false
}

func startsName(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }

func continuesName(r rune) bool {
	return startsName(r) || r >= '0' && r <= '9' || r == '′' || r == '\'' || unicode.Is(unicode.Mn, r)
}

// tokens cuts the text into words. Within brackets an indented line continues the one above, so
// that an unclosed bracket affects only one statement.
func (s *source) tokens() []token {
	var out []token
	depth, spoiled := 0, false // one error a statement is enough
	for at := 0; at < len(s.text); {
		rest := s.text[at:]
		r, size := utf8.DecodeRuneInString(rest)
		add := func(kind tokenKind, text string, n int) {
			out = append(out, token{kind, text, span{at, at + n}})
			at += n
		}
		if r == '\n' {
			next, _ := utf8.DecodeRuneInString(rest[1:])
			if depth > 0 && (next == ' ' || next == '\t') {
				at++
				continue
			}
			hint := ""
			if depth > 0 && next != '\n' && !startsName(next) && len(rest) > 1 {
				hint = "within brackets an indented line continues the one above"
			}
			depth, spoiled = 0, false
			add(tokenNewline, hint, 1)
			continue
		}
		if r == ' ' || r == '\t' || r == '\r' {
			at += size
			continue
		}
		if n := countWhile(rest, continuesName); startsName(r) {
			add(tokenName, strings.ReplaceAll(rest[:n], "'", "′"), n)
			continue
		}
		if n := numberLength(rest); n > 0 {
			add(tokenNumber, rest[:n], n)
			continue
		}
		if _, ok := superscript(r); ok {
			n := countWhile(rest, func(r rune) bool { _, ok := superscript(r); return ok })
			var digits []byte
			for _, r := range rest[:n] {
				d, _ := superscript(r)
				digits = append(digits, d)
			}
			out = append(out, token{tokenSign, "^", span{at, at + n}})
			add(tokenNumber, string(digits), n)
			continue
		}
		if r == '#' {
			n := countWhile(rest, func(r rune) bool { return r != '\n' })
			add(tokenComment, cleanComment(rest[1:n]), n)
			continue
		}
		if r == '"' {
			n := 1 + countWhile(rest[1:], func(r rune) bool { return r != '"' && r != '\n' })
			if n == len(rest) || rest[n] != '"' {
				s.fail(span{at, at + n}, "the title has no end", `close it with "`, "")
				add(tokenBad, "", n)
				continue
			}
			add(tokenString, rest[1:n], n+1)
			continue
		}
		if strings.HasPrefix(rest, "//") {
			if !spoiled {
				s.fail(span{at, at + 2}, "// means nothing here", "a comment starts with #", "")
			}
			spoiled = true
			add(tokenBad, "", 2)
			continue
		}
		sign := ""
		for _, x := range signs {
			if strings.HasPrefix(rest, x.written) {
				sign, size = x.plain, len(x.written)
				break
			}
		}
		switch sign {
		case "":
			what := string(r)
			switch {
			case r == utf8.RuneError:
				what = "a byte that is no UTF-8"
			case !unicode.IsPrint(r):
				what = fmt.Sprintf("the invisible character %U", r)
			}
			if !spoiled {
				s.fail(span{at, at + size}, what+" means nothing here", foreign[r], "")
			}
			spoiled = true
			add(tokenBad, "", size)
			continue
		case "(", "[":
			depth++
		case ")", "]":
			depth = max(0, depth-1)
		}
		add(tokenSign, sign, size)
	}
	return append(out, token{tokenNewline, "", span{len(s.text), len(s.text)}}, token{tokenEnd, "", span{len(s.text), len(s.text)}})
}

// cleanComment returns a comment as it is printed, without control characters that a terminal
// would obey.
func cleanComment(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// countWhile returns the number of bytes of the leading characters that are wanted.
func countWhile(text string, wanted func(rune) bool) int {
	for i, r := range text {
		if !wanted(r) {
			return i
		}
	}
	return len(text)
}

// numberLength returns the length of the decimal number that the text starts with, 0 if there is
// none.
func numberLength(text string) int {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	n := countWhile(text, digit)
	digits := n
	if strings.HasPrefix(text[n:], ".") {
		m := countWhile(text[n+1:], digit)
		digits += m
		n += 1 + m
	}
	if digits == 0 {
		return 0
	}
	if exponent := strings.TrimLeft(text[n:], "eE"); len(exponent) == len(text[n:])-1 {
		sign := 0
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			sign = 1
		}
		if m := countWhile(exponent[sign:], digit); m > 0 {
			n += 1 + sign + m
		}
	}
	return n
}
