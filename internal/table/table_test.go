package table

import (
	"math"
	"testing"
)

// TestLines aligns text left and numbers right, and counts no combining marks.
func TestLines(t *testing.T) {
	got := Lines("  ", [][]string{
		{"", "value", " steps"},
		{"r̂, mean", "-1.5", "10"},
		{"α", "no", "7", ""},
	})
	want := "" +
		"           value   steps\n" +
		"  r̂, mean   -1.5      10\n" +
		"  α        no          7\n"
	if got != want {
		t.Errorf("printed\n%s, want\n%s", got, want)
	}
}

// TestNumber: a number has an exponent only where it is too large or too small to be read without.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want string
	}{
		{130, 2, "130"}, {99.7, 2, "100"}, {12345.6, 4, "12346"}, {78.8512, 4, "78.85"}, {0.05, 2, "0.05"}, {-5670, 3, "-5670"},
		{9.9999e6, 2, "9999900"}, {1.3e9, 2, "1.3e+09"}, {3e-7, 2, "3e-07"},
		{math.NaN(), 3, "–"}, {math.Inf(1), 3, "∞"}, {math.Inf(-1), 3, "-∞"},
	} {
		if got := Number(c.v, c.n); got != c.want {
			t.Errorf("%v to %d digits is %s, want %s", c.v, c.n, got, c.want)
		}
	}
}
