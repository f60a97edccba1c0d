package data

// didYouMean returns ` (did you mean "iris"?)` for the candidate nearest to name,
// or "" when none is near enough to have been meant: at most half of its letters
// and at most 3 may differ.
func didYouMean(name string, candidates []string) string {
	best, nearest := "", 1+min(3, len(name)/2)
	for _, c := range candidates {
		if d := editDistance(name, c, nearest); d < nearest && c != "" {
			best, nearest = c, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + quote(best) + "?)"
}

// editDistance returns Levenshtein's distance between a and b in bytes. It may
// return limit instead of any distance that is at least limit.
func editDistance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
