// Package plural counts things in English: 1 row, 2 rows, 3 classes.
package plural

import (
	"fmt"
	"strconv"
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

// List returns numbers behind their noun, in their order, runs of three or more by their ends: "rank
// 1", "ranks 0, 2–7".
func List(noun string, numbers []int) string {
	var runs []string
	for i := 0; i < len(numbers); {
		k := i + 1
		for k < len(numbers) && numbers[k] == numbers[k-1]+1 {
			k++
		}
		run := strconv.Itoa(numbers[i])
		switch k - i {
		case 1:
		case 2:
			run += ", " + strconv.Itoa(numbers[k-1])
		default:
			run += "–" + strconv.Itoa(numbers[k-1])
		}
		runs = append(runs, run)
		i = k
	}
	return Noun(len(numbers), noun) + " " + strings.Join(runs, ", ")
}
