package input

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Number parses a cell. Anything that reads as a number counts as one, NaN, Inf
// and 1e999 (which is +Inf) included: whoever asks must look whether it is finite.
func Number(s string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

func IsText(s string) bool {
	_, ok := Number(s)
	return !ok
}

// malformed says why a cell is not text that a table may hold, or "".
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

// Unwritable says why text would not survive being written and read, or "".
func Unwritable(text string) string {
	if text == "" {
		return "empty cell"
	}
	if strings.TrimSpace(text) != text {
		return Quote(text) + " begins or ends with white space"
	}
	return malformed(text)
}

// QuoteCell quotes what any of the delimiters that ReadCSV detects would split,
// which encoding/csv does only for the delimiter it writes.
func QuoteCell(s string) string {
	if !strings.ContainsAny(s, ",;\t\"\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Interned keeps one copy of each text: a cell would keep its whole line alive.
type Interned map[string]string

func (m Interned) Intern(s string) string {
	known, ok := m[s]
	if !ok {
		known = strings.Clone(s)
		m[known] = known
	}
	return known
}
