package data

import (
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Codes numbers labels by class: classes[codes[i]] == labels[i]. The classes are the distinct
// labels, sorted by value if all of them are numbers (so that 10 follows 9) and as strings
// otherwise. Without labels both are nil.
func Codes(labels []string) (numbers []int, classes []string) { return input.Codes(labels) }

// Classes returns the distinct labels, in the order of [Codes], or nil.
func (t *Table) Classes() []string {
	_, classes := Codes(t.Labels)
	return classes
}
