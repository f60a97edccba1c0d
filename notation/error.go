package notation

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// Pos is a place in a file. Lines and columns count from 1, columns in characters.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String returns kmeans.tapestry:5:10.
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error is a mistake in a file.
type Error struct {
	Pos
	Problem string
	Fix     string // the likely fix, "" if none is known
	Why     string // the cause of the problem, "" if there is no more to say
	Source  string // the line
	Width   int    // number of characters of the line that are meant
}

// Error returns one line:
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

// viewColumns is the number of columns of a line that View shows at most.
const viewColumns = 160

// View returns the error with its line and a caret below the place that is meant:
//
//	kmeans.tapestry:5:10: D has axes …
//	    D[i,j] = (x - r)^2
//	             ^~~~~~~~~
//
// Of a line with more than 160 characters, it shows those around the place, and … for the others.
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

// columns returns the number of columns of a terminal that a character takes: none if it combines
// with the one before, two if it is Chinese, Japanese or Korean.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= '！' && r <= '｠':
		return 2
	}
	return 1
}

// Errors has the mistakes of a file in order of their places. They are the first [MaxErrors]
// found; if there are more, the last error says how many.
type Errors []*Error

// MaxErrors is the number of mistakes of a file that are reported one by one.
const MaxErrors = 50

// Error returns the views of all mistakes.
func (e Errors) Error() string {
	views := make([]string, len(e))
	for i, x := range e {
		views[i] = x.View()
	}
	return strings.Join(views, "\n")
}

// Unwrap returns the mistakes, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}
