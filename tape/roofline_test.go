package tape

import (
	"math"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestRoofIsNeverAboveOne(t *testing.T) {
	for _, c := range []struct {
		least, busy time.Duration
		want        float64
	}{{1, 2, 0.5}, {3, 2, 1}, {3, 0, 0}} {
		if got := (Timing{Least: c.least, Busy: c.busy}).Roof(); got != c.want {
			t.Errorf("at least %d in %d: %g of the roof, want %g", c.least, c.busy, got, c.want)
		}
	}
}

// TestOperandsInHandAreNear: what a step of the same block has read, or the other operand of the same
// step, is not fetched from memory again.
func TestOperandsInHandAreNear(t *testing.T) {
	const n = 1 << 16
	g := graph.New("twice")
	x := g.Input("x", graph.F64, graph.Ax("i", n))
	y := ops.Mul(ops.Sin(x), x)
	p, err := Compile(g, Fetch(y, ops.Mul(x, x)), Passes())
	const want = 3.0
	if err != nil {
		t.Fatal(err)
	}
	r := Roofline{F32: 1e15, F64: 1e15, Streams: []Bandwidth{{0, 1e12}, {1 << 18, 1e9}}} // memory is slow
	fetched := 0.0                                                                       // arrays
	rows := p.Rows()
	for lo, i := 0, 0; i < len(p.stages); i++ {
		s, inHand := &p.stages[i], map[int]bool{}
		for k := range s.steps {
			row := Timing{Row: rows[lo]}
			row.bounds(p, s, &s.steps[k], r, inHand)
			fetched += float64(row.Least.Nanoseconds()) / (8 * n)
			lo++
		}
	}
	if fetched = math.Round(10*fetched) / 10; fetched != want {
		t.Errorf("%g arrays pass through memory, want %g: x once a stage, and the results\n%v", fetched, want, p)
	}
}
