package chart

import (
	"strings"
	"unicode"
)

// textWidth estimates the width of a line of text in pixels. Since fonts differ between machines,
// the widths are those of DejaVu Sans, the widest in common use, rounded up.
func textWidth(s string, size float64) float64 {
	var em float64
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // combines with its neighbour
		case strings.ContainsRune("ijl.,:;'|!()[]ftrI \u00a0\u202f‖·⁻¹", r):
			em += .4
		case strings.ContainsRune("mwMW@%—…", r) || r >= 0x1100 && unicode.IsOneOf(wide, r):
			em += 1
		case unicode.IsUpper(r):
			em += .73
		default:
			em += .64
		}
	}
	return em * size
}

// wide has the scripts whose characters fill a square, and pictures.
var wide = []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.So}

// boldness is the factor by which semibold text is wider than regular text.
const boldness = 1.08

// fitted shortens s to a width by replacing its middle with an ellipsis, because names tend to
// differ at their ends.
func fitted(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for keep := min(len(runes)-1, int(width)); keep > 0; keep-- {
		short := string(runes[:(keep+1)/2]) + "…" + string(runes[len(runes)-keep/2:])
		if textWidth(short, size) <= width {
			return short
		}
	}
	return "…"
}

// wrapped divides s into lines of at most the given width. A single word that is wider is
// shortened.
func wrapped(s string, size, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		word = fitted(word, size, width)
		switch longer := line + " " + word; {
		case line == "":
			line = word
		case textWidth(longer, size) <= width:
			line = longer
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
