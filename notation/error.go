package notation

import (
	"fmt"
	"strings"
	"unicode"
)

// Pos is a place in a file: lines and columns count from 1, columns in characters.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String gives kmeans.tapestry:5:10.
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error is one mistake in a file.
type Error struct {
	Pos
	Problem string
	Fix     string // the likely remedy, "" if none is known
	Why     string // where the problem comes from, "" if there is no more to say
	Source  string // the line
	Width   int    // how many characters of the line are meant
}

// Error gives one line:
//
//	kmeans.tapestry:5:10: D has axes [i,j,d], but [i,j] are stated: sum over d? (x[i,d] − r[j,d] spans i, j, d)
func (e *Error) Error() string {
	s := e.Pos.String() + ": " + e.Problem
	if e.Fix != "" {
		s += ": " + e.Fix
	}
	if e.Why != "" {
		s += " (" + e.Why + ")"
	}
	return s
}

// View is the error with its line and a caret below the place that is meant:
//
//	kmeans.tapestry:5:10: D has axes …
//	    D[i,j] = (x - r)^2
//	             ^~~~~~~~~
func (e *Error) View() string {
	line := []rune(strings.TrimRight(e.Source, " \t\r"))
	from := min(max(e.Column-1, 0), len(line))
	to := min(max(from+e.Width, from+1), max(len(line), from+1))
	var pad, under strings.Builder
	for _, r := range line[:from] {
		switch {
		case r == '\t':
			pad.WriteRune('\t')
		default:
			pad.WriteString(strings.Repeat(" ", columns(r)))
		}
	}
	width := 0
	for _, r := range line[from:min(to, len(line))] {
		width += columns(r)
	}
	under.WriteString("^" + strings.Repeat("~", max(width-1, 0)))
	shown := strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, string(line))
	return e.Error() + "\n    " + shown + "\n    " + pad.String() + under.String()
}

// columns is how many columns of a terminal a character takes: none if it stands on the
// one before, two if it is Chinese, Japanese or Korean.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= '！' && r <= '｠':
		return 2
	}
	return 1
}

// Errors are the mistakes of a file, in order of their places.
type Errors []*Error

// Error gives the view of each.
func (e Errors) Error() string {
	views := make([]string, len(e))
	for i, x := range e {
		views[i] = x.View()
	}
	return strings.Join(views, "\n")
}

// Unwrap lists the mistakes for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}

// span is a part of the text, in bytes.
type span struct{ from, to int }

func (s span) with(t span) span { return span{s.from, t.to} }

// source is the text of a file and the mistakes found in it.
type source struct {
	name   string
	text   string
	errors Errors
}

// line is the number of the line with the given byte, and where it starts.
func (s *source) line(at int) (number, start int) {
	at = min(at, len(s.text))
	return 1 + strings.Count(s.text[:at], "\n"), 1 + strings.LastIndexByte(s.text[:at], '\n')
}

// fail records a mistake. What else is wrong in the same place is its consequence.
func (s *source) fail(at span, problem, fix, why string) {
	number, start := s.line(at.from)
	end := len(s.text)
	if n := strings.IndexByte(s.text[start:], '\n'); n >= 0 {
		end = start + n
	}
	from := min(at.from, end)
	e := &Error{
		Pos:     Pos{s.name, number, 1 + len([]rune(s.text[start:from]))},
		Problem: problem, Fix: fix, Why: why, Source: s.text[start:end],
		Width: len([]rune(s.text[from:max(from, min(at.to, end))])),
	}
	for _, x := range s.errors {
		if x.Pos == e.Pos {
			return
		}
	}
	s.errors = append(s.errors, e)
}
