package figure

import "unicode"

// An advanceRun has the advances of consecutive code points, in hundredths of an em.
type advanceRun struct {
	first rune
	width []uint8
}

const (
	unknownAdvance = 110 // wider than nearly any letter
	wideAdvance    = 125 // ideographs and emoji fill an em; some fonts exceed it
	boldFactor     = 1.1 // mean of bold over regular advances of ASCII text
)

// TextWidth returns an upper bound on the width of s in pixels, at a font size in pixels, over
// common sans-serif fonts, so that a box made for it fits in any viewer. Combining marks take no
// width.
func TextWidth(s string, size float64) float64 {
	width := 0.0
	for _, t := range stretches(s) {
		sum := 0
		for _, r := range t.text {
			sum += advance(r)
		}
		width += float64(sum) * t.at(size) / 100
	}
	return width
}

func advance(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), isMark(r):
		return 0
	case r >= 0x1F000 || 0x2E80 <= r && r <= 0xA4CF || 0xAC00 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFAFF || 0xFE30 <= r && r <= 0xFE4F || 0xFF00 <= r && r <= 0xFF60:
		return wideAdvance
	}
	for i := range advances {
		if k := int(r - advances[i].first); k >= 0 && k < len(advances[i].width) {
			return int(advances[i].width[k])
		}
	}
	return unknownAdvance
}
