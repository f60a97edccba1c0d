package lab_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestSoftness: two rows at −1 and 1 of one column, whose scale is 1.
func TestSoftness(t *testing.T) {
	rows := &data.Table{Columns: []string{"x"}, X: []float64{-1, 1}}
	for _, c := range []struct {
		what           string
		centres        []float64
		γ              float64
		entropy, reach float64
	}{
		{"all at the mean", []float64{0, 0, 0}, 5, math.Log(3), 0},
		{"no inverse temperature", []float64{-1, 1}, 0, math.Log(2), 1},
		{"on the rows, cold", []float64{-1, 1}, 1000, 0, 1},
		{"far out", []float64{-3, 3}, 1000, 0, 3},
		{"weights ¼ and ¾", []float64{-1, 1}, math.Log(3) / 4, .25*math.Log(4) + .75*math.Log(4./3), 1},
	} {
		if got := lab.NewSoftness(rows, c.centres, c.γ); math.Abs(got.Entropy-c.entropy) > 1e-12 || math.Abs(got.Reach-c.reach) > 1e-12 {
			t.Errorf("%s: %+v, want %v and %v", c.what, got, c.entropy, c.reach)
		}
	}
	if got := lab.NewSoftness(data.Iris(), []float64{1, 2}, 1); !math.IsNaN(got.Entropy) || !math.IsNaN(got.Reach) {
		t.Errorf("centres of another width give %+v", got)
	}
}
