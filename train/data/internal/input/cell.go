package input

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Number parses a cell. NaN, Inf and 1e999 (which is +Inf) count as numbers: callers must check
// that the result is finite.
func Number(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// IsText reports whether a cell is not a number.
func IsText(s string) bool {
	_, ok := Number(s)
	return !ok
}

// malformed returns why a cell is not text that a table may hold, or "".
func malformed(s string) string {
	switch {
	case !utf8.ValidString(s):
		return Quote(s) + " is not UTF-8 text"
	case strings.ContainsRune(s, '\ufeff'):
		return "byte order mark inside a cell"
	case strings.ContainsAny(s, "\r\x00"):
		return Quote(s) + " holds a carriage return or a NUL byte"
	}
	return ""
}

// Unwritable returns why text would not survive being written and read, or "".
func Unwritable(text string) string {
	if text == "" {
		return "empty cell"
	}
	if strings.TrimSpace(text) != text {
		return Quote(text) + " begins or ends with white space"
	}
	return malformed(text)
}

// QuoteCell quotes a cell that any of the delimiters that readers detect would split. (encoding/csv
// considers only the delimiter that it writes.)
func QuoteCell(s string) string {
	if !strings.ContainsAny(s, ",;\t\"\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Interned holds one copy of each text, because a cell keeps its whole line alive.
type Interned map[string]string

// Intern returns the copy of s.
func (m Interned) Intern(s string) string {
	known, ok := m[s]
	if !ok {
		known = strings.Clone(s)
		m[known] = known
	}
	return known
}
