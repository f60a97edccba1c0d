package figure

import (
	"strings"
	"unicode/utf8"
)

// Marks in the texts of a figure: a subscript or superscript goes from its mark to the end mark.
// They are noncharacters, which no text for people contains.
const (
	subMark = '\uFDD0'
	supMark = '\uFDD1'
	endMark = '\uFDD2'
)

// Sub marks s as a subscript of what precedes it, for the texts of a [Figure]. Blanks are dropped.
func Sub(s string) string { return scripted(subMark, s) }

// Sup marks s as a superscript of what precedes it, for the texts of a [Figure]. Blanks are
// dropped.
func Sup(s string) string { return scripted(supMark, s) }

func scripted(mark rune, s string) string {
	if s = strings.Join(strings.Fields(s), ""); s == "" {
		return ""
	}
	return string(mark) + s + string(endMark)
}

// Linear returns a text of a figure for where there are no subscripts, such as a tooltip: in the
// signs that Unicode has for them, xᵢⱼ, or else x_{id} and e^(−t).
func Linear(s string) string {
	if !strings.ContainsFunc(s, isMark) {
		return s
	}
	type script struct {
		mark rune
		text strings.Builder
	}
	open := []*script{{}}
	end := func() {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		open[len(open)-1].text.WriteString(linear(last.mark, last.text.String()))
	}
	for _, r := range s {
		switch {
		case r == endMark:
			if len(open) > 1 {
				end()
			}
		case isMark(r):
			open = append(open, &script{mark: r})
		default:
			open[len(open)-1].text.WriteRune(r)
		}
	}
	for len(open) > 1 {
		end()
	}
	return open[0].text.String()
}

// The letters and digits that Unicode has subscripts or superscripts of, each before its own.
const (
	lowering = "aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓβᵦγᵧρᵨφᵩχᵪ"
	raising  = "0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹−⁻⊤ᵀ"
)

// linear writes a subscript or superscript that has no other inside.
func linear(mark rune, s string) string {
	signs, before, open, end := []rune(lowering), "_", "{", "}"
	if mark == supMark {
		signs, before, open, end = []rune(raising), "^", "(", ")"
	}
	var own strings.Builder
	letters := []rune(s)
	for _, r := range letters {
		for i := 0; i < len(signs); i += 2 {
			if signs[i] == r {
				own.WriteRune(signs[i+1])
			}
		}
	}
	switch {
	case utf8.RuneCountInString(own.String()) == len(letters):
		return own.String()
	case len(letters) == 1:
		return before + s
	}
	return before + open + s + end
}

// Unmarked returns s without the marks of [Sub] and [Sup].
func Unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, s)
}

func isMark(r rune) bool { return subMark <= r && r <= endMark }

// A stretch is a part of a text in one size, at one height.
type stretch struct {
	text  string
	depth int     // of scripts
	raise float64 // above the line, in sizes of the line; negative below it
}

// stretches splits a text at its marks. A mark without its counterpart ends with the text, or means
// nothing.
func stretches(s string) []stretch {
	if !strings.ContainsFunc(s, isMark) {
		return []stretch{{text: s}}
	}
	var out []stretch
	raise := []float64{0}
	begin := 0
	end := func(at int) {
		if at > begin {
			out = append(out, stretch{s[begin:at], len(raise) - 1, raise[len(raise)-1]})
		}
	}
	for i, r := range s {
		if !isMark(r) {
			continue
		}
		end(i)
		begin = i + len(string(r))
		now, by := raise[len(raise)-1], 1.0
		if len(raise) > 1 {
			by = 0.6
		}
		switch {
		case r == subMark:
			raise = append(raise, now-0.22*by)
		case r == supMark:
			raise = append(raise, now+0.36*by)
		case len(raise) > 1:
			raise = raise[:len(raise)-1]
		}
	}
	end(len(s))
	return out
}

// scriptSize returns the size of a subscript in a line of the given size: small, but never too small
// to read.
func scriptSize(size float64) float64 { return min(size, max(labelSize, size*0.72)) }

// at returns the size of a stretch in a line of the given size.
func (t stretch) at(size float64) float64 {
	if t.depth == 0 {
		return size
	}
	return scriptSize(size)
}

// spans returns a text for the inside of an SVG text element: what is raised or lowered is a tspan
// of its own, and moves the line back behind it. (baseline-shift would do, but not in every
// viewer.)
func spans(s string, size float64) string {
	parts := stretches(s)
	if len(parts) == 1 && parts[0].depth == 0 {
		return xmlText(parts[0].text)
	}
	var b strings.Builder
	height := 0.0
	for _, t := range parts {
		up := tenth(t.raise * size)
		if up == height && t.depth == 0 {
			b.WriteString(xmlText(t.text))
			continue
		}
		b.WriteString("<tspan")
		if up != height {
			b.WriteString(` dy="` + num(height-up) + `"`)
		}
		if t.depth > 0 {
			b.WriteString(` font-size="` + num(t.at(size)) + `"`)
		}
		b.WriteString(">" + xmlText(t.text) + "</tspan>")
		height = up
	}
	return b.String()
}

// closed closes the marks that are open at the end of a part of a text that was cut.
func closed(s string) string {
	open := 0
	for _, r := range s {
		switch {
		case r == endMark:
			open = max(0, open-1)
		case isMark(r):
			open++
		}
	}
	return s + strings.Repeat(string(endMark), open)
}
