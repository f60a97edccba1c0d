package sparkline

import "testing"

func TestCurve(t *testing.T) {
	rising := make([]float64, 96)
	for i := range rising {
		rising[i] = float64(i)
	}
	for _, c := range []struct {
		of   []float64
		want string
	}{{[]float64{2, 1, 0}, "█▅▁"}, {[]float64{3, 3}, "▁▁"}, {rising, "▁▁▂▂▂▃▃▃▃▄▄▄▅▅▅▆▆▆▆▇▇▇██"}, {nil, ""}} {
		if got := Curve(c.of, 24); got != c.want {
			t.Errorf("%v is drawn %s, want %s", c.of, got, c.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	for want, counts := range map[string][]int{"": nil, "  ": {0, 0}, "█": {2}, "▂█ ▄": {1, 4, 0, 2}, "▁█": {1, 100}} {
		if got := Histogram(counts); got != want {
			t.Errorf("%v is drawn %q, want %q", counts, got, want)
		}
	}
}
