package chart

import (
	"math"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -3: "-3", 78.85: "78.85", 78.8514: "78.85", 78.8: "78.8",
		0.03141: "0.03141", 0.001: "0.001", 0.00099999: "1e-3", 1.2e-5: "1.2e-5", -1.2345e-5: "-1.234e-5",
		9.99996: "10", 999.96: "1000", 0.99996: "1", 1234: "1234", 1234.56: "1235", 12345: "12 345",
		1166500: "1 166 500", -1166500: "-1 166 500", 123456.7: "123 457", 999999999: "999 999 999",
		1e9: "1e9", 1.5e300: "1.5e300", math.Inf(1): "∞", math.Inf(-1): "-∞",
	} {
		if got := Format(v); got != strings.ReplaceAll(want, " ", "\u202f") {
			t.Errorf("Format(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Format(math.NaN()); got != "NaN" {
		t.Errorf("Format(NaN) = %q", got)
	}
}

func TestFitted(t *testing.T) {
	for _, s := range []string{"", "a", "goofy alternative", "ΣΣΣΣΣΣΣΣ", "日本語日本語", "r̂r̂r̂r̂"} {
		for width := 12.0; width < 200; width += 7 {
			got := fitted(s, 12, width)
			if textWidth(got, 12) > width {
				t.Errorf("fitted(%q, %v) = %q is %v wide", s, width, got, textWidth(got, 12))
			}
			if textWidth(s, 12) <= width && got != s {
				t.Errorf("fitted(%q, %v) = %q, though there is room", s, width, got)
			}
		}
	}
	if got := fitted("the first and the last", 12, 100); !strings.HasPrefix(got, "the ") || !strings.HasSuffix(got, "last") {
		t.Errorf("%q has lost an end", got)
	}
}

func TestWrapped(t *testing.T) {
	got := wrapped(" one two  three ", 10, textWidth("one two", 10))
	if strings.Join(got, "|") != "one two|three" {
		t.Errorf("got %q", got)
	}
}
