package page

import (
	"fmt"
	"math"
	"testing"
)

// TestMoment: a moment has the largest |∂loss/∂v| of each value, as the values themselves say, and
// counts the units of rectifiers that no row of the data reaches.
func TestMoment(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"regression-relu","seed":1,"dtype":"f64","settings":{"h":64},"optimiser":"sgd","rate":1}`)
	c.train(id, 3)
	dead := 0
	for step := range 4 {
		var m struct {
			Sizes map[string]any
			Dead  []deadView
		}
		c.get(fmt.Sprintf("/api/docs/%s/moment?step=%d", id, step), &m)
		if len(m.Sizes) < 4 {
			t.Fatalf("step %d: %v", step, m)
		}
		for node, size := range m.Sizes {
			var n struct {
				Backward  bool
				Stats     struct{ Min, Max any }
				GradStats *struct{ Min, Max any }
			}
			c.get(fmt.Sprintf("/api/docs/%s/node/%s?step=%d", id, node, step), &n)
			lo, hi := n.Stats.Min, n.Stats.Max
			if n.GradStats != nil {
				lo, hi = n.GradStats.Min, n.GradStats.Max
			}
			a, _ := lo.(float64)
			b, _ := hi.(float64)
			if got, finite := size.(float64); finite && math.Abs(got-max(math.Abs(a), math.Abs(b))) > 1e-12*got {
				t.Errorf("step %d, %s: %v, and its derivative is from %v to %v", step, node, got, lo, hi)
			}
		}
		for _, d := range m.Dead {
			dead += d.Units
			if d.Of != 64 || d.Units < 1 || d.Units > 64 {
				t.Errorf("step %d: %+v", step, d)
			}
		}
	}
	if dead == 0 {
		t.Error("no unit dies at a rate of 1")
	}
}
