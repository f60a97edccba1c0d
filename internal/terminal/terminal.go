// Package terminal keeps text of unknown origin from giving a terminal orders: names in files,
// metadata, file names, lines that an error cites.
package terminal

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Replacement stands for what is not shown.
const Replacement = utf8.RuneError

// Shows reports whether a terminal shows a character and does nothing else: it is no control
// character but newline and tab, starts no line by another name (U+2028, U+2029), turns no
// writing direction (the bidirectional controls) and is not without width (U+200B, U+FEFF and
// others of the class Cf). The joiners U+200C and U+200D, which scripts and emoji need, are
// shown.
func Shows(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return true
	case '\u2028', '\u2029':
		return false
	}
	return !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
}

// Clean is the text with U+FFFD for each character that is not shown, and for bytes that are no
// UTF-8. A carriage return before a newline is dropped.
func Clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !Shows(r) }) < 0 {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, string(Replacement)), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if !Shows(r) {
			return Replacement
		}
		return r
	}, s)
}

// NewWriter is w for text: what is written comes out cleaned. A character that is cut by the end
// of a Write is held back until the next one; Flush writes what is left of one at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Writer is made by [NewWriter].
type Writer struct {
	w    io.Writer
	held []byte // the beginning of a character, or a carriage return
}

// Write writes p cleaned. It reports len(p) unless the writer below fails, and then 0.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	n := len(text)
	for i := max(0, n-utf8.UTFMax); i < n; i++ {
		if c := text[i]; utf8.RuneStart(c) && !utf8.FullRune(text[i:]) || c == '\r' && i == n-1 {
			n = i
			break
		}
	}
	w.held = append([]byte(nil), text[n:]...)
	if _, err := io.WriteString(w.w, Clean(string(text[:n]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back.
func (w *Writer) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	text := string(w.held)
	w.held = nil
	_, err := io.WriteString(w.w, Clean(text))
	return err
}
