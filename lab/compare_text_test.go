package lab

import (
	"math"
	"testing"
)

// A mean has no more decimals than the interval around it can tell.
func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		mean, half float64
		want       string
	}{
		{-0.17753, 0.914, "−0.18 ± 0.91"},
		{0.0146412, 0.00691, "0.0146 ± 0.0069"},
		{12345.678, 21.3, "12346 ± 21"},
		{3.14159, 0, "3.142 ± 0"},
		{2.5, math.NaN(), "2.5"},
	} {
		if got := plusMinus(c.mean, c.half); got != c.want {
			t.Errorf("%v ± %v is %q, want %q", c.mean, c.half, got, c.want)
		}
	}
}

// TestVerdictOfNothing: where no seed came to an end under both, that is said, and not that there
// was one.
func TestVerdictOfNothing(t *testing.T) {
	if got := (Difference{Corrected: math.NaN()}).Verdict(); got != "no seed came to an end under both" {
		t.Error(got)
	}
	if got := (Difference{Summary: Summary{N: 1}, Corrected: math.NaN()}).Verdict(); got != "one seed tells nothing of the noise" {
		t.Error(got)
	}
}
