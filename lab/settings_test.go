package lab_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// TestIndicesOutOfRange: what a comparison does not have is nothing, whatever asks for it.
func TestIndicesOutOfRange(t *testing.T) {
	res := compared(t, lab.Config{Seeds: 2, Steps: 2, Examples: fixed, Optimisers: []train.Optimiser{train.SGD(0.05)}}, absolute("absolute"))
	for _, i := range []int{-1, 9} {
		if c := res.Cells(i, lab.Setting{}); c != nil {
			t.Errorf("variant %d has %d cells", i, len(c))
		}
		if c := res.Cells(0, lab.Setting{Optimiser: i}); c != nil {
			t.Errorf("optimiser %d has %d cells", i, len(c))
		}
		if v := res.Values(i, 0, lab.Setting{}); v != nil {
			t.Errorf("metric %d has %v", i, v)
		}
		if _, median, _, _ := res.Curve(i, lab.Setting{}, 2); !math.IsNaN(median[1]) {
			t.Errorf("variant %d has the curve %v", i, median)
		}
		if d, m := res.Differences(i, lab.StudentT), res.Marks(i, lab.StudentT); len(d) != 0 || len(m) != 1 || m[0] != "" {
			t.Errorf("metric %d has the differences %v and the marks %q", i, d, m)
		}
		if o := res.Outcomes(i, lab.StudentT); len(o) != 1 || o[0].End.N != 0 || !math.IsNaN(res.Level(i)) {
			t.Errorf("variant %d has %v, level %v", i, o, res.Level(i))
		}
	}
}
