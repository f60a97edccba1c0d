package main

import (
	"strings"
	"testing"
)

// TestDrawInLanes: a drawing in lanes has the rows of a lane, and the loss, each gradient and what
// the model assigns itself are summed over the lanes.
func TestDrawInLanes(t *testing.T) {
	text := ok(t, "draw", "test-perceptron", "--grad", "--lanes", "4", "--format", "text")
	whole := ok(t, "draw", "test-perceptron", "--grad", "--format", "text")
	want := 1 + strings.Count(text, "\ngradient ") + strings.Count(text, "\nupdate ") // of the loss, too
	if n := strings.Count(text, " = SumRanks "); want < 3 || n != want {
		t.Errorf("%d sums over lanes, want %d:\n%s", n, want, text)
	}
	if strings.Contains(whole, "SumRanks") || strings.Contains(text, "draw_lanes.go") {
		t.Errorf("a step on a whole batch has sums over lanes, or sums have places of this program:\n%s", text)
	}
	if svg := ok(t, "draw", "kmeans-softmax", "--grad", "--lanes", "8"); !strings.Contains(svg, "i=19 d=4") || !strings.Contains(svg, "Σ_{lanes} ∂") {
		t.Error("the drawing has not 19 of 150 rows, or no sum over lanes")
	}
	for _, c := range [][]string{{"kmeans-lloyd", "--lanes", "4"}, {"graph-gcn", "--lanes", "4"}, {"kmeans-softmax", "--lanes", "0"}} {
		if code, _, errOut := tapestry(t, append([]string{"draw"}, c...)...); code == 0 || !strings.Contains(errOut, "lanes") {
			t.Errorf("%v: exit code %d, %s", c, code, errOut)
		}
	}
}
