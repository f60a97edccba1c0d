// Package plural counts things in English: 1 row, 2 rows, 3 classes.
package plural

import (
	"fmt"
	"strings"
)

// Count returns a number with its noun, given in the singular: "1 row", "0 rows".
func Count[N int | uint64](n N, noun string) string {
	return fmt.Sprint(n, " ", Noun(n, noun))
}

// Noun returns the noun alone as it follows the number n: unless n is 1, with -s, or -es after a
// sibilant.
func Noun[N int | uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}
