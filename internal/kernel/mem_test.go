package kernel

import "testing"

func TestOverlaps(t *testing.T) {
	m := Alloc(64)
	for _, c := range []struct {
		a, b Mem
		want bool
	}{
		{m, m, true},
		{m.Slice(0, 32), m.Slice(32, 32), false},
		{m.Slice(0, 33), m.Slice(32, 32), true},
		{m.Slice(8, 8), m, true},
		{m, Alloc(64), false},
		{m, Mem{}, false},
	} {
		if c.a.Overlaps(c.b) != c.want || c.b.Overlaps(c.a) != c.want {
			t.Errorf("overlap is not %v", c.want)
		}
	}
}
