package terminal

import (
	"io"
	"strings"
	"unicode"
)

// Fold is w for text on a terminal that is so many columns wide: lines that are longer are broken
// between words, and go on further in than they began. A word that is wider than the terminal stays
// whole. Text is not held back, so that a prompt is seen.
func Fold(w io.Writer, width int) io.Writer { return &folder{w: w, width: width, begins: true} }

type folder struct {
	w      io.Writer
	width  int
	column int  // where the line stands
	indent int  // of its first word
	begins bool // there is no word in the line yet
}

// Write writes p folded. It reports len(p) unless the writer below fails, and then 0.
func (f *folder) Write(p []byte) (int, error) {
	var out strings.Builder
	for rest := string(p); rest != ""; {
		line, after, whole := strings.Cut(rest, "\n")
		f.line(&out, line)
		if rest = after; whole {
			out.WriteByte('\n')
			f.column, f.indent, f.begins = 0, 0, true
		}
	}
	if _, err := io.WriteString(f.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// line appends a piece of a line.
func (f *folder) line(out *strings.Builder, piece string) {
	for piece != "" {
		word := strings.TrimLeft(piece, " ")
		spaces := len(piece) - len(word)
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		piece = piece[spaces+len(word):]
		wide := columns(word)
		if f.begins {
			f.indent += spaces
		} else if further := min(f.indent+2, f.width/3); word != "" && f.column+spaces+wide > f.width && f.column > further {
			out.WriteString("\n" + strings.Repeat(" ", further))
			f.column, spaces = further, 0
		}
		out.WriteString(strings.Repeat(" ", spaces) + word)
		f.column += spaces + wide
		f.begins = f.begins && word == ""
	}
}

// columns returns how many columns a word takes: a mark over a letter takes none.
func columns(word string) (n int) {
	for _, r := range word {
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
}
