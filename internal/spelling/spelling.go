// Package spelling finds the name that was meant by an unknown one:
//
//	fmt.Errorf("no quantity %q: did you mean %q?", "los", spelling.Nearest("los", names))
package spelling

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate with the smallest edit distance to name, "" if there is none.
func Nearest(name string, candidates []string) string {
	best, least := "", math.MaxInt
	for _, c := range candidates {
		if d := editDistance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// Near returns the candidate that name is likely a slip for: they differ in case, in the order of
// their letters, or in at most a third of the letters. It returns "" if there is none; a name of
// one letter is like none.
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

// longName is the length in runes from which names are not compared, because that would take time
// proportional to its square.
const longName = 200

// editDistance is that of runes. Names too long to be compared count as different in all.
func editDistance(a, b string) int {
	if n := max(len(a), len(b)); n > utf8.UTFMax*longName {
		return n
	}
	s, t := []rune(a), []rune(b)
	if n := max(len(s), len(t)); n > longName {
		return n
	}
	return EditDistance(s, t)
}

// EditDistance returns the least number of insertions, deletions and replacements of elements that make
// b of a (Levenshtein, 1966).
func EditDistance[E comparable](a, b []E) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0]++
		for j := range b {
			next := min(row[j]+1, row[j+1]+1, diagonal)
			if a[i] != b[j] {
				next = min(row[j]+1, row[j+1]+1, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
