package lab

import (
	"strings"
	"testing"
)

// TestNumbersArePlain: what a person reads has an exponent only where the number is too large or too small to be read without.
func TestNumbersArePlain(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want string
	}{{130, 2, "130"}, {99.7, 2, "100"}, {12345.6, 4, "12346"}, {78.8512, 4, "78.85"}, {0.05, 2, "0.05"}, {-5670, 3, "-5670"}, {9.9999e6, 2, "9999900"}, {1.3e9, 2, "1.3e+09"}, {3e-7, 2, "3e-07"}} {
		if got := digits(c.v, c.n); got != c.want {
			t.Errorf("%v to %d digits is %s, want %s", c.v, c.n, got, c.want)
		}
	}
	if got := (Convergence{Moved: 1.3}).String(); !strings.Contains(got, "it went 130 % of its size away") {
		t.Error(got)
	}
}
