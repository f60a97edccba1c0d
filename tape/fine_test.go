package tape

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestFineShares: small arrays, which one worker would do as they are, are cut
// into many pieces, and sums over them into parts.
func TestFineShares(t *testing.T) {
	g := graph.New("small")
	x := g.Input("x", graph.F64, graph.Ax("i", 6), graph.Ax("d", 3))
	y := ops.Tanh(ops.Scale(x, 2))
	total := ops.Sum(ops.Square(y), "i")
	for _, c := range []struct {
		options     []Option
		workers     int
		shared, cut bool
	}{{nil, 1, false, false}, {[]Option{Fine()}, 8, true, true}} {
		p, err := Compile(g, append(c.options, Fetch(y, total))...)
		if err != nil {
			t.Fatal(err)
		}
		shared, cut := false, false
		for i := range p.stages {
			s := &p.stages[i]
			shared = shared || s.units() > 1
			cut = cut || s.parts > 1
		}
		if got := p.workers(8); got != c.workers || shared != c.shared || cut != c.cut {
			t.Errorf("%d options: %d workers, shared %v, in parts %v: want %d, %v, %v\n%v", len(c.options), got, shared, cut, c.workers, c.shared, c.cut, p)
		}
	}
}
