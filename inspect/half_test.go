package inspect_test

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestHalfLosesDigits: the shadow finds what f16 and bf16 lose, by rounding, underflow and overflow.
func TestHalfLosesDigits(t *testing.T) {
	g := graph.New("half")
	x := g.Input("x", graph.F32, graph.Dims(2)...)
	brain, small, large := ops.Cast(x, graph.BF16), ops.Cast(ops.Scale(x, 1e-6), graph.F16), ops.Cast(ops.Scale(x, 1e5), graph.F16)
	feed := tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1.001, 1.3}})}
	p, err := inspect.MeasurePrecision(context.Background(), feed, tape.NewStore(g), brain, small, large)
	if err != nil {
		t.Fatal(err)
	}
	want := map[*graph.Node]string{
		brain: "rounding to bf16, which has 8 bits",
		small: "underflow: 1.001e−06 is below float16's smallest normal 6.1e−5",
		large: "overflow: 100100 is beyond float16's 65504",
	}
	for _, l := range p.Losses {
		if w := want[l.Node]; w != "" && (l.Here() < 3 || l.Cause != w) {
			t.Errorf("%v lost %.1f digits: %s, want %s", l.Node, l.Here(), l.Cause, w)
		}
		delete(want, l.Node)
	}
	for n := range want {
		t.Errorf("%v lost nothing", n)
	}
}
