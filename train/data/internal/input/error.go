package input

import (
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Error is a complaint about a file or what was read from it, located as far as it
// can be. Its text is one line: iris.csv:17: column "petal_length": "abc" is not a
// number, or digits.npy: byte 128: the file ends after 3 of 10 elements.
type Error struct {
	File   string // as given to the reader; of a member of an archive, ARCHIVE/MEMBER
	Line   int    // line in the file, from 1; 0 where no line is to blame
	Offset int64  // byte in the file, from 0, decompressed if it is compressed; 0 where no byte is to blame
	Column string // name of the column; "" where no column is to blame
	Msg    string // what is wrong
	Err    error  // the cause, where another package reported it; may be nil

	// Missing says that a value seems to be missing, for which Missing() allows, as Error
	// adds: a program that offers another way may clear it, and name its own.
	Missing bool
}

// Error gives FILE:LINE: BYTE: COLUMN: what is wrong, in one line.
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

// NoWriter returns what is wrong where nil is to be written to.
func NoWriter() error { return &Error{Msg: "there is no writer to write to"} }

// OrZero returns p, or a zero value in place of nil: a method that begins with it has only to
// be right for what holds nothing.
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
