package main

import (
	"context"
	"math"
	"testing"
)

// TestCertified: from the second start every data set reaches the certified parameters to six
// digits or more, their standard deviations and the sum of squares to five. What Lanczos1 leaves,
// 1.4e-25, is rounding alone in float64, so that of these three digits and two are right.
func TestCertified(t *testing.T) {
	if len(formulas) != 27 {
		t.Errorf("%d formulas: want 27", len(formulas))
	}
	for name := range formulas {
		f, err := newFitted(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.vm.Close()
		least := map[bool]float64{true: 2, false: 5}[name == "Lanczos1"]
		if d := digits(f.b, f.certified); d < 6 {
			t.Errorf("%s: the parameters have %.1f certified digits", name, d)
		}
		if d := digits(f.own, f.deviations); d < least {
			t.Errorf("%s: the standard deviations have %.1f certified digits", name, d)
		}
		if d := digits([]float64{f.sum}, []float64{f.left}); d < least {
			t.Errorf("%s: the sum of squares has %.1f certified digits", name, d)
		}
	}
}

// TestRead: a file is read whole.
func TestRead(t *testing.T) {
	d, err := read("Nelson")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.y) != 128 || len(d.x) != 2 || len(d.x[1]) != 128 || d.y[127] != 1.20 || d.starts[1][2] != -.05 || d.deviations[0] != 1.9149996413e-02 || d.left != 3.7976833176 {
		t.Errorf("%+v", d)
	}
	if math.IsNaN(digits(d.certified, d.certified)) {
		t.Error("equal numbers have no digits in common")
	}
}
