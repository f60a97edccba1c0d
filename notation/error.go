package notation

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/internal/terminal"
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
	return terminal.Clean(s)
}

// viewColumns is how much of a line View shows: of a longer one, what is around the place.
const viewColumns = 160

// View is the error with its line and a caret below the place that is meant:
//
//	kmeans.tapestry:5:10: D has axes …
//	    D[i,j] = (x - r)^2
//	             ^~~~~~~~~
//
// Of a line of more than 160 characters it shows those around the place, with … for the others.
func (e *Error) View() string {
	line := []rune(strings.TrimRight(e.Source, " \t\r"))
	from := min(max(e.Column-1, 0), len(line))
	to := min(max(from+e.Width, from+1), max(len(line), from+1))
	if len(line) > viewColumns {
		first := min(max(from-viewColumns/3, 0), len(line)-viewColumns)
		last := first + viewColumns
		shown := slices.Clone(line[first:last])
		if first > 0 {
			shown[0] = '…'
		}
		if last < len(line) {
			shown[len(shown)-1] = '…'
		}
		line, from, to = shown, from-first, min(to-first, len(shown)+1)
	}
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
	return e.Error() + "\n    " + terminal.Clean(string(line)) + "\n    " + pad.String() + under.String()
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

// Errors are the mistakes of a file, in order of their places: the first [MaxErrors] that
// were found, and where there are more, one at the end of the file that says how many.
type Errors []*Error

// MaxErrors is how many mistakes of a file are told one by one.
const MaxErrors = 50

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
