// Package spelling finds what was meant by a name that nothing has:
//
//	fmt.Errorf("no quantity %q: did you mean %q?", "los", spelling.Nearest("los", names))
package spelling

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest is the candidate with the smallest edit distance to name.
func Nearest(name string, candidates []string) string {
	best, least := "", math.MaxInt
	for _, c := range candidates {
		if d := editDistance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// Near is the candidate that name is likely a slip of the finger for: it differs by its
// case, by the order of its letters, or by a third of them at most. It is "" if none
// does, as with names of one letter.
func Near(name string, candidates []string) string {
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
	}
	c := Nearest(name, candidates)
	s, t := []rune(name), []rune(c)
	longest := max(len(s), len(t))
	if d := editDistance(name, c); d < longest && d <= max(1, longest/3) {
		return c
	}
	slices.Sort(s)
	for _, c := range candidates {
		t := []rune(c)
		if slices.Sort(t); slices.Equal(s, t) {
			return c
		}
	}
	return ""
}

// longName is the length of names, in runes, from which on none is a slip for another: the
// time to compare them would grow with its square.
const longName = 200

// editDistance counts insertions, deletions and replacements of runes
// (Levenshtein, 1966). Names that are too long to be compared differ in all of them.
func editDistance(a, b string) int {
	if n := max(len(a), len(b)); n > utf8.UTFMax*longName {
		return n
	}
	s, t := []rune(a), []rune(b)
	if n := max(len(s), len(t)); n > longName {
		return n
	}
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0]++
		for j := range t {
			next := min(row[j]+1, row[j+1]+1, diagonal)
			if s[i] != t[j] {
				next = min(row[j]+1, row[j+1]+1, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(t)]
}
