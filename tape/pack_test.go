package tape_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestPanelsFollowUpdates: products with a parameter that is updated in place, before and after,
// have panels of their own.
func TestPanelsFollowUpdates(t *testing.T) {
	g := graph.New("panels")
	x := g.Input("x", graph.F32, graph.Ax("i", 32), graph.Ax("j", 256))
	w := g.Param("w", graph.F32, graph.Ax("j", 256), graph.Ax("k", 1024)).Init(initial.Normal(0, 1))
	sums := func(w *graph.Node) *graph.Node {
		y := ops.Sum(ops.MatMul(x, w))
		for i := range 6 {
			y = ops.Add(y, ops.Sum(ops.MatMul(ops.Scale(x, float64(i)), w)))
		}
		return y
	}
	before := sums(w)
	next := ops.Scale(w, 3)
	after := sums(next)
	for _, options := range [][]tape.Option{nil, {tape.Unfused()}} {
		p := compile(t, g, append(options, tape.Fetch(before, after), tape.Do(graph.Step{g.Assign(w, next)}), tape.Passes())...)
		panels := 0
		for _, r := range p.Rows() {
			if r.Op == "Pack" {
				panels++
			}
		}
		if len(options) > 0 && panels != 2 {
			t.Errorf("%d operands are packed: want 2\n%v", panels, p)
		}
		vm := tapetest.VM(t, p, tape.NewStore(g))
		run(t, vm, tape.Feed{x: points(32, 256)})
		if ratio := tapetest.Float(t, vm, after) / tapetest.Float(t, vm, before); math.Abs(ratio-3) > 1e-4 {
			t.Errorf("the sums are as 1 to %v: want 3\n%v", ratio, p)
		}
		vm.Close()
	}
}
