package input

import (
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Error is data.Error: a mistake in a file or in what was read from it, located as far as it can
// be.
type Error struct {
	File   string // as given to the reader; of a member of an archive, ARCHIVE/MEMBER
	Line   int    // line in the file, from 1; 0 where no line is to blame
	Offset int64  // byte in the file, from 0, decompressed if it is compressed; 0 where no byte is to blame
	Column string // name of the column; "" where no column is to blame
	Msg    string // what is wrong
	Err    error  // the cause, where another package reported it; may be nil

	// Missing is true where a value seems to be missing: the text then recommends the option
	// Missing(). A program that offers another way may clear it.
	Missing bool
}

// Error returns FILE:LINE: BYTE: COLUMN: and what is wrong, in one line.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File != "" && e.Line > 0:
		b.WriteString(e.File + ":" + strconv.Itoa(e.Line) + ": ")
	case e.File != "":
		b.WriteString(e.File + ": ")
	case e.Line > 0:
		b.WriteString("line " + strconv.Itoa(e.Line) + ": ")
	}
	if e.Offset > 0 {
		b.WriteString("byte " + strconv.FormatInt(e.Offset, 10) + ": ")
	}
	if e.Column != "" {
		b.WriteString("column " + Quote(e.Column) + ": ")
	}
	b.WriteString(e.Msg)
	if e.Missing {
		b.WriteString("; Missing() allows for missing values")
	}
	return OneLine.Replace(b.String())
}

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }

// NoWriter returns the error for a nil io.Writer.
func NoWriter() error { return &Error{Msg: "there is no writer to write to"} }

// OrZero returns p, or a pointer to a zero value if p is nil. A method that begins with it only has
// to be right for a zero receiver.
func OrZero[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}

// DidYouMean returns ` (did you mean "iris"?)` for the candidate that name is likely a slip for,
// or "" if there is none.
func DidYouMean(name string, candidates []string) string {
	near := spelling.Near(name, candidates)
	if near == "" {
		return ""
	}
	return " (did you mean " + Quote(near) + "?)"
}

// OneLine keeps file names and foreign messages from breaking the line.
var OneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Quote quotes text from a file, cut short because a cell may be a megabyte.
func Quote(s string) string {
	const longest = 40
	n := 0
	for i := range s {
		if n++; n > longest {
			return strconv.Quote(s[:i]) + "…"
		}
	}
	return strconv.Quote(s)
}
