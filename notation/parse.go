package notation

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Limits of a file. Objectives have a dozen lines; a much larger file is a mistake or an attack.
const (
	maxBytes = 1 << 16
	maxDepth = 64  // of nested brackets and powers
	maxChain = 512 // terms of one sum, factors of one product
)

// Version is the version of the notation that this package reads.
const Version = 1

// Parse reads a file; errors cite it by the given name. All independent mistakes are found at
// once: the error is [Errors], unless reading r failed.
func Parse(name string, r io.Reader) (*File, error) {
	if r == nil {
		return nil, fmt.Errorf("%s: there is nothing to read from: the reader is nil", name)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s: more than %d bytes: this is not an objective", name, maxBytes)
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF")) // some editors begin files with a byte order mark
	f := &File{source: newSource(name, string(text))}
	p := parser{source: &f.source, tokens: f.tokens()}
	for p.peek().kind != tokenEnd {
		s := p.statement()
		if s.isBlank() && (len(f.lines) == 0 || f.lines[len(f.lines)-1].isBlank()) {
			continue // one empty line is enough
		}
		f.lines = append(f.lines, s)
	}
	if n := len(f.lines); n > 0 && f.lines[n-1].isBlank() {
		f.lines = f.lines[:n-1]
	}
	f.check()
	if len(f.errors) == 0 {
		f.try()
	}
	if err := f.mistakes(); err != nil {
		return nil, err
	}
	return f, nil
}

// parser reads statements by recursive descent.
type parser struct {
	*source
	tokens []token
	at     int
	depth  int
	notes  []string // comments of the statement so far
	failed bool     // the statement has a mistake: the rest of it is skipped
}

// peek returns the next token that is not a comment; comments are kept for the statement.
func (p *parser) peek() token {
	for p.tokens[p.at].kind == tokenComment {
		p.notes = append(p.notes, p.tokens[p.at].text)
		p.at++
	}
	return p.tokens[p.at]
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// is reports whether the next token is the sign, and consumes it if so.
func (p *parser) is(sign string) bool {
	if t := p.peek(); t.kind != tokenSign || t.text != sign {
		return false
	}
	p.at++
	return true
}

// fails records the statement's first mistake.
func (p *parser) fails(at span, problem, fix string) {
	if !p.failed {
		p.fail(at, problem, fix, "")
	}
	p.failed = true
}

// unexpected reports the next token, where something else was wanted.
func (p *parser) unexpected(want, fix string) {
	t := p.peek()
	found := "the line ends"
	switch t.kind {
	case tokenBad: // was reported
		p.failed = true
		return
	case tokenSign, tokenName, tokenNumber:
		found = "found " + p.text[t.from:t.to]
	case tokenString:
		found = "found a text in quotes"
	case tokenNewline:
		if fix == "" {
			fix = t.text
		}
	}
	p.fails(t.span, "want "+want+", "+found, fix)
}

func (p *parser) want(sign, where string) {
	if !p.is(sign) {
		p.unexpected(sign+" "+where, p.adjacent())
	}
}

// statement parses one line.
func (p *parser) statement() *statement {
	p.failed = false
	s := &statement{span: p.peek().span}
	first := p.at
	if t := p.peek(); t.kind != tokenNewline {
		p.content(s)
		if p.peek().kind != tokenNewline {
			p.unexpected("the end of the line", p.adjacent())
		}
		for p.peek().kind != tokenNewline {
			p.next()
		}
	}
	s.to = p.next().from
	s.comment, s.hasNote = strings.TrimSpace(strings.Join(p.notes, " ")), len(p.notes) > 0
	if s.broken, p.notes = p.failed, nil; s.broken {
		for _, t := range p.tokens[first:p.at] {
			if t.kind == tokenName {
				s.mentions = append(s.mentions, t.text)
			}
		}
	}
	return s
}

// adjacent suggests a fix for two values side by side.
func (p *parser) adjacent() string {
	before, t := p.tokens[max(p.at-1, 0)], p.peek()
	value := t.kind == tokenName || t.kind == tokenNumber || t.kind == tokenSign && t.text == "("
	switch {
	case value && before.kind == tokenName && before.text == "if":
		return "where(mask, a, b) is a where the mask is true, else b"
	case value && before.kind == tokenName && functionNamed(before.text) != nil:
		return "write " + functionNamed(before.text).usage
	case t.kind == tokenSign && t.text == ")":
		return "one bracket too many is closed"
	}
	if value && (before.kind == tokenNumber || before.kind == tokenName || before.text == ")") {
		return fmt.Sprintf("a product has its sign, %s*%s", p.text[before.from:before.to], p.text[t.from:t.to])
	}
	if t.kind == tokenSign && t.text == "=" {
		return "equality is =="
	}
	return ""
}

func (p *parser) content(s *statement) {
	first := p.next()
	if first.kind == tokenBad {
		p.failed = true
		return
	}
	if first.kind != tokenName {
		p.at--
		p.unexpected("a statement", "it starts with a name, or with "+strings.Join(words[:len(words)-1], ", "))
		return
	}
	after := p.peek()
	starts := after.kind == tokenSign && (after.text == "=" || after.text == "[" || after.text == "<-")
	if !slices.Contains(words, first.text) {
		if !starts {
			p.unstarted(first)
			return
		}
		s.name, s.named = first.text, first.span
		p.quantity(s)
		return
	}
	if starts {
		p.fails(first.span, first.text+" is a word of the notation", "choose another name")
		return
	}
	s.kind = first.text
	switch first.text {
	case wordVersion:
		t := p.next()
		if s.name, s.named = t.text, t.span; t.kind != tokenNumber {
			p.at--
			p.unexpected("a version", "notation 1")
		} else if v, err := strconv.Atoi(t.text); err != nil || v < 1 || v > Version {
			p.fails(t.span, "notation "+t.text+" is unknown", fmt.Sprintf("this program reads notation %d", Version))
		}
	case wordTitle:
		t := p.next()
		if s.name, s.named = t.text, t.span; t.kind != tokenString {
			p.at--
			p.unexpected("a title in quotes", `objective "soft k-means"`)
		} else if s.name = cleanComment(t.text); s.name == "" {
			p.fails(t.span, "the title is empty", "")
		}
	case wordScalar:
		p.name(s)
		p.want("=", "and a number")
		s.value = p.signedNumber()
	case wordOutput, wordMinimise, "minimize":
		if s.kind == "minimize" {
			s.kind = wordMinimise
		}
		p.name(s)
	default:
		p.name(s)
		s.axes = p.axes(true)
		if p.is("~") {
			s.value = p.expression()
		}
	}
}

// unstarted reports a line that does not start a statement.
func (p *parser) unstarted(first token) {
	lower := strings.ToLower(first.text)
	near := spelling.Nearest(lower, words)
	if len(near) > 3 && strings.HasPrefix(near, lower[:1]) && p.peek().kind == tokenName {
		p.fails(first.span, fmt.Sprintf("no statement starts with %s", first.text), fmt.Sprintf("did you mean %s?", near))
		return
	}
	p.unexpected("= or <- after "+first.text, "one quantity a line, as in "+first.text+" = …")
}

// quantity parses a definition or an update after its name.
func (p *parser) quantity(s *statement) {
	s.axes = p.axes(false)
	switch {
	case p.is("="):
		s.kind = signDefine
	case p.is("<-"):
		s.kind = signUpdate
		if len(s.axes) > 0 {
			p.fails(s.axes[0].with(s.axes[len(s.axes)-1].span), "an update states no axes: it has those of "+s.name, s.name+" <- …")
		}
	default:
		p.unexpected("= or <- after "+s.name, "")
		return
	}
	s.value = p.expression()
}

func (p *parser) name(s *statement) {
	if p.failed {
		return
	}
	t := p.peek()
	if t.kind != tokenName {
		p.unexpected("a name after "+s.kind, "")
		return
	}
	p.at++
	s.name, s.named = t.text, t.span
	if slices.Contains(words, t.text) {
		p.fails(t.span, t.text+" is a word of the notation", "choose another name")
	}
}

// axes parses [i=150, d] or nothing; sizes are allowed if sized.
func (p *parser) axes(sized bool) []axis {
	if p.failed || !p.is("[") {
		return nil
	}
	var out []axis
	for {
		t := p.peek()
		if t.kind != tokenName {
			if t.kind == tokenSign && t.text == "]" && len(out) == 0 {
				break
			}
			fix := ""
			if t.kind == tokenNumber {
				fix = "axes have names, as in [i=" + t.text + "]"
			}
			p.unexpected("the name of an axis", fix)
			return out
		}
		p.at++
		a := axis{name: t.text, span: t.span}
		if p.is("=") {
			n := p.peek()
			switch {
			case !sized:
				fix := "state " + a.name + " alone"
				if !p.defines() {
					fix = "begin the line with " + listed([]string{wordInput, wordParam}) + " or " + wordState
				}
				p.fails(t.with(n.span), "a size is stated where an input, a parameter or a state is declared", fix)
				return out
			case n.kind == tokenName || n.kind == tokenNumber:
				a.size, a.span = n.text, t.with(n.span)
				p.at++
			default:
				p.unexpected("the size of "+a.name, "")
				return out
			}
		}
		if out = append(out, a); len(out) > graph.MaxRank {
			p.fails(a.span, fmt.Sprintf("more than %d axes", graph.MaxRank), "")
			return out
		}
		if !p.is(",") {
			break
		}
	}
	p.closeAxes()
	return out
}

// closeAxes parses the end of a list of axes.
func (p *parser) closeAxes() {
	if p.is("]") {
		return
	}
	fix := ""
	if k := p.peek().kind; k == tokenName || k == tokenNumber {
		fix = "axes have commas between them"
	}
	p.unexpected("] after the axes", fix)
}

// defines reports whether the rest of the line, from inside the brackets of its left side, is a
// definition.
func (p *parser) defines() bool {
	closed := false
	for _, t := range p.tokens[p.at:] {
		switch {
		case t.kind == tokenNewline:
			return false
		case t.kind == tokenSign && t.text == "]":
			closed = true
		case t.kind == tokenSign && t.text == "=" && closed:
			return true
		}
	}
	return false
}

// number checks a literal.
func (p *parser) number(t token) *expr {
	if v, err := strconv.ParseFloat(t.text, 64); err != nil || math.IsInf(v, 0) {
		p.fails(t.span, t.text+" is out of range", "")
	}
	return &expr{kind: exprNumber, text: t.text, span: t.span}
}

func (p *parser) signedNumber() *expr {
	at := p.peek().span
	negative := p.is("-")
	t := p.peek()
	if p.failed || t.kind != tokenNumber {
		p.unexpected("a number", "")
		return nil
	}
	p.at++
	e := p.number(t)
	if negative {
		e = &expr{kind: exprNeg, args: []*expr{e}, span: at.with(t.span)}
	}
	return e
}
