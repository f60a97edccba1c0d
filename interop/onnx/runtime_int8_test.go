package onnx_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestRuntimeInt8: a net in integers of a byte gives in ONNX Runtime what it gives on the tape, but
// where two ways of rounding the same sum of floats choose another byte.
func TestRuntimeInt8(t *testing.T) {
	rt := runtime(t)
	g := graph.New("net")
	x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", 13), graph.Ax("w", 13), graph.Ax("c", 3))
	c := graph.Ax("c", 6)
	h := nn.NewFilter2D(g, "stem", graph.F32, graph.Ax("c", 3), c, ops.Size(3), ops.Stride(2), ops.Padding(1)).Of(x)
	h = builders.NewResNetBlock(g, "block", graph.F32, c, graph.Ax("c", 12), 2).Of(ops.ReLU(h))
	y := nn.NewLinear(g, "head", graph.F32, graph.Ax("c", 12), graph.Ax("k", 5)).Of(nn.GlobalAverage(h))
	r, v := rand.New(rand.NewPCG(1, 2)), graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = r.NormFloat64()
	}
	feed := tape.Feed{x: tape.Tensor(v)}
	q, err := quantise.Int8(t.Context(), tape.NewStore(g, tape.Seed(3)), []tape.Feed{feed}, quantise.Options{}, y)
	if err != nil {
		t.Fatal(err)
	}
	values := graph.Values{}
	for n := range q.Feed(feed) {
		values[n] = v
	}
	for _, n := range q.Graph.Nodes() {
		if n.Role() == graph.RoleParam || n.Role() == graph.RoleState {
			held, err := q.Store.View(n.Path())
			if err != nil {
				t.Fatal(err)
			}
			a, err := tape.ArrayOf(n.Type(), held)
			if err != nil {
				t.Fatal(err)
			}
			values[n] = a.Value()
		}
	}
	off, err := comparison{name: "int8", feed: values, nodes: q.Outputs, limit: 0.01}.run(t, rt)
	if err != nil {
		t.Fatal(short(err))
	}
	if !(off <= 0.01) {
		t.Errorf("off by %.2g", off)
	}
	t.Logf("off by %.2g, int8 loses %.2g", off, q.Errors[0])
}
