package builders

import "math"

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

// editDistance counts insertions, deletions and replacements of runes
// (Levenshtein, 1966).
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
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
