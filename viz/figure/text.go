package figure

import (
	"strings"
	"unicode"
)

// Clean returns s as drawings carry it: each run of invalid UTF-8 bytes, each control character
// other than tab, newline and carriage return, and the two noncharacters that XML forbids become
// U+FFFD; "\r\n" and "\r" become newlines, as for an XML reader. Everything else is unchanged.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\t' || r == '\n':
			return r
		case unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF:
			return '\uFFFD'
		}
		return r
	}, s)
}

// line returns s cleaned, on one line, and cut in the middle to about limit characters. Combining
// marks do not count and stay with their letter.
func line(s string, limit int) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if len(s) <= limit {
		return s
	}
	var starts []int // byte offsets of the characters that take width
	for i, r := range s {
		if advance(r) > 0 || i == 0 {
			starts = append(starts, i)
		}
	}
	if len(starts) <= limit {
		return s
	}
	head := limit / 2
	tail := limit - 1 - head
	return closed(s[:starts[head]]) + "…" + s[starts[len(starts)-tail]:]
}

// wrap breaks s into lines of at most width at the given font size, and into
// at most limit lines; a word that is too long is cut in its middle.
func wrap(s string, size, width float64, limit int) []string {
	var lines []string
	for _, word := range strings.Fields(Clean(s)) {
		for n := 200; TextWidth(word, size) > width && n > 1; n = n * 4 / 5 {
			word = line(word, n)
		}
		if k := len(lines) - 1; k >= 0 && TextWidth(lines[k]+" "+word, size) <= width {
			lines[k] += " " + word
		} else if len(lines) == limit {
			lines[k] += " …"
			break
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;")

// xmlText returns s cleaned, without marks and escaped, for text and for quoted attributes.
func xmlText(s string) string { return xmlEscaper.Replace(Linear(Clean(s))) }
