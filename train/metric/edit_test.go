package metric_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/train/metric"
)

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b  []int32
		edits int
	}{
		{nil, nil, 0}, {nil, []int32{1, 2}, 2}, {[]int32{1, 2}, nil, 2}, {[]int32{1, 2, 3}, []int32{1, 2, 3}, 0},
		{[]int32{1, 2, 3}, []int32{1, 3}, 1}, {[]int32{1, 2, 3}, []int32{2, 3, 4}, 2}, {[]int32{1, 1, 2}, []int32{2, 1, 1}, 2},
		{[]int32{3, 1, 4, 4, 5, 2}, []int32{6, 1, 4, 4, 1, 2, 7}, 3}, // kitten and sitting
	} {
		if got := metric.EditDistance(c.a, c.b); got != c.edits {
			t.Errorf("from %v to %v: %d edits, want %d", c.a, c.b, got, c.edits)
		}
	}
}
