package metric

import "github.com/tapestry-ml/tapestry/internal/spelling"

// EditDistance returns how many elements must at least be inserted, deleted or replaced to make b of a
// (Levenshtein, 1966). Of all pairs of a set its sum, divided by the number of elements that there should
// be, is the error rate of what was read or heard: of characters, or of words. It takes time
// proportional to the product of the lengths.
func EditDistance[E comparable](a, b []E) int { return spelling.EditDistance(a, b) }
