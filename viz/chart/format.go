package chart

import (
	"math"
	"strconv"
	"strings"
)

// thinSpace separates groups of three digits and does not allow a line break.
const thinSpace = "\u202f"

// Format writes a number briefly, for labels and tables. Whole numbers below 1e9 are written in
// full with their digits in groups of three (1166500 becomes "1 166 500", separated by U+202F),
// others with four significant digits: 78.85, 0.0314, 1.2e-5. Not-a-number is "NaN", infinities
// are "∞" and "-∞".
func Format(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	case v == 0:
		return "0"
	case a >= 1e9 || a < 1e-3:
		return scientific(v, 3)
	case a >= 1000 || v == math.Trunc(v):
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	decimals := 3 - int(math.Floor(math.Log10(a)))
	return trimZeros(strconv.FormatFloat(v, 'f', decimals, 64))
}

// scientific writes v as 1.2e-5, with at most the given number of decimals.
func scientific(v float64, decimals int) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', decimals, 64), "e")
	n, _ := strconv.Atoi(exponent) // the exponent that FormatFloat wrote
	return trimZeros(mantissa) + "e" + strconv.Itoa(n)
}

// trimZeros removes trailing zeros of a fraction.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// groupDigits separates the thousands of a decimal number whose integer part has more than four
// digits.
func groupDigits(s string) string {
	whole, fraction, dotted := strings.Cut(s, ".")
	digits, negative := strings.CutPrefix(whole, "-")
	if len(digits) <= 4 {
		return s
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + thinSpace + digits[i:]
	}
	if negative {
		digits = "-" + digits
	}
	if dotted {
		digits += "." + fraction
	}
	return digits
}
