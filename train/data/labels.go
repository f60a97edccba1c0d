package data

import (
	"cmp"
	"maps"
	"slices"
)

// Codes numbers labels by class: classes[codes[i]] == labels[i]. The classes are
// the distinct labels, sorted by value if all of them are numbers (so that 10
// follows 9) and as strings otherwise.
func Codes(labels []string) (codes []int, classes []string) {
	if labels == nil {
		return nil, nil
	}
	code := make(map[string]int)
	for _, l := range labels {
		code[l] = 0
	}
	classes = slices.Sorted(maps.Keys(code))
	if !slices.ContainsFunc(classes, isText) {
		// Stable, so that 1 and 1.0 keep their order as strings.
		slices.SortStableFunc(classes, func(a, b string) int {
			x, _ := number(a)
			y, _ := number(b)
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

// Classes returns the distinct labels in the order of Codes; nil without labels.
func (t *Table) Classes() []string {
	_, classes := Codes(t.Labels)
	return classes
}
