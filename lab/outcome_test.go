package lab_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
)

func TestStepsTo(t *testing.T) {
	c := lab.History{Loss: []float64{9, 1, 8, 4, 3, 2}}
	for level, want := range map[float64]float64{9: 0, 4: 1, 3.5: 1, 0.5: math.Inf(1), 1: 1} {
		if got := c.StepsTo(level); got != want {
			t.Errorf("down to %v after %v steps, want %v", level, got, want)
		}
	}
	// A twentieth of 40 steps is two: a lucky batch alone does not count.
	long := lab.History{Loss: slices.Repeat([]float64{5}, 40)}
	long.Loss[10], long.Loss[20], long.Loss[21] = 0, 1, 1
	if got := long.StepsTo(2); got != 20 {
		t.Errorf("down to 2 after %v steps, want 20", got)
	}
}
