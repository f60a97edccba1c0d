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

// TestPanelsOfBatches: the matrices of a batch are laid out once where many blocks read each. Bits
// are those of a product that lays them out for itself, whatever the order in which blocks are
// done.
func TestPanelsOfBatches(t *testing.T) {
	for _, rows := range []int{4096, 100} {
		g := graph.New("batches")
		i, d, e, k := graph.Ax("i", rows), graph.Ax("d", 33), graph.Ax("e", 37), graph.Ax("k", 3)
		x, r, q := g.Input("x", graph.F32, i, d), g.Input("r", graph.F32, k, d), g.Input("q", graph.F32, k, e, d)
		y := ops.Square(ops.Einsum("k e d, k i d -> k i e", q, ops.Sub(x, ops.Expand(r, 1, "i"))))
		p := compile(t, g, tape.Fetch(y))
		panels := 0
		for _, r := range p.Rows() {
			if r.Op == "Pack" {
				panels++
			}
		}
		if want := rows / 4096; panels != want {
			t.Errorf("%d rows: %d operands are packed: want %d\n%v", rows, panels, want, p)
		}
		feed := waves(nodes{x, r, q})
		own := bitsOf(t, compile(t, g, tape.Fetch(y), tape.Unfused()), feed, nodes{y})
		for _, workers := range []int{1, 3} {
			for n, v := range bitsOf(t, p, feed, nodes{y}, tape.Workers(workers))[0] {
				if v != own[0][n] {
					t.Fatalf("%d rows, %d workers: element %d is %v: want %v", rows, workers, n, v, own[0][n])
				}
			}
		}
	}
}
