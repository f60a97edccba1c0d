package lanes

import (
	"slices"
	"testing"
)

func TestOwners(t *testing.T) {
	for _, c := range []struct {
		bytes []int
		ranks int
		want  []int
	}{
		{nil, 3, []int{}},
		{[]int{0, 0}, 3, []int{0, 0}},
		{[]int{4, 4, 4, 4}, 1, []int{0, 0, 0, 0}},
		{[]int{4, 4, 4, 4}, 2, []int{0, 0, 1, 1}},
		{[]int{1, 1, 1}, 8, []int{1, 4, 6}},
		{[]int{75, 10, 10, 5}, 2, []int{0, 1, 1, 1}},
		{[]int{10, 80, 10}, 4, []int{0, 2, 3}},
	} {
		if got := Owners(c.bytes, c.ranks); !slices.Equal(got, c.want) {
			t.Errorf("%v on %d ranks: %v, want %v", c.bytes, c.ranks, got, c.want)
		}
	}
}
