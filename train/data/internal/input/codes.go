package input

import (
	"cmp"
	"maps"
	"slices"
)

// Codes is data.Codes.
func Codes(labels []string) (codes []int, classes []string) {
	if labels == nil {
		return nil, nil
	}
	code := make(map[string]int)
	for _, l := range labels {
		code[l] = 0
	}
	classes = slices.Sorted(maps.Keys(code))
	if !slices.ContainsFunc(classes, IsText) {
		// Stable, so that 1 and 1.0 keep their order as strings.
		slices.SortStableFunc(classes, func(a, b string) int {
			x, _ := Number(a)
			y, _ := Number(b)
			return cmp.Compare(x, y)
		})
	}
	for i, c := range classes {
		code[c] = i
	}
	codes = make([]int, len(labels))
	for i, l := range labels {
		codes[i] = code[l]
	}
	return codes, classes
}
