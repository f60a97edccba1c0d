package ops_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestPermutationsAreUniform: of 24000 orders of four numbers each of the 24 is as frequent as chance has
// it, by χ², and the tape draws what the definition does.
func TestPermutationsAreUniform(t *testing.T) {
	const rows, n = 24000, 4
	g := graph.New("orders")
	p := ops.RandomPermutation(g, "order", graph.Ax("b", rows), graph.Ax("i", n))
	got, err := reftest.Tape(7, nil, []node{p})
	if err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(trait.Env{Seed: 7}, nil, p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[0].Data, want[0].Data) {
		t.Error("the tape draws other orders than the definition")
	}
	count := map[[n]float64]float64{}
	for order := range slices.Chunk(got[0].Data, n) {
		count[[n]float64(order)]++
	}
	square := 0.0
	for order, c := range count {
		if sorted := slices.Sorted(slices.Values(order[:])); !slices.Equal(sorted, []float64{0, 1, 2, 3}) {
			t.Fatalf("%v is no permutation", order)
		}
		square += (c - rows/24) * (c - rows/24) / (rows / 24)
	}
	if len(count) != 24 || square > 56 || square < 6 { // of 23 degrees of freedom: one time in 10⁴ on either side
		t.Errorf("%d of 24 orders, χ² is %.1f", len(count), square)
	}
}

// TestPermutationInALoop: a step permutes anew at each time, and the derivative sees the same orders.
func TestPermutationInALoop(t *testing.T) {
	g := graph.New("steps")
	x := g.Input("x", graph.F64, graph.Ax("i", 20))
	weights := g.Input("w", graph.F64, graph.Ax("t", 3), graph.Ax("i", 20))
	orders := ops.Scan(ops.Loop{Over: []node{weights}}, func(_, over, _ []node) (next, outs []node) {
		p := ops.RandomPermutation(g, "order", graph.Ax("i", 20))
		return nil, []node{p, ops.Mul(over[0], ops.Gather(x, p, "i"))}
	}).Out
	dw := grad.Of(ops.Sum(orders[1]), weights)[0]
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := graph.Values{x: inOrder(x), weights: inOrder(weights)}
	agree(t, feed, append(orders, dw)...)
	v, slopes := values(t, feed, orders[0]), values(t, feed, dw)
	for i, k := range v {
		if slopes[i] != k+1 { // x at the place
			t.Fatalf("the derivative at %d is %v, of order %v", i, slopes[i], k)
		}
	}
	for k := range 3 {
		own := v[20*k : 20*k+20]
		if k > 0 && slices.Equal(own, v[:20]) {
			t.Errorf("step %d has the order of the first", k)
		}
		if sorted := slices.Sorted(slices.Values(own)); sorted[0] != 0 || sorted[19] != 19 || len(slices.Compact(sorted)) != 20 {
			t.Errorf("step %d: %v is no permutation", k, own)
		}
	}
}
